"""Results of host functions are what `out=` and `elementwise=` promise, in every host.

A result of integers where floats were promised has no tangent, so that the function's
rule would be lost without an error.
"""

from operator import itemgetter

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import rules_core as rc
from rules_autodiff import grad, jvp, value_and_grad
from rules_core import NoTangent, frule, rrule

X = np.array([0.3, -0.1, 0.2])
ERRORS = (rc.PrimitiveError, rc.RulesCoreError)

BODIES = {
    "integers": lambda x: np.argsort(np.argsort(x)),
    "truth values": lambda x: x > 0,
    "bytes": lambda x: np.sign(x).astype(np.int8),
    "single": lambda x: (x * 2).astype(np.float32),
    "view": lambda x: x[..., ::-1],
}
FLAGS = {
    "out": {"out": "x"},
    "signature": {"out": "(n)->(n)"},
    "elementwise": {"elementwise": True},
    "vectorized": {"out": "x", "vectorized": True},
}


def surrogate(body, flags, mode="rrule", itself=True):
    """A host function whose derivative is declared to be that of the identity."""

    def f(x):
        return body(x)

    handle = rc.primitive(f, host=True, **flags)

    def y(x):
        if itself:
            return handle(x)
        xp = rc.array_namespace(x)
        return xp.astype(x > 0, xp.int64)

    if mode == "rrule":
        rrule.define(handle)(lambda x: (y(x), lambda dy: (NoTangent(), dy)))
    else:
        frule.define(handle)(lambda dxs, x: (y(x), dxs[1]))
    return handle


def of_torch(g, transform):
    found = transform(torch.tensor(X))
    return np.asarray(found)


def backward(g, x):
    x.requires_grad_()
    g(x).backward()
    return x.grad


def compiled(g, x):
    torch.compiler.reset()
    return backward(torch.compile(g, backend="aot_eager"), x)


def pushed_by_torch(g, x):
    return torch.stack(
        [torch.func.jvp(g, (x,), (e,))[1] for e in torch.eye(len(x), dtype=x.dtype)]
    )


REVERSE = {
    "NumPy programs": lambda g: grad(g)(X),
    "NumPy programs, forward": lambda g: [jvp(g, (X,), (e,))[1] for e in np.eye(3)],
    "NumPy programs, again": lambda g: [value_and_grad(g)(X)[1] for _ in range(3)][-1],
    "backward": lambda g: backward(g, torch.tensor(X)),
    "backward, again": lambda g: [backward(g, torch.tensor(X)) for _ in range(3)][-1],
    "func.grad": lambda g: torch.func.grad(g)(torch.tensor(X)),
    "func.vmap": lambda g: torch.func.vmap(torch.func.grad(g))(torch.tensor(X)[None])[
        0
    ],
    "func.jvp": lambda g: pushed_by_torch(g, torch.tensor(X)),
    "jax.grad": lambda g: jax.grad(g)(X),
    "jit": lambda g: jax.jit(jax.grad(g))(X),
    "jax.jvp": lambda g: jnp.stack([jax.jvp(g, (X,), (e,))[1] for e in np.eye(3)]),
    "jax.vmap": lambda g: jax.vmap(jax.grad(g))(X[None])[0],
}


@pytest.mark.covering(every=7)
@pytest.mark.parametrize("host", REVERSE)
@pytest.mark.parametrize("mode", ["rrule", "frule"])
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("body", BODIES)
def test_a_rule_of_integers_is_not_lost(body, flags, mode, host):
    f = surrogate(BODIES[body], FLAGS[flags], mode)
    found = np.asarray(REVERSE[host](lambda x: (f(x) * x).sum()))
    np.testing.assert_allclose(found, BODIES[body](X) + X, rtol=1e-6)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("host", REVERSE)
@pytest.mark.parametrize("mode", ["rrule", "frule"])
def test_a_rule_that_returns_integers_itself_is_not_lost(mode, host):
    f = surrogate(lambda x: (x > 0) * 1, {"out": "x"}, mode, itself=False)

    def g(x):
        return (f(x) * x).sum()

    if host.startswith("ja") or host == "jit":  # of JAX
        with pytest.raises(rc.RulesCoreError, match=r"must have the type float64\[3\]"):
            REVERSE[host](g)
        return
    found = np.asarray(REVERSE[host](g))
    np.testing.assert_allclose(found, (X > 0) + X)


