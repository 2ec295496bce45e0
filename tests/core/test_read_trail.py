"""Where all that functions read is plain, look-ups tell changes without a search."""

import builtins
import sys
from types import FunctionType, ModuleType

import numpy as np
import pytest

from rules_core._hosts.function_reads import Reads

LIBRARY = "trail_library"


@pytest.fixture
def library(monkeypatch):
    """A module of the program's, which its code imports."""
    made = ModuleType(LIBRARY)
    made.rate, made.table = 2.0, np.ones(3)
    exec("def scale(x): return x * rate", vars(made))
    monkeypatch.setitem(sys.modules, LIBRARY, made)
    return made


def defined(text, name="f", **given):
    """A function of a program, and its globals."""
    names = {"np": np, "__name__": "program", **given}
    exec(text, names)
    return names[name], names


def closure(k, w):
    def f(x):
        return k * x + w[0]

    return f


def replaced(cell, value):
    cell.cell_contents = value


def of_numbers(_):
    f, names = defined("def f(x): return a * x + b", a=2, b=0.5)
    return f, {
        "assigned": lambda: names.update(a=3),
        "another kind": lambda: names.update(a=2.0),
        "deleted": lambda: names.pop("b"),
    }


def of_builtins(_):
    f, names = defined("def f(x): return abs(x)")
    return f, {"hidden": lambda: names.update(abs=lambda x: -x)}


def of_added_builtins(monkeypatch):
    monkeypatch.setattr(builtins, "rate_of_all", 2.0, raising=False)
    f, names = defined("def f(x): return x * rate_of_all")
    return f, {
        "assigned": lambda: setattr(builtins, "rate_of_all", 3.0),
        "hidden": lambda: names.update(rate_of_all=3.0),
    }


def of_cells(_):
    f = closure(2.0, np.ones(2))
    k, w = f.__closure__
    return f, {
        "rebound": lambda: replaced(k, 3.0),
        "emptied": lambda: delattr(k, "cell_contents"),
        "written": lambda: w.cell_contents.__setitem__(0, 7.0),
        "another array": lambda: replaced(w, np.zeros(2)),
    }


def of_arrays(_):
    f, names = defined("def f(x): return A @ x", A=np.eye(2))
    return f, {
        "written": lambda: names["A"].__setitem__((0, 1), 3.0),
        "assigned": lambda: names.update(A=np.ones((2, 2))),
        "shape": lambda: setattr(names["A"], "shape", (4, 1)),
    }


def of_numpy_numbers(_):
    f, names = defined("def f(x): return k * x", k=np.float64(2.0))
    return f, {"assigned": lambda: names.update(k=np.float32(2.0))}


def of_itself(_):
    f, _ = defined("def f(x, k=2.0, *, w=1.0): return k * x + w")
    other, _ = defined("def f(x, k=2.0, *, w=1.0): return k * x - w")
    return f, {
        "code": lambda: setattr(f, "__code__", other.__code__),
        "defaults": lambda: setattr(f, "__defaults__", (3.0,)),
        "defaults by name": lambda: setattr(f, "__kwdefaults__", {"w": 2.0}),
        "one default by name": lambda: f.__kwdefaults__.update(w=2.0),
    }


def of_default_arrays(_):
    f, _ = defined("def f(x, w=np.ones(2)): return x + w")
    return f, {"written": lambda: f.__defaults__[0].__setitem__(0, 5.0)}


def of_helpers(_):
    text = "def g(x, k=2.0): return k * x + c\ndef f(x): return g(x)"
    f, names = defined(text, c=1.0)
    g = names["g"]
    return f, {
        "what the helper reads": lambda: names.update(c=2.0),
        "its defaults": lambda: setattr(g, "__defaults__", (3.0,)),
        "the helper": lambda: names.update(g=lambda x: x),
        "its code": lambda: setattr(g, "__code__", (lambda x, k=2.0: x).__code__),
    }


