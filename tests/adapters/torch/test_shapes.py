"""What a rule returns must be like what it is for: nothing is broadcast in silence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from torch.autograd import forward_ad
from torch.func import grad, jacrev, jvp, vmap

import rules_core as rc
from rules_core import NoTangent
from rules_torch import CotangentError, ResultShapeError

X = torch.tensor([0.3, 0.7], dtype=torch.float64)
WAYS = {
    "backward": lambda f: backward(f),
    "grad": lambda f: grad(lambda x: f(x).sum())(X),
    "vmap(grad)": lambda f: vmap(grad(lambda x: f(x).sum()))(X[None]),
    "grad(vmap)": lambda f: grad(lambda x: vmap(f)(x[None]).sum())(X),
    "jacrev": lambda f: jacrev(f)(X),
    "jvp": lambda f: jvp(f, (X,), (X,)),
    "forward_ad": lambda f: dual(f),
}


def backward(f):
    x = X.clone().requires_grad_()
    return torch.autograd.grad(f(x).sum(), x)[0]


def dual(f):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(X, X))).tangent


def with_rrule(result, cotangent=lambda dy: 2 * dy):
    @rc.primitive
    def double(x):
        return 2 * x

    @rc.rrule.define(double)
    def double_rrule(x):
        return result(2 * x), lambda dy: (NoTangent(), cotangent(dy))

    return double


def with_frule(result, tangent):
    @rc.primitive
    def double(x):
        return 2 * x

    @rc.frule.define(double)
    def double_frule(tangents, x):
        return result(2 * x), tangent(2 * tangents[1])

    return double


def same(y):
    return y


RESULTS = {
    "sum": lambda y: y.sum(),
    "row": lambda y: y[None],
    "repeated": lambda y: y.repeat(2, 1),
    "part": lambda y: y[:1],
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_that_broadcasting_would_fit_is_refused(name, way):
    """Projection could fit each of these cotangents, of another function."""
    result = RESULTS[name]
    got = tuple(result(2 * X).shape)
    with pytest.raises(ResultShapeError) as info:
        WAYS[way](with_rrule(result))
    assert "double_rrule for with_rrule.<locals>.double at test_shapes.py:" in str(
        info.value
    )
    assert f"which has shape (2,) here, but got shape {got}" in str(info.value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", RESULTS)
def test_the_result_of_an_frule_likewise(name, way):
    result = RESULTS[name]
    got = tuple(result(2 * X).shape)
    with pytest.raises(ResultShapeError) as info:
        WAYS[way](with_frule(result, result))
    head, _, tail = str(info.value).partition(" at ")
    assert head == (
        "frule with_frule.<locals>.double_frule for with_frule.<locals>.double"
    )
    assert tail.partition(": ")[2] == (
        "it must return the result of with_frule.<locals>.double, which has shape (2,) "
        f"here, but got shape {got}. Return what the function returns."
    )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["repeated", "sum", "part"])
def test_a_tangent_is_not_summed_or_repeated(name, way):
    with pytest.raises(CotangentError, match="the tangent of the result does not fit"):
        WAYS[way](with_frule(same, RESULTS[name]))


def test_the_text_about_a_tangent_of_another_shape():
    with pytest.raises(CotangentError) as info:
        WAYS["jvp"](with_frule(same, RESULTS["repeated"]))
    assert str(info.value).partition(" at ")[2].partition(": ")[2] == (
        "the tangent of the result does not fit. It must have the result's shape (2,), "
        "but got (2, 2)."
    )


def test_tangents_in_containers_are_not_summed_either():
    @rc.primitive
    def two(x):
        return {"a": x * 2, "b": (x.sum(), 3)}

    answers = iter(
        [
            {"a": X.repeat(2, 1), "b": None},
            {"b": (X,)},
            rc.Tangent(dict, {"b": rc.Tangent(tuple, X, NoTangent())}),
        ]
    )

    @rc.frule.define(two)
    def two_frule(tangents, x):
        return two(x), next(answers)

    def leaves(x):
        found = two(x)
        return found["a"], found["b"][0]

    for _ in range(3):
        with pytest.raises(CotangentError):
            jvp(leaves, (X,), (X,))


@pytest.mark.parametrize("way", ["backward", "grad", "vmap(grad)", "jvp"])
def test_integers_are_no_cotangents(way):
    with pytest.raises(CotangentError) as info:
        WAYS[way](with_rrule(same, lambda dy: torch.ones(2, dtype=torch.int64)))
    assert str(info.value).partition(" at ")[2].partition(": ")[2] == (
        "the cotangent of argument 'x' does not fit. It must be floating or complex, "
        "but got torch.int64. Convert it in the rule, or return ZeroTangent() for "
        "zeros."
    )


@pytest.mark.parametrize("way", WAYS)
def test_integers_are_no_tangents(way):
    with pytest.raises(CotangentError, match=r"but got torch\.int64"):
        WAYS[way](with_frule(same, lambda dy: dy.to(torch.int64)))


def test_a_rule_may_leave_it_to_the_adapter_to_sum_over_broadcast_axes():
    """The function is asked for its shape once for each pattern of sizes."""
    calls = []

    @rc.primitive
    def plus(a, b):
        calls.append(None)
        return a + b

    @rc.rrule.define(plus)
    def plus_rrule(a, b):
        return a + b, lambda dy: (NoTangent(), dy, dy)

    for n in (3, 4, 5):
        a, b = torch.ones(n, requires_grad=True), torch.ones(1, requires_grad=True)
        plus(a, b).sum().backward()
        assert (a.grad.tolist(), b.grad.item()) == ([1] * n, n)
    assert len(calls) == 1


CONSISTENT = {
    "shape": (lambda y: y.sum(), "shape (2,)", "shape ()"),
    "number": (lambda y: (y, y), "1 tensors", "2 tensors"),
    "dtype": (lambda y: y.float(), "dtype torch.float64", "dtype torch.float32"),
}


@pytest.mark.parametrize("name", CONSISTENT)
def test_debug_mode_compares_every_result(name):
    """Also where the cotangents fit, so that only running both can tell."""
    result, expected, got = CONSISTENT[name]
    f = with_rrule(result, lambda dy: 2 * torch.ones_like(X))
    with rc.debug_mode(), pytest.raises(ResultShapeError) as info:
        f(X.clone().requires_grad_())
    assert str(info.value).partition(" at ")[2].partition(": ")[2] == (
        "it must return the result of with_rrule.<locals>.double, which has "
        f"{expected} here, but got {got}. Return what the function returns."
    )


def test_debug_mode_leaves_functions_alone_that_need_data():
    @rc.primitive
    def sign(x):
        return x if float(x.sum()) > 0 else -x

    @rc.rrule.define(sign)
    def sign_rrule(x):
        return sign(x), lambda dy: (NoTangent(), dy)

    with rc.debug_mode():
        assert backward(sign).tolist() == [1, 1]


@pytest.fixture
def fresh() -> Iterator[None]:
    torch.compiler.reset()
    yield
    torch.compiler.reset()


@pytest.mark.usefixtures("fresh")
@pytest.mark.filterwarnings("ignore")  # torch's own compiler stack warns about itself
@pytest.mark.parametrize("transform", [None, grad], ids=["training", "grad"])
def test_a_compiler_compares_every_result(transform):
    f = with_rrule(lambda y: y.sum(), lambda dy: 2 * torch.ones_like(X))
    program = (lambda x: f(x) * 1) if transform is None else transform(f)
    with pytest.raises(Exception, match=r"has shape \(2,\) here, but got shape \(\)"):
        torch.compile(program, fullgraph=True, backend="aot_eager")(
            X.clone().requires_grad_()
        )


def host_double(**rules):
    @rc.primitive(host=True, elementwise=True)
    def double(x):
        return 2 * np.asarray(x)

    if "rrule" in rules:
        rc.rrule.define(double)(rules["rrule"])
    if "frule" in rules:
        rc.frule.define(double, host=True)(rules["frule"])
    return double


@pytest.mark.parametrize("way", ["backward", "grad", "vmap(grad)", "jvp"])
def test_host_functions_whose_shape_is_known(way):
    def double_rrule(x):
        return (2 * x).repeat(2, 1), lambda dy: (NoTangent(), 2 * dy)

    with pytest.raises(ResultShapeError, match=r"\(2,\) here, but got shape \(2, 2\)"):
        WAYS[way](host_double(rrule=double_rrule))


@pytest.mark.parametrize("way", ["jvp", "forward_ad"])
def test_rules_in_numpy(way):
    def repeated(tangents, x):
        return 2 * x, np.tile(2 * tangents[1], (2, 1))

    with pytest.raises(CotangentError, match=r"shape \(2,\), but got \(2, 2\)"):
        WAYS[way](host_double(frule=repeated))

    def both(tangents, x):
        return np.tile(x, (2, 1)), np.tile(2 * tangents[1], (2, 1))

    with pytest.raises(ResultShapeError, match=r"\(2,\) here, but got shape \(2, 2\)"):
        WAYS[way](host_double(frule=both))
