"""Derivatives of calls of a module, of SciPy's and of this pack's, in each framework.

A call is `f(module, *arrays)`; what it returns is an array or several.
"""

import numpy as np
import pytest

from rules_autodiff import grad, jvp, vjp
from rules_scipy._lists import constant_like

__all__ = [
    "assert_near",
    "check_in_jax",
    "check_in_numpy",
    "check_in_torch",
    "check_second_order",
    "difference",
    "differences",
    "dots",
    "loss_of",
]


def loss_of(f, module):
    """A number that depends on all results, linearly and quadratically."""

    def loss(*xs):
        y, total = f(module, *xs), 0.0
        for i, part in enumerate(y if isinstance(y, tuple | list) else (y,)):
            w = np.random.default_rng(i).normal(size=np.shape(part))
            is_numpys = isinstance(part, np.ndarray | np.generic | float)
            w = w if is_numpys else constant_like(w, part)
            total = total + (w * part * (1.0 + 0.5 * part)).sum()
        return total

    return loss


def directions(args):
    return [np.random.default_rng(9).normal(size=x.shape) for x in args]


def difference(f, args, along, h=1e-5):
    """The derivative along a direction, by central differences of order four."""

    def at(step):
        moved = [x + step * v for x, v in zip(args, along, strict=True)]
        return np.asarray(f(*moved), float)

    return (8.0 * (at(h) - at(-h)) - at(2 * h) + at(-2 * h)) / (12.0 * h)


def differences(f, args):
    """The derivative along a direction in each argument alone."""
    found = []
    for i, v in enumerate(directions(args)):
        along = [np.zeros_like(x) for x in args]
        along[i] = v
        found.append(difference(f, args, along))
    return np.array(found)


def assert_near(found, expected, tolerance=1e-6):
    size = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * size)


def dots(gradients, args):
    pairs = zip(gradients, directions(args), strict=True)
    return np.array([float(np.sum(np.asarray(g) * v)) for g, v in pairs])


def gradient_along(f, args):
    """All gradients' sum with the directions."""
    gradients = grad(f, tuple(range(len(args))))(*args)
    pairs = zip(gradients, directions(args), strict=True)
    return sum(np.sum(g * v) for g, v in pairs)


def check_in_numpy(f, args, sp, own):
    """Both modes of the engine, and the values of the pack's functions."""
    loss = loss_of(f, sp)
    expected = differences(loss, args)
    y, pullback = vjp(loss, *args)
    np.testing.assert_allclose(y, loss(*args), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(y, loss_of(f, own)(*args), rtol=1e-9, atol=1e-9)
    assert_near(dots(pullback(1.0), args), expected)
    assert_near(jvp(loss, args, tuple(directions(args)))[1], expected.sum())


def check_second_order(f, args, sp):
    """Forward over reverse in the engine."""
    loss = loss_of(f, sp)

    def slope(*xs):
        return gradient_along(loss, xs)

    found = jvp(slope, args, tuple(directions(args)))[1]
    assert_near(found, difference(slope, args, directions(args), 1e-4), 1e-5)


IN_JAX = ("compiled", "forward", "batched", "second")


def with_parts(names):
    """Each part of `check_in_jax` for each function, whose cases take turns."""
    functions = {}
    for name in names:
        functions.setdefault(name.split()[0], []).append(name)
    chosen = []
    for cases in functions.values():
        if len(cases) < len(IN_JAX):
            chosen += [(cases[0], part) for part in IN_JAX]
        others = cases[len(cases) < len(IN_JAX) :]
        chosen += [(name, IN_JAX[k % len(IN_JAX)]) for k, name in enumerate(others)]
    return chosen


def check_in_jax(f, args, sp, own, part):
    """Compiled, batched, both modes, or forward over reverse."""
    jax = pytest.importorskip("jax")
    loss, which = loss_of(f, own), tuple(range(len(args)))
    xs = tuple(map(jax.numpy.asarray, args))
    vs = tuple(map(jax.numpy.asarray, directions(args)))
    slopes = jax.jit(jax.grad(loss, which))
    if part == "second":
        second = dots(jax.jvp(slopes, xs, vs)[1], args).sum()
        numbers = difference(lambda *z: dots(slopes(*z), args).sum(), args, vs, 1e-4)
        assert_near(second, numbers, 1e-5)
        return
    expected = differences(loss_of(f, sp), args)
    if part == "compiled":
        assert_near(dots(slopes(*xs), args), expected)
    elif part == "forward":
        assert_near(jax.jvp(loss, xs, vs)[1], expected.sum())
    else:
        several = jax.vmap(slopes)(*[jax.numpy.stack([x, x]) for x in xs])
        assert_near(dots([g[1] for g in several], args), expected)


def check_in_torch(f, args, sp, own):
    """Eagerly, batched, both modes, and forward over reverse."""
    torch = pytest.importorskip("torch")
    loss, which = loss_of(f, own), tuple(range(len(args)))
    expected = differences(loss_of(f, sp), args)
    leaves = [torch.tensor(x, requires_grad=True) for x in args]
    loss(*leaves).backward()
    found = [np.zeros(x.shape) if x.grad is None else x.grad for x in leaves]
    assert_near(dots(found, args), expected)
    xs, vs = (tuple(map(torch.tensor, z)) for z in (args, directions(args)))
    assert_near(torch.func.jvp(loss, xs, vs)[1], expected.sum())
    slopes = torch.func.grad(loss, which)
    several = torch.func.vmap(slopes)(*[torch.stack([x, x]) for x in xs])
    assert_near(dots([g[1] for g in several], args), expected)
    second = dots(torch.func.jvp(slopes, xs, vs)[1], args).sum()

    def total(*z):
        return dots(slopes(*map(torch.as_tensor, z)), args).sum()

    assert_near(second, difference(total, args, directions(args), 1e-4), 1e-5)
