"""The text that is differentiated is the one that Python runs, or there is an error."""

import ast
import collections
import dataclasses
import fractions
import genericpath
import importlib
import linecache
import statistics
import sys
import types

import numpy as np
import pytest

from rules_autodiff import SourceNotFound, grad
from rules_autodiff._lift import source
from rules_autodiff._lift.source import definition
from rules_autodiff._python.lifted_code import ByIdentity
from rules_autodiff._tape.fast.formulas import partial_functions
from rules_autodiff.testing import check_program

FUNCTION = types.FunctionType
HEAD = "import math\nK, L = 2.0, 3.0\n\n"
BEFORE = HEAD + "def f(x):\n    return K * x * 2.0\n"
# Edits that leave the function's name, line and arguments as they are.
EDITS = {
    "constant": HEAD + "def f(x):\n    return K * x * 5.0\n",
    "class of a constant": HEAD + "def f(x):\n    return K * x * 2\n",
    "operator": HEAD + "def f(x):\n    return K * x + 2.0\n",
    "global": HEAD + "def f(x):\n    return L * x * 2.0\n",
    "local": HEAD + "def f(x):\n    y = K * x\n    return y * 2.0\n",
    "method": HEAD + "def f(x):\n    return K * x * (2.0).__abs__()\n",
    "module": HEAD + "def f(x):\n    return K * math.sin(x) * 2.0\n",
    "lambda": HEAD + "def f(x):\n    return (lambda y: K * y * 7.0)(x)\n",
    "inner": HEAD + "def f(x):\n    def g():\n        return x * 9.0\n    return g()\n",
    "order": HEAD + "def f(x):\n    return x * K * 2.0\n",
}


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A function that writes and imports the text of a module, and gives it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    path = tmp_path / "edited_module.py"

    def load(text):
        edit(path, text)
        importlib.invalidate_caches()
        return importlib.import_module("edited_module"), path

    yield load
    sys.modules.pop("edited_module", None)


def edit(path, text):
    """Write a text of another size: `linecache` looks at size and time."""
    old = len(path.read_text()) if path.exists() else 0
    path.write_text(text + "# edited\n" * (len(text) == old))


@pytest.mark.parametrize("edited", EDITS.values(), ids=EDITS)
def test_reloaded_text_is_the_new_one(module, edited):
    loaded, path = module(BEFORE)
    assert grad(loaded.f)(1.3) == 4.0
    edit(path, edited)
    loaded = importlib.reload(loaded)
    check_program(loaded.f, 1.3)


@pytest.mark.parametrize("edited", EDITS.values(), ids=EDITS)
def test_text_that_nobody_has_loaded_is_an_error(module, edited):
    loaded, path = module(BEFORE)
    edit(path, edited)
    linecache.clearcache()
    with pytest.raises(SourceNotFound, match="Was the file edited"):
        grad(loaded.f)(1.3)


@pytest.mark.parametrize("edited", EDITS.values(), ids=EDITS)
def test_text_that_was_read_in_time_still_serves(module, edited):
    loaded, path = module(BEFORE)
    linecache.getlines(str(path))
    edit(path, edited)
    check_program(loaded.f, 1.3)


def test_equal_text_elsewhere_in_the_file_is_no_matter(module):
    loaded, path = module(BEFORE)
    edit(path, BEFORE + "\n\ndef g(x):\n    return x\n")
    linecache.clearcache()
    check_program(loaded.f, 1.3)


@pytest.mark.parametrize("f", [np.sin, np.exp, np.log, np.tanh, np.sqrt, np.arctan])
def test_generated_text_outlives_the_cache(f, monkeypatch):
    monkeypatch.setattr(source, "FOUND", ByIdentity())
    *functions, _ = partial_functions(f)
    linecache.clearcache()
    for partial in functions:
        assert ast.unparse(definition(partial.__code__).node).startswith("def partial")


CONTEXTS = '''
import os.path
import collections as numbers
from math import sin as sine
if True:
    import json

def outer(scale):
    shared = scale
    class Inner:
        rate: float = 2.0
        def __private(self, x):
            return self.__other(x) + super().__init__()
        def __other(self, x):
            nonlocal shared
            shared = x
            return __class__
    def inner(x, *rest, key=lambda t: t, **named):
        """Text."""
        return [numbers.x(json.y(i), sine(i)) for i in rest], Inner, os.path.join(x)
    return inner, lambda x: inner(x), (lambda x: inner(x)), x in {1, 2.0, "a"}

class __Private:
    def method(self, x: "int" = 1, /, *, y: int = (lambda: 2)()):
        global made
        made = self.__x = {"a": (1, 1.0, True, -0.0)}
        assert made, "text"
        class Local:
            __rate = x
            def method(self):
                return self.__rate
        return (yield self.__x)
'''


def codes(code):
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from codes(const)


def is_function(code):
    return code.co_flags & 1 and (code.co_name == "<lambda>" or code.co_name[0] != "<")


@pytest.mark.parametrize("whole", [True, False], ids=["file", "cell"])
def test_context_of_a_definition(whole):
    """Imports, cells, private names and classes around it change the code."""
    name = f"<contexts {whole}>"
    linecache.cache[name] = (0, None, CONTEXTS.splitlines(keepends=True), name)
    units = [CONTEXTS] if whole else statements(CONTEXTS)
    found = [c for text in units for c in codes(compile(text, name, "exec"))]
    found = [c for c in found if is_function(c)]
    assert len(found) == 10
    for code in found:
        line = definition(code).node.lineno
        assert line == code.co_firstlineno


def statements(text):
    """The statements, each on its own lines: how a notebook compiles a cell."""
    for node in ast.parse(text).body:
        lines = ast.get_source_segment(text, node)
        yield "\n" * (node.lineno - 1) + lines


@pytest.mark.covering(every=3)
@pytest.mark.parametrize(
    "library", [collections, dataclasses, fractions, statistics, genericpath]
)
def test_functions_of_the_standard_library_are_found(library):
    functions = [x for x in vars(library).values() if isinstance(x, FUNCTION)]
    for cls in vars(library).values():
        if isinstance(cls, type) and cls.__module__ == library.__name__:
            functions += [
                f for f in vars(cls).values() if type(f) is types.FunctionType
            ]
    found = [f.__code__ for f in functions if "<string>" not in f.__code__.co_filename]
    assert len(found) > 5
    for code in found:
        assert definition(code).node is not None


def test_assertions_that_pytest_has_rewritten():
    def f(x):
        assert x > 0.0, "positive"
        y = [x * 2.0 for _ in range(2)]
        assert y[0] == y[1]
        return y[0]

    assert any(name.startswith("@") for name in f.__code__.co_names)
    check_program(f, 1.3)
