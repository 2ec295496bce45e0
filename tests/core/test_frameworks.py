"""The core names no framework: adapters register what it must know of their arrays."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rules_core as rc
from rules_core._base import frameworks
from rules_core.extend import Framework, register_framework

ROOT = Path(rc.__file__).parent
NAMES = re.compile(r"jax|torch|dynamo", re.IGNORECASE)

# Where a framework is named, and why.
ALLOWED = {
    "_base/compiler_hooks.py": "a compiler reads them before an adapter is imported",
    "_base/opaque_modules.py": "libraries whose functions read nothing of a program",
    "_hosts/value_facts.py": "libraries whose objects are known by identity alone",
    "_base/extras.py": "the extras of this distribution, for readers",
    "_command/doctor.py": "tells readers what changes how each framework computes",
    "_rules/in_frameworks.py": "`explain` tells of frameworks that are not imported",
    "_rules/explain.py": "its texts for readers name the functions of both adapters",
    "testing/_checks_annotations.py": "its text for readers tells what both skip",
    "testing/_misuse.py": "its text for readers has an example",
    "testing/_checks.py": "the packages of this project, whose lines are no author's",
}


def docstrings(tree):
    kinds = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value  # of an attribute, too
        if isinstance(node, kinds) and ast.get_docstring(node) is not None:
            yield node.body[0].value


def words(tree):
    """Names, attributes, imports and texts of a module, without its docstrings."""
    prose = set(map(id, docstrings(tree)))
    for node in ast.walk(tree):
        for field in ("id", "attr", "name", "module", "arg", "asname"):
            word = getattr(node, field, None)
            if isinstance(word, str):
                yield word, node
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in prose:
            yield node.value, node


def named(source):
    return sorted({word for word, _ in words(ast.parse(source)) if NAMES.search(word)})


def test_no_framework_is_named():
    found = {
        file.relative_to(ROOT).as_posix(): here
        for file in sorted(ROOT.rglob("*.py"))
        if (here := named(file.read_text(encoding="utf-8")))
    }
    assert found.keys() == ALLOWED.keys(), found


@pytest.mark.parametrize(
    "source",
    [
        "import torch",
        "def f():\n    from jax import numpy",
        "sys.modules.get('torch')",
        "x.__module__ == 'jaxlib'",
        "vars(f)['_dynamo_marked_constant'] = True",
        "jax = 1",
        "f(torch=1)",
        "message = f'{x} for PyTorch'",
    ],
)
def test_names_are_found(source):
    assert named(source)


def test_examples_and_comments_may_name_one():
    assert named('"""Runs in JAX."""\n# torch\ndef f():\n    """PyTorch."""') == []


@pytest.fixture
def registered(monkeypatch):
    """Another registry, so that a test's frameworks do not stay."""
    monkeypatch.setattr(frameworks, "_REGISTERED", [])
    monkeypatch.setattr(frameworks, "_OF", {})


def test_what_is_registered_is_asked(registered):
    class Box:
        shape, dtype = (3,), np.dtype(float)

    class Traced:
        pass

    class Derived(Box):
        pass

    register_framework(
        Framework(
            Box,
            traced=(Traced,),
            type_name=lambda cls: f"toy.{cls.__name__}",
            is_concrete=lambda x: False,
            writable_strides=lambda x: (1,),
        )
    )
    assert frameworks.framework_of(Derived).array is Box
    assert frameworks.framework_of(Traced).array is Box
    assert frameworks.framework_of(np.ndarray) is None
    assert rc.is_array(Derived())
    assert rc.is_inplaceable_destination(Derived())


@pytest.mark.parametrize(
    ("framework", "made"), [("jax", "jax.numpy.ones(2)"), ("torch", "torch.ones(2)")]
)
def test_a_framework_is_known_before_any_call(framework, made):
    """In a fresh process: what meets an array imports its adapter."""
    other = {"jax": "torch", "torch": "jax"}[framework]
    program = f"""
import sys, {framework}, rules_core as rc
{"import jax.numpy" if framework == "jax" else ""}
assert 'rules_{framework}' not in sys.modules
x = {made}
assert rc.is_array(x)
assert issubclass(rc.tangent_type(x), type(x)) or isinstance(x, rc.tangent_type(x))
assert 'rules_{other}' not in sys.modules and '{other}' not in sys.modules
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


def test_a_type_is_asked_again_after_a_registration(monkeypatch):
    """That no framework has it is kept, until there is another framework."""
    monkeypatch.setattr(frameworks, "_REGISTERED", [*frameworks._REGISTERED])
    monkeypatch.setattr(frameworks, "_OF", {**frameworks._OF})

    class Own:
        pass

    class Part(Own):
        pass

    assert [frameworks.framework_of(Part) for _ in range(2)] == [None, None]
    assert Part in frameworks._NONE
    own = Framework(Own)
    register_framework(own)
    assert frameworks.framework_of(Part) is own
    assert frameworks.framework_of(Own) is own


def test_a_registered_framework_is_found_while_its_adapter_is_imported(monkeypatch):
    """Whose first lines may meet a class of their own arrays, as a compiler's."""

    class Array:
        __module__ = "half_imported"

    class Traced(Array):
        __module__ = "half_imported.inside"

    def imported_again(root):
        raise AssertionError(root)

    monkeypatch.setattr(frameworks, "_REGISTERED", [])
    monkeypatch.setattr(frameworks, "load_adapter", imported_again)
    points = {"half_imported": None}
    monkeypatch.setattr(frameworks, "entry_points_of_adapters", lambda: points)
    with pytest.raises(AssertionError, match="half_imported"):
        frameworks.framework_of(Traced)
    framework = Framework(Array)
    register_framework(framework)
    assert frameworks.framework_of(Traced) is framework