def of_modules(_):
    module = sys.modules[LIBRARY]
    f, _ = defined("def f(x): return x * lib.rate + lib.table[0]", lib=module)
    return f, {
        "assigned": lambda: setattr(module, "rate", 3.0),
        "deleted": lambda: delattr(module, "rate"),
        "written": lambda: module.table.__setitem__(0, 3.0),
    }


def of_module_functions(_):
    module = sys.modules[LIBRARY]
    f, _ = defined("def f(x): return lib.scale(x)", lib=module)
    return f, {
        "what it reads": lambda: setattr(module, "rate", 3.0),
        "the function": lambda: setattr(module, "scale", lambda x: x),
    }


def of_imports(_):
    f, _ = defined(f"def f(x):\n    import {LIBRARY}\n    return {LIBRARY}.rate * x")
    other = ModuleType(LIBRARY)
    other.rate = 5.0
    return f, {
        "attribute": lambda: setattr(sys.modules[LIBRARY], "rate", 3.0),
        "module": lambda: sys.modules.__setitem__(LIBRARY, other),
    }


def of_missing_names(_):
    f, names = defined(
        "def f(x):\n    try: return late * x\n    except NameError: pass"
    )
    return f, {"added": lambda: names.update(late=3.0)}


MAKERS = [x for name, x in list(globals().items()) if name.startswith("of_")]
CASES = [
    pytest.param(make, change, id=f"{make.__name__[3:]}: {change}")
    for make, changes in {
        of_numbers: ["assigned", "another kind", "deleted"],
        of_builtins: ["hidden"],
        of_added_builtins: ["assigned", "hidden"],
        of_cells: ["rebound", "emptied", "written", "another array"],
        of_arrays: ["written", "assigned", "shape"],
        of_numpy_numbers: ["assigned"],
        of_itself: ["code", "defaults", "defaults by name", "one default by name"],
        of_default_arrays: ["written"],
        of_helpers: ["what the helper reads", "its defaults", "the helper", "its code"],
        of_modules: ["assigned", "deleted", "written"],
        of_module_functions: ["what it reads", "the function"],
        of_imports: ["attribute", "module"],
        of_missing_names: ["added"],
    }.items()
    for change in changes
]


def no_search(*_):
    message = "it searches"
    raise AssertionError(message)


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize(("make", "name"), CASES)
def test_plain_reads_are_looked_up(make, name, monkeypatch):
    f, changes = make(monkeypatch)
    reads = Reads([f])
    with monkeypatch.context() as patch:
        patch.setattr(Reads, "_now", no_search)
        assert reads.changed() is None
        reads.settle()
    changes[name]()
    assert reads.changed() is not None
    reads.settle()  # what a call changes itself is left out from then on
    assert reads.changed() is None


def test_every_change_is_a_case():
    asked = {(case.values[0], case.values[1]) for case in CASES}
    assert {make for make, _ in asked} == {*MAKERS}


class Rated:
    rate = 2.0


@pytest.mark.parametrize(
    ("name", "value"),
    {
        "list": [2.0],
        "dict": {"rate": 2.0},
        "instance": Rated(),
        "class": Rated,
        "objects": np.array([[1.0], None], object),
        "structured": np.ma.masked_array([1.0, 2.0], [False, True]),
    }.items(),
)
def test_other_values_are_searched(name, value, monkeypatch):
    f, _ = defined("def f(x): return x * held.rate", held=value)
    reads = Reads([f])
    monkeypatch.setattr(Reads, "_now", no_search)
    with pytest.raises(AssertionError, match="it searches"):
        reads.changed()


@pytest.mark.parametrize(
    "text",
    [
        "def f(x): return x * float(open('rate.txt').read())",
        "def f(x): return x * float(os.environ['RATE'])",
        "def f(x): return x * len(np.geterr())",
        "def f(x): return x * A.flags.writeable",
    ],
)
def test_settings_and_files_are_searched(text, monkeypatch):
    f, _ = defined(text, A=np.ones(2))
    assert isinstance(f, FunctionType)
    reads = Reads([f])
    monkeypatch.setattr(Reads, "_now", no_search)
    with pytest.raises(AssertionError, match="it searches"):
        reads.changed()
