"""`with_rules`: functions with rules are primitives, all else is the library's own."""

import pickle
import sys
from types import ModuleType

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
import scipy.special
import torch

import rules_core as rc
from rules_core.testing import isolated_rules

SOURCE = """
import math
import numpy as np

LIMIT = 3

class Star:
    def __init__(self, mass):
        self.mass = mass

def declared(x):
    return np.asarray(x) ** 2

def ruled(x, n=2):
    return np.asarray(x) ** n

def plain(x):
    return x + 1

def declined(x):
    return x
"""


@pytest.fixture(autouse=True)
def _own_rules():
    with isolated_rules():
        yield


@pytest.fixture
def library(monkeypatch):
    """A library with a submodule, and rules for some of its functions."""
    made = ModuleType("starlib", "Stars.")
    exec(SOURCE, vars(made))
    made.inner = ModuleType("starlib.inner")
    exec(SOURCE, vars(made.inner))
    for module in (made, made.inner):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    handle = rc.primitive(made.declared, host=True, elementwise=True)
    rc.scalar_rule(handle, lambda y, x: (2 * x,))
    rc.scalar_rule(made.ruled, lambda y, x, n: (n * x ** (n - 1), rc.NoTangent()))
    rc.scalar_rule(made.inner.declared, lambda y, x: (2 * x,))
    rc.opt_out(rc.rrule, made.declined, object)
    return made


def test_each_name(library):
    own = rc.with_rules(library)
    assert own.declared is rc.primitive(library.declared)
    assert isinstance(own.ruled, rc.Primitive)
    assert (own.ruled.fun, own.ruled.host) == (library.ruled, True)
    assert own.ruled is own.ruled
    assert own.plain is library.plain
    assert own.declined is library.declined
    assert own.Star is library.Star
    assert own.LIMIT == 3
    assert own.math is library.math
    assert own.inner is rc.with_rules(library.inner)
    assert isinstance(own.inner.declared, rc.Primitive)
    with pytest.raises(AttributeError, match="module 'starlib' has no attribute 'no'"):
        own.no  # noqa: B018


def test_it_is_like_the_module(library):
    own = rc.with_rules(library)
    assert repr(own) == "<module 'starlib' with rules>"
    assert dir(own) == dir(library)
    assert (own.__name__, own.__doc__) == ("starlib", "Stars.")
    assert isinstance(own, ModuleType)
    assert rc.with_rules(library) is own
    assert rc.with_rules(own) is own
    assert pickle.loads(pickle.dumps(own)) is own
    own.LIMIT = 4
    assert library.LIMIT == 4
    del own.LIMIT
    assert not hasattr(library, "LIMIT")


def test_another_module_of_the_name_has_its_own(library):
    own = rc.with_rules(library)
    other = ModuleType("starlib")
    other.here = 1
    assert rc.with_rules(other) is not own
    assert rc.with_rules(other).here == 1


def test_rules_that_come_or_go_later(library):
    own = rc.with_rules(library)
    rc.scalar_rule(library.plain, lambda y, x: (1.0,))
    assert isinstance(own.plain, rc.Primitive)
    rc.rrule.undefine(library.plain)
    rc.frule.undefine(library.plain)
    assert own.plain is library.plain


def test_functions_that_frameworks_trace(library):
    traced = rc.with_rules(library, host=False)
    assert traced.ruled.host is False
    assert traced.declared.host is True  # as it is declared
    assert rc.with_rules(library).ruled.host is True


def test_no_module():
    with pytest.raises(TypeError) as caught:
        rc.with_rules("scipy")
    assert str(caught.value) == (
        "with_rules(module): it must be a module, but got 'scipy'."
    )


def test_derivatives_in_each_framework(library):
    own = rc.with_rules(library)
    assert float(jax.grad(own.declared)(3.0)) == 6.0
    assert float(jax.jit(jax.grad(own.declared))(3.0)) == 6.0
    x = torch.tensor(3.0, requires_grad=True)
    (own.declared(x) + own.ruled(x, 3)).backward()
    assert float(x.grad) == 6.0 + 27.0
    assert own.declared(3.0) == 9.0


def test_libraries_with_packs():
    own, np_own = rc.with_rules(scipy), rc.with_rules(np)
    slope = jax.grad(lambda x: own.special.kv(0, x))(1.0)
    assert float(slope) == pytest.approx(-scipy.special.kv(1, 1.0))
    assert np_own.float64 is np.float64
    assert float(jax.jit(jax.grad(np_own.sin))(1.0)) == pytest.approx(np.cos(1.0))
    x = torch.eye(2, requires_grad=True)
    np_own.linalg.det(x).backward()
    assert torch.equal(x.grad, torch.eye(2))
    with pytest.raises(rc.UnsupportedError, match=r"Add @shape_rule.define\(trace\)"):
        jax.grad(np_own.linalg.trace)(jnp.eye(2))


UFUNCS = {
    "greater": (lambda n, x: n.greater(x, 0.5), (0.2, 0.7)),
    "isfinite": (lambda n, x: n.isfinite(x), (0.2, np.inf)),
    "abs": (lambda n, x: n.abs(x), (3 + 4j, 1j)),
    "add": (lambda n, x: n.add(x, 1), (1, 2)),
    "sqrt": (lambda n, x: n.sqrt(x), (1, 2)),
    "single": (lambda n, x: n.multiply(x, 2.0), np.array((1, 2), np.float32)),
    "modf": (lambda n, x: n.modf(x), (1.25, -0.5)),
    "broadcast": (lambda n, x: n.hypot(x[:, None], x), (3.0, 4.0)),
}


@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_know_their_shapes_and_dtypes(name):
    f, values = UFUNCS[name]
    n, x = rc.with_rules(np), np.asarray(values)
    wanted = np.asarray(f(np, x))
    for run in (jax.jit, jax.vmap) if wanted.ndim == 1 else (jax.jit,):
        found = run(lambda x: f(n, x))(jnp.asarray(x))
        np.testing.assert_array_equal(np.asarray(found), wanted, strict=True)
    check_in_torch(lambda x: f(n, x), x, wanted)


def check_in_torch(f, x, wanted):
    found = f(torch.asarray(x))
    found = np.stack(found) if isinstance(found, tuple) else np.asarray(found)
    np.testing.assert_array_equal(found, wanted, strict=True)


@pytest.mark.full
@pytest.mark.parametrize("name", UFUNCS)
def test_ufuncs_compiled_by_torch(name):
    f, values = UFUNCS[name]
    n, x = rc.with_rules(np), np.asarray(values)
    compiled = torch.compile(lambda x: f(n, x), backend="eager")
    check_in_torch(compiled, x, np.asarray(f(np, x)))


def test_a_ufunc_of_whole_numbers_in_single_precision(x32):
    found = jax.jit(rc.with_rules(np).sqrt)(jnp.asarray([1, 4]))
    assert found.dtype == np.float32
    assert found.tolist() == [1.0, 2.0]


def test_options_of_ufuncs_have_no_shape_rule():
    n = rc.with_rules(np)
    with pytest.raises(rc.UnsupportedError) as caught:
        jax.jit(lambda x: n.add(x, 1.0, dtype="float32"))(jnp.ones(2))
    assert str(caught.value) == (
        "add has no shape rule for calls with dtype. Call it without, or define a "
        "shape_rule."
    )