def test_a_graph_of_a_compiler_has_the_same_rule():
    f = surrogate(BODIES["integers"], FLAGS["out"])
    found = compiled(lambda x: (f(x) * x).sum(), torch.tensor(X))
    np.testing.assert_allclose(found, BODIES["integers"](X) + X)


VALUES = {
    "NumPy": lambda f, x: f(x),
    "PyTorch": lambda f, x: f(torch.tensor(x)),
    "PyTorch, again": lambda f, x: [f(torch.tensor(x)) for _ in range(3)][-1],
    "recorded": lambda f, x: f(torch.tensor(x, requires_grad=True)).detach(),
    "vmap": lambda f, x: torch.func.vmap(f)(torch.tensor(x)[None])[0],
    "JAX": lambda f, x: f(jnp.asarray(x)),
    "jit": lambda f, x: jax.jit(f)(jnp.asarray(x)),
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("host", VALUES)
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("body", BODIES)
def test_a_result_has_the_promised_dtype(body, flags, host):
    f = surrogate(BODIES[body], FLAGS[flags])
    found = VALUES[host](f, X)
    assert str(found.dtype).endswith("float64")
    np.testing.assert_allclose(np.asarray(found), BODIES[body](X), rtol=1e-6)


BROKEN = {
    "longer": lambda x: np.zeros(x.size + 2),
    "0-d": lambda x: np.sum(x),
    "number": lambda x: 1.5,
    "complex": lambda x: x + 0j,
    "matrix": lambda x: np.ones((1, x.size)).view(np.matrix),
    "tuple": lambda x: (x, x),
    "list": lambda x: [1.0, 2.0, 3.0],
    "None": lambda x: None,
    "objects": lambda x: x.astype(object),
    "texts": lambda x: x.astype(str),
}


# A batch of one is a matrix itself; of a tuple both results are returned.
IN_BATCHES = {
    ("matrix", "vectorized"), ("matrix", "elementwise"), ("tuple", "vectorized"),
}  # fmt: skip


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("host", VALUES)
@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("body", BROKEN)
def test_another_result_is_an_error_that_names_the_function(body, flags, host):
    f = surrogate(BROKEN[body], FLAGS[flags])
    if host == "vmap" and (body, flags) in IN_BATCHES:
        return
    with pytest.raises(
        Exception, match=r"\bf\b.*(promise|must return)|batch rule|`f` must"
    ):
        VALUES[host](f, X)


def test_the_error_names_what_was_promised_and_found():
    f = surrogate(BROKEN["longer"], FLAGS["out"])
    text = r"shape \(3,\) and dtype float64, .* got an array of shape \(5,\) and dtype"
    for x in (X, torch.tensor(X), torch.tensor(X, requires_grad=True)):
        with pytest.raises(rc.PrimitiveError, match=text):
            f(x)


CALLS = {
    "a list": ([1.0, 2.0],),
    "a number": (2.0,),
    "an int": (2,),
    "an array of ints": (np.array([1, 4]),),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_numpy_that_promise_no_dtype_are_as_before(name):
    root = rc.primitive(lambda x: np.sqrt(x) * 1.0, host=True, elementwise=True)
    (x,) = CALLS[name]
    np.testing.assert_array_equal(root(x), np.sqrt(x))
    if name != "an array of ints":
        like = rc.primitive(lambda x: np.sqrt(x) + 0.0, host=True, out="x")
        np.testing.assert_array_equal(like(x), np.sqrt(x))


def test_floats_of_an_integer_promise_are_an_error():
    root = rc.primitive(lambda x: np.sqrt(x), host=True, out="x")
    for x in (np.array([1, 4]), torch.tensor([1, 4]), jnp.array([1, 4])):
        with pytest.raises(rc.RulesCoreError, match="promise"):
            root(x)


def test_several_results_are_compared_one_by_one():
    out = {"low": "x", "places": rc.ShapeDtype(("n",), np.int64)}

    def split(x, n):
        return {"places": np.argsort(x)[:n], "low": np.sign(x).astype(int)}

    f = rc.primitive(split, host=True, out=out)
    for found in (f(X, 2), f(torch.tensor(X), 2)):
        assert str(found["low"].dtype).endswith("float64")
        assert str(found["places"].dtype).endswith("int64")
    with pytest.raises(rc.PrimitiveError, match=r"entry \['places'\] of the result"):
        f(X, 5)


def test_a_shape_rule_that_reads_another_value_is_asked_again():
    size = [2]
    f = rc.primitive(lambda x: np.zeros(size[0]), host=True)
    rc.shape_rule.define(f)(lambda x: rc.ShapeDtype((size[0],), x.dtype))
    for n in (2, 3, 4):
        size[0] = n
        assert f(X).shape == f(torch.tensor(X)).shape == (n,)


def test_a_shape_rule_that_is_defined_later_is_kept():
    f = rc.primitive(lambda x: np.zeros(5), host=True)
    x = torch.tensor(X)
    assert f(x).shape == f(x).shape == f(X).shape == (5,)
    rc.shape_rule.define(f)(lambda x: x)
    for given in (x, X):
        with pytest.raises(rc.PrimitiveError, match="promises"):
            f(given)


def test_a_batch_rule_returns_what_is_promised():
    f = rc.primitive(lambda x: np.argsort(x), host=True, out="x")
    rc.batch_rule.define(f)(lambda size, flags, x: (np.argsort(x, axis=-1), True))
    rrule.define(f)(lambda x: (f(x), lambda dy: (NoTangent(), dy)))
    x = torch.tensor(X)[None]
    found = torch.func.vmap(torch.func.grad(lambda x: (f(x) * x).sum()))(x)
    np.testing.assert_allclose(found[0], np.argsort(X) + X)
    g = rc.primitive(lambda x: x * 1, host=True, out="x")
    rc.batch_rule.define(g)(lambda size, flags, x: (x[:, :2], True))
    with pytest.raises(rc.UnsupportedError, match="batch rule must return what its"):
        torch.func.vmap(g)(x)


def test_derived_derivatives_pass_the_conversion():
    f = rc.primitive(lambda x: (x * x).astype(np.float32), host=True, out="x")
    assert f(X).dtype == np.float64
    np.testing.assert_allclose(grad(lambda x: f(x).sum())(X), 2 * X, rtol=1e-6)


def test_an_array_that_torch_does_not_have_is_named():
    f = rc.primitive(lambda x: x.astype(str), host=True)
    with pytest.raises(rc.UnsupportedError, match="must return numbers"):
        f(torch.tensor(X))


SEVERAL = {
    "tuple": lambda a, b: (a, b),
    "list": lambda a, b: [a, b],
    "dict": lambda a, b: {"second": b, "first": a},
    "nested": lambda a, b: (a, (b,)),
}


@pytest.mark.covering(every=7)
@pytest.mark.parametrize(
    "number", [0.4, 2, True, np.float64(0.4), [0.4]], ids=lambda x: type(x).__name__
)
@pytest.mark.parametrize("container", SEVERAL)
@pytest.mark.parametrize("host", REVERSE)
def test_rules_of_several_results_beside_numbers(host, container, number):
    """A call of traced arrays and of numbers, for which a promise is known too."""
    pack = SEVERAL[container]

    def own(x, m):
        k = m[0] if isinstance(m, list) else m
        return pack(x * k, x + k)

    f = rc.primitive(own, host=True, out=lambda x, m: pack(x, x))

    first = itemgetter("first" if container == "dict" else 0)

    @rrule.define(f)
    def rule(x, m):
        k = m[0] if isinstance(m, list) else m
        return f(x, m), lambda dy: (NoTangent(), first(dy) * k, rc.ZeroTangent())

    found = REVERSE[host](lambda x: first(f(x, number)).sum())
    k = number[0] if isinstance(number, list) else number
    np.testing.assert_allclose(found, np.full(3, float(k)))
