"""`primitive(out=…)`: each form, and what is said of one that does not fit."""

import functools
import pickle
from collections import namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rules_core as rc
from rules_core import ShapeDtype, primitive
from rules_core.testing import isolated_rules

F64, F32, I64 = map(np.dtype, ("float64", "float32", "int64"))
A = ShapeDtype((3, 2), F64)
V = ShapeDtype((2,), F32)
NAMED: Any = ("n",)
Pair = namedtuple("Pair", "values count")


@dataclass
class Fields:
    values: Any
    name: str


@pytest.fixture(autouse=True)
def _isolated():
    with isolated_rules():
        yield


def f(a, v, n=4, *, k=5):
    return a @ v


FORMS = {
    "like": ("a", A),
    "shape": (("n", 7), ShapeDtype((4, 7), F64)),
    "keyword": (("k",), ShapeDtype((5,), F64)),
    "no axes": ((), ShapeDtype((), F64)),
    "signature": ("(m,k),(k)->(m)", ShapeDtype((3,), F64)),
    "size of an argument": ("(m,q),(q)->(m,n)", ShapeDtype((3, 4), F64)),
    "fixed size": ("(m,2),(2)->(2,m)", ShapeDtype((2, 3), F64)),
    "two results": (
        "(m,q),(q) -> (m), ()",
        (ShapeDtype((3,), F64), ShapeDtype((), F64)),
    ),
    "number": (float, ShapeDtype((), F64)),
    "dtype": (np.dtype("int64"), ShapeDtype((), I64)),
    "shape and dtype": (rc.ShapeDtype(NAMED, I64), ShapeDtype((4,), I64)),
    "list": (["v", ("n",)], [V, ShapeDtype((4,), F64)]),
    "dict": ({"x": "v", "n": int}, {"x": V, "n": ShapeDtype((), I64)}),
    "named": (Pair("v", int), Pair(V, ShapeDtype((), I64))),
    "constants": (("v", None, 3), (V, None, 3)),
    "instance": (Fields(A, "text"), Fields(A, "text")),
    "function": (lambda a, v, n, **kw: v, V),
}


@pytest.mark.parametrize(("out", "expected"), FORMS.values(), ids=FORMS)
def test_forms(out, expected):
    found = primitive(f, host=True, out=out).shape_rule(A, V, 4, k=5)
    assert found == expected


def test_defaults_count():
    assert primitive(f, host=True, out=("n",)).shape_rule(A, V).shape == (4,)


def test_dtype_is_the_widest_floating_one():
    rule = primitive(f, host=True, out=(1,)).shape_rule
    assert rule(V, V, 1).dtype == F32
    assert rule(ShapeDtype((2,), I64), V, 1).dtype == F32
    assert rule(ShapeDtype((2,), I64), 2, 1).dtype == F64
    assert rule(V, 1j, 1).dtype == np.complex64


def test_leading_axes_of_a_vectorized_function():
    def g(a, v):
        return np.einsum("...ij,...j->...i", a, v)

    rule = primitive(g, host=True, out="(m,n),(n)->(m)", vectorized=True).shape_rule
    assert rule(ShapeDtype((5, 1, 3, 2), F64), ShapeDtype((4, 2), F64)).shape == (
        5,
        4,
        3,
    )


REFUSED = {
    "unknown argument": "b",
    "unknown size": ("m",),
    "unknown size of a signature": "(m),(n)->(z)",
    "broken signature": "(m,n),->(m)",
    "too many arguments": "(),(),(),()->()",
    "no form": 3.5,
}


@pytest.mark.parametrize("out", REFUSED.values(), ids=REFUSED)
def test_refused_at_the_declaration(out):
    with pytest.raises(rc.RuleDefinitionError, match="^primitive .*f: out.*but got"):
        primitive(f, host=True, out=out)


MISFITS = {
    "axes": ((V, V), "argument 'a' must have the shape"),
    "size": ((A, ShapeDtype((3,), F64)), r"argument 'v' .* with k=2, but got .*\(3,\)"),
    "value": (("text", V), "argument 'a' must have"),
    "fewer": ((A, None), "argument 'v' must have"),
}


@pytest.mark.parametrize(("args", "text"), MISFITS.values(), ids=MISFITS)
def test_calls_that_do_not_fit(args, text):
    rule = primitive(f, host=True, out="(m,k),(k)->(m)").shape_rule
    with pytest.raises(rc.PrimitiveError, match=text):
        rule(*args)


def test_a_size_must_be_an_integer():
    rule = primitive(f, host=True, out=("n",)).shape_rule
    with pytest.raises(rc.PrimitiveError, match="'n' must be an integer"):
        rule(A, V, 2.5)


def test_declared_again_and_elsewhere():
    """Again from here replaces it, as in a notebook; from another module it clashes."""
    assert primitive(f, host=True, out="a") is primitive(f, host=True, out="v")
    assert primitive(f).shape_rule(A, V) == V
    with pytest.raises(rc.RuleClashError):
        exec("primitive(f, out='a')", {"__name__": "elsewhere", **vars_of(f)})


def vars_of(f):
    return {"f": f, "primitive": primitive}


CONTRADICTIONS = {
    "elementwise": {"host": True, "elementwise": True, "out": "x"},
    "both": {"host": True, "elementwise": True, "vectorized": True},
    "copies of nothing": {"copy_in": True},
}


@pytest.mark.parametrize("flags", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_contradicting_flags(flags):
    with pytest.raises(rc.RuleDefinitionError, match="must"):
        primitive(lambda x: x, **flags)


def test_flags_are_kept():
    @primitive(host=True, copy_in=True, vectorized=True)
    def local(x):
        return x

    assert "copy_in=True" in repr(local)
    other = rc.as_primitive(local)
    assert other is local
    with pytest.raises(rc.PrimitiveError, match="vectorized=True, but is now asked"):
        primitive(local, vectorized=False)
    moved = pickle.loads(pickle.dumps(rc.Primitive(np.sin, host=True, copy_out=True)))
    assert moved.copy_out


def test_copies():
    seen = []

    def keep(x, parts):
        seen.extend((x, parts["p"][0]))
        x *= 2.0
        return seen[0]

    g = primitive(keep, host=True, copy_in=True, copy_out=True)
    x, p = np.ones(2), np.ones(3)
    x.setflags(write=False)
    y = g(x, {"p": (p, "text")})
    assert y.tolist() == [2.0, 2.0]
    assert not any(
        np.shares_memory(mine, theirs) for mine in (x, p, y) for theirs in seen
    )


def overwriting(x, n=2, *, flag=False):
    if flag:
        x *= n
    return x * 1.0


def named(x, n=2, flag=False):
    return overwriting(x, n, flag=flag)


@pytest.mark.parametrize("f", [overwriting, named])
def test_copies_for_calls_with_an_option_alone(f):
    with isolated_rules():
        seen = []

        @functools.wraps(f)
        def noting(x, *args, **kwargs):
            seen.append(x)
            return f(x, *args, **kwargs)

        run = primitive(noting, host=True, copy_in="flag")
        x = np.ones(2)
        assert run(x).tolist() == [1, 1]
        assert seen[-1] is x
        assert run(x, flag=True).tolist() == [2, 2]
        if f is named:
            assert run(x, 3, True).tolist() == [3, 3]
        assert x.tolist() == [1, 1]


def test_an_option_that_a_function_does_not_have_is_refused():
    with isolated_rules(), pytest.raises(rc.RuleDefinitionError, match="has no 'flog'"):
        primitive(lambda x: x, host=True, copy_in="flog")
