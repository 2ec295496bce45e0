"""Derived rules to third order, in every mixture of modes of both hosts.

The programs have no rule: NumPy with loops, writes in place, a list, a branch, a
dictionary of arrays, an array of integers and two results. The reference is the same
formula in operations of PyTorch, without writes, differentiated by PyTorch.
"""

import functools
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest

import rules_core as rc
from tests.covering import covering
from tests.interop.simulations import HOSTS, first_of, host_of

X = np.array([0.3, -0.4, 0.9])
D = np.array([0.7, 0.2, -0.5])
ORDER = np.array([2, 0, 1])


def program(p, x, order, steps):
    sums = []
    for k in range(steps):
        x[1:] *= p["a"] * x[:-1]
        x[0] = np.sin(x[-1]) + p["b"][0] * k
        x[:] = x[order]
        if sums and sums[-1] < 5.0:
            x += 0.5 * p["a"] * x[::-1] ** 2
        sums.append(x.sum())
    return {"x": x, "total": sums[0] * sums[-1]}


def program_out(p, x, order, steps):
    return {"x": rc.ShapeDtype(x.shape, x.dtype), "total": rc.ShapeDtype((), x.dtype)}


def formula(p, x, order, steps):
    xp = rc.array_namespace(x)
    sums = []
    for k in range(steps):
        rest = x[1:] * p["a"] * x[:-1]
        first = xp.sin(rest[-1:]) + p["b"][0] * k
        x = xp.concatenate((first, rest))[order]
        if k:  # the sum was small
            x = x + 0.5 * p["a"] * xp.flip(x, axis=0) ** 2
        sums.append(x.sum())
    return {"x": x, "total": sums[0] * sums[-1]}


class Line(NamedTuple):
    """Functions of one number of the host, through a program or its formula."""

    host: Any
    dtype: str = "float64"

    def array(self, x: Any) -> Any:
        return self.host.array(np.asarray(x, self.dtype))

    def along(self, f: Any) -> Any:
        """`t ↦` a loss at parameters and a state that move with `t`."""
        x, d, a, b = map(self.array, (X, D, 1.1, [0.4, 0.0]))
        weights, order = self.array([1.0, -2.0, 3.0]), self.host.array(ORDER)

        def loss(t: Any) -> Any:
            found = f({"a": a + t, "b": [b[0] * t, b]}, x + t * d, order, 2)
            return (found["x"] ** 2 * weights).sum() + found["total"]

        return loss

    def derived(self) -> Any:
        """The program, by its derived rule."""
        return self.along(self.host.wrap(program, out=program_out))

    def point(self) -> Any:
        return self.array(0.6)


class ComplexLine(Line):
    """The same through complex numbers."""

    def along(self, f: Any) -> Any:
        z, d, weights = map(self.host.array, (Z, D * (1 - 0.5j), Z[::-1].copy()))

        def loss(t: Any) -> Any:
            return (f(z + t * d, t * (1 + 0.2j)) * weights).sum().real

        return loss

    def derived(self) -> Any:
        return self.along(self.host.wrap(spiral, out=first_of))


Z = np.array([0.4 + 0.3j, -0.5j, 1.0 - 0.2j])


def spiral(z, w):
    for i in range(1, len(z)):
        z[i] *= z[i - 1] * w
    z[0] = np.exp(1j * z[-1]) + abs(z[1])
    return z


def spiral_formula(z, w):
    xp = rc.array_namespace(z)
    one = z[1] * z[0] * w
    two = z[2] * one * w
    return xp.stack((xp.exp(1j * two) + abs(one), one, two))


FORMULAS = {Line: formula, ComplexLine: spiral_formula}


def test_the_formulas_are_the_programs():
    p = {"a": 1.1, "b": [0.4]}
    plain, known = (f(p, X + 0.6 * D, ORDER, 2) for f in (program, formula))
    np.testing.assert_allclose(plain["x"], known["x"])
    np.testing.assert_allclose(plain["total"], known["total"])
    np.testing.assert_allclose(spiral(Z.copy(), 0.7), spiral_formula(Z, 0.7))


# One derivative along `t`, by each transformation.


def pushed(line, f):
    one = line.array(1.0)
    return lambda t: line.host.jvp(f, (t,), (one,))[1]


def slope(line, f):
    return line.host.grad(f)


def backward(line, f):
    return line.host.jacrev(f)


def forward(line, f):
    return line.host.jacfwd(f)


def batch(line, f):
    """The second of two points in one batch."""
    offsets = line.array([0.3, 0.0])

    def second(t):
        return line.host.vmap(f)(t + offsets)[1]

    return second


def batched_slope(line, f):
    return batch(line, slope(line, f))


def batched_push(line, f):
    return batch(line, pushed(line, f))


def slope_of_a_batch(line, f):
    return slope(line, batch(line, f))


def push_of_a_batch(line, f):
    return pushed(line, batch(line, f))


PLAIN = {"grad": slope, "jvp": pushed}
BATCHED = {
    "vmap of grad": batched_slope,
    "vmap of jvp": batched_push,
    "grad of vmap": slope_of_a_batch,
    "jvp of vmap": push_of_a_batch,
}
EVERY = PLAIN | {"jacrev": backward, "jacfwd": forward} | BATCHED


def mixtures(*groups):
    """Outermost first, as one writes them."""
    return [
        pytest.param([mode for _, mode in names], id=", ".join(n for n, _ in names))
        for names in product(*(group.items() for group in groups))
    ]


def named(name):
    """The mixture of that name."""
    modes = [EVERY[part] for part in name.split(", ")]
    return pytest.param(modes, id=name)


