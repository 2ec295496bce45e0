"""Derivatives of a call in each framework, and central differences of its value."""

import numpy as np
import pytest

import rules_core as rc


def opened(args):
    """The floating arrays of a call, and the call of other ones."""
    arrays = []

    def packed(x):
        if isinstance(x, tuple):
            return tuple(map(packed, x))
        if isinstance(x, np.ndarray) and x.dtype.kind in "fc":
            arrays.append(x)
            return slice(len(arrays) - 1)
        return x

    def unpacked(x, xs):
        if isinstance(x, tuple):
            return tuple(unpacked(part, xs) for part in x)
        return xs[x.stop] if isinstance(x, slice) else x

    form = packed(tuple(args))
    return arrays, lambda xs: unpacked(form, xs)


def loss_of(f, form, options, array):
    """A real function of all results, linear and quadratic."""

    def loss(*xs):
        y, total = f(*form(xs), **options), 0.0
        for i, result in enumerate(y if isinstance(y, tuple | list) else (y,)):
            part = array(result) if isinstance(result, float) else result
            if not rc.is_array(part) or "int" in str(part.dtype):
                continue
            rng = np.random.default_rng(i)
            weights = [array(rng.normal(size=tuple(part.shape))) for _ in range(2)]
            halves = [part.real, part.imag] if "complex" in str(part.dtype) else [part]
            for half, w in zip(halves, weights, strict=False):
                total = total + (w * half).sum() + 0.3 * (half * half).sum()
        return total

    return loss


def directions(arrays):
    rng = np.random.default_rng(8)
    factor = {"f": 1.0, "c": 1.0 - 0.5j}
    return [rng.normal(size=x.shape) * factor[x.dtype.kind] for x in arrays]


def differences(f, arrays, moves):
    """First and second derivative along a line."""

    def at(t):
        return float(f(*[x + t * d for x, d in zip(arrays, moves, strict=True)]))

    def pair(h):
        up, down = at(h), at(-h)
        return np.array([(up - down) / (2 * h), (up - 2 * at(0.0) + down) / h**2])

    h = 1e-3  # one step of Richardson's extrapolation
    return (4 * pair(h / 2) - pair(h)) / 3


class Jax:
    def __init__(self):
        self.jax = pytest.importorskip("jax")
        self.array = self.jax.numpy.asarray

    def forward(self, f, moves):
        return lambda *xs: self.jax.jvp(f, xs, tuple(moves))[1]

    def reverse(self, f, moves):
        grad = self.jax.grad(f, tuple(range(len(moves))))

        def along(*xs):  # JAX's gradient is the conjugate of ours
            parts = zip(grad(*xs), moves, strict=True)
            return sum((g * d).real.sum() for g, d in parts)

        return along

    def run(self, f, arrays):
        return float(self.jax.jit(f)(*arrays))


class Torch:
    def __init__(self):
        self.torch = pytest.importorskip("torch")

    def array(self, x):
        return self.torch.as_tensor(np.array(x))

    def forward(self, f, moves):
        moves = tuple(map(self.array, moves))
        return lambda *xs: self.torch.func.jvp(f, xs, moves)[1]

    def reverse(self, f, moves):
        grad = self.torch.func.grad(f, tuple(range(len(moves))))
        moves = [self.array(d) for d in moves]

        def along(*xs):
            pairs = zip(grad(*xs), moves, strict=True)
            return sum((self.torch.conj(g) * d).real.sum() for g, d in pairs)

        return along

    def run(self, f, arrays):
        return float(f(*map(self.array, arrays)))


class Engine:
    array = staticmethod(np.asarray)

    def forward(self, f, moves):
        from rules_autodiff import jvp

        return lambda *xs: jvp(f, xs, tuple(moves))[1]

    def reverse(self, f, moves):
        from rules_autodiff import grad

        gradient = grad(f, tuple(range(len(moves))))

        def along(*xs):
            total = 0.0
            for g, d in zip(gradient(*xs), moves, strict=True):
                total = total + np.sum(np.real(np.conjugate(g) * d))
            return total

        return along

    def run(self, f, arrays):
        return float(f(*arrays))


HOSTS = {"jax": Jax, "torch": Torch, "engine": Engine}