def without(cases, known):
    names = {case.id for case in known}
    return [case for case in cases if case.id not in names]


PAIRS, TRIPLES = mixtures(PLAIN, PLAIN), mixtures(PLAIN, PLAIN, PLAIN)
SECOND = [
    *PAIRS, named("jacrev, jacfwd"), named("jacfwd, jacrev"),
    named("vmap of grad, vmap of jvp"), named("grad, vmap of grad"),
    named("jvp of vmap, grad of vmap"), named("vmap of jvp, grad"),
]  # fmt: skip
THIRD = [
    *TRIPLES, named("grad, vmap of jvp, grad"), named("jvp, grad of vmap, jvp"),
]  # fmt: skip
SHORT = [named("jvp, grad"), named("grad, grad, jvp")]
LONG = without([*PAIRS, *TRIPLES], SHORT)
# Dynamo does not compile jvp in jvp, and PyTorch 2.13 itself crashes where it compiles
# grad of grad of jvp, also of a bare autograd.Function.
COMPILED = [named("jvp, grad"), named("grad, jvp, grad")]
ALSO_COMPILED = [
    named("grad, grad"), named("grad, jvp"), named("grad, grad, grad"),
    named("jvp, grad, grad"),
]  # fmt: skip
# Of the mixtures of three so many that each two modes meet at each two places, and
# each mode at each place in each host.
ROWS = list(product(EVERY, EVERY, EVERY, HOSTS))
MET = [ROWS[k] for k in covering(ROWS)]
REST = without(mixtures(EVERY, EVERY), SECOND)


@pytest.fixture(params=HOSTS)
def host(request):
    return host_of(request.param)


def mixed(line, f, modes):
    for mode in reversed(modes):
        f = mode(line, f)
    return f


@functools.cache
def known(kind, order, dtype="float64", at=0.6):
    """The derivative of the formula, by PyTorch."""
    line = kind(host_of("torch"), dtype)
    f = mixed(line, line.along(FORMULAS[kind]), [slope] * order)
    return np.asarray(f(line.array(at)))


def check(line, modes, *, rtol=1e-9, compiled=False):
    f = mixed(line, line.derived(), modes)
    f = line.host.compiled(f) if compiled else f
    want = known(type(line), len(modes), line.dtype)
    for _ in range(1 + compiled):
        found = f(line.point())
        assert str(found.dtype).endswith(line.dtype)
        np.testing.assert_allclose(np.asarray(found), want, rtol=rtol)


@pytest.mark.covering(every=7)
@pytest.mark.parametrize("modes", [*SECOND, *THIRD])
def test_every_mixture(host, modes):
    check(Line(host), modes)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("modes", SHORT)
def test_single_precision(host, modes):
    check(Line(host, "float32"), modes, rtol=2e-4)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("modes", SHORT)
def test_complex_numbers(host, modes):
    check(ComplexLine(host), modes)


@pytest.mark.covering(every=4, start=0)
@pytest.mark.parametrize("modes", COMPILED)
def test_compiled(host, modes):
    check(Line(host), modes, compiled=True)


@pytest.mark.nightly
@pytest.mark.parametrize("modes", REST)
def test_the_rest(host, modes):
    check(Line(host), modes)


@pytest.mark.nightly
@pytest.mark.parametrize(("outer", "middle", "inner", "name"), MET)
def test_mixtures_of_three(outer, middle, inner, name):
    check(Line(host_of(name)), [EVERY[mode] for mode in (outer, middle, inner)])


@pytest.mark.nightly
@pytest.mark.parametrize("modes", LONG)
@pytest.mark.parametrize("kind", ["float32", "complex"])
def test_the_rest_of_other_kinds(host, kind, modes):
    if kind == "complex":
        check(ComplexLine(host), modes)
    else:
        check(Line(host, "float32"), modes, rtol=2e-4)


@pytest.mark.nightly
@pytest.mark.parametrize("modes", ALSO_COMPILED)
def test_the_rest_of_compiled(host, modes):
    check(Line(host), modes, compiled=True)


@pytest.mark.parametrize("order", [2, pytest.param(3, marks=pytest.mark.nightly)])
def test_pullbacks_again_and_in_any_order(host, order):
    """Of the last derivative, at three points, each called twice."""
    line = Line(host)
    before = mixed(line, line.derived(), [slope] * (order - 1))
    points = (0.6, 0.2, -0.4)
    pullbacks = [host.vjp(before, line.array(t))[1] for t in points]
    for place in (2, 0, 1, 0, 2, 1):
        (found,) = pullbacks[place](line.array(1.0 + place))
        want = (1.0 + place) * known(Line, order, at=points[place])
        np.testing.assert_allclose(np.asarray(found), want, rtol=1e-9)


def test_graphs_of_torch_kept_and_used_again():
    """`backward` through gradients, the first graph last."""
    torch = pytest.importorskip("torch")
    line = Line(host_of("torch"))
    f = line.derived()
    points = [line.array(t).requires_grad_() for t in (0.6, 0.2)]

    def derived_of(y, t):
        return torch.autograd.grad(y, t, create_graph=True)[0]

    firsts = [derived_of(f(t), t) for t in points]
    seconds = [derived_of(y, t) for y, t in zip(firsts, points, strict=True)]
    for place in (1, 0, 1):
        t = points[place]
        again, third = derived_of(firsts[place], t), derived_of(seconds[place], t)
        for order, y in enumerate((firsts[place], again, third), 1):
            want = known(Line, order, at=(0.6, 0.2)[place])
            np.testing.assert_allclose(y.detach(), want, rtol=1e-9)
