"""Programs that rules call back: functions of what they take and capture."""

import dataclasses
import math
from typing import Any

import numpy as np

__all__ = ["PROGRAMS"]

WEIGHTS = np.array([0.5, -1.5])
TABLE = {"rate": 0.75, "shift": np.array([0.25, 0.5])}


def lotka(t, y, a, b, c, d):
    u, v = y
    return np.array([a * u - b * u * v, -c * v + d * u * v])


def as_list(t, y, a, b):
    return np.array([a * y[1], -b * y[0]])


def handed(fun, args, t, y):
    return fun(t, y, *args)


def oscillator(stiffness, damping):
    def rate(t, y):
        return np.array([y[1], -stiffness * y[0] - damping * y[1] + np.sin(t)])

    return rate


def nested(outer, weights):
    def inner(x):
        return outer * x

    def f(x):
        return (inner(x) * weights).sum()

    return f


def of_function(g, scale):
    def f(x):
        return g(x) * scale

    return f


def counted(n, scale):
    def f(x):
        total = x * 0.0
        for i in range(3):
            total = total + x**n * scale / (i + 1.0)
        return total

    return f


def labelled(kind, scale):
    def f(x):
        return np.sin(x) * scale if kind == "sine" else np.cos(x) * scale

    return f


def imported(scale):
    from math import exp, log1p

    def f(x):
        return exp(-scale * x) + log1p(x * x)

    return f


def of_row(pair, table):
    def f(x):
        return pair[0] * x + pair[1] + table["k"] * x * x

    return f


def with_default(x, w=WEIGHTS, k=2.0):
    return x * w * k


def captured_default(p):
    def f(x, w=WEIGHTS):
        return x * w * p

    return f


def of_globals(x):
    return x * WEIGHTS * TABLE["rate"] + TABLE["shift"]


def of_branch(x, y):
    return x * y if x > y else x / (1.0 + y * y)


def of_loop(x, a):
    y = x
    for _ in range(5):
        y = y - a * np.tanh(y)
    return y


def two(x, y):
    return x * y, (x * x).sum()


def matrix(a, x):
    return a @ x + np.dot(x, x)


def view(x):
    return x[::-1]


def whole(x):
    return x


def chained(fs, x):
    return fs[0](x) * fs[1](x)


def squared(x):
    return x * x


class Scaled:
    factor = 1.5

    def __init__(self, scale):
        self.scale = scale

    def rate(self, t, y):
        return self.scale * y * self.factor + t

    @property
    def doubled(self):
        return 2.0 * self.scale


class Model(Scaled):
    def __init__(self, scale, weights, order, inner=None):
        super().__init__(scale)
        self.weights, self.order, self.name = weights, order, "model"
        self.inner, self.kept = inner, object()
        self.pair = (scale, {"k": weights})

    def rate(self, t, y):
        found = super().rate(t, y) + self.weights**self.order
        return found * self.doubled + self.pair[0] * self.pair[1]["k"]

    def __call__(self, y):
        return self.rate(0.5, y) if self.inner is None else self.inner.rate(0.5, y) * y


@dataclasses.dataclass(frozen=True)
class Frozen:
    scale: float
    weights: Any

    def rate(self, t, y):
        return self.scale * y * self.weights


def holding(model):
    return lambda y: model.rate(0.0, y) * model.doubled


V, U = np.array([0.4, 1.3]), np.array([1.1, -0.6])
A = np.array([[1.0, 0.5], [0.25, 2.0]])
FOUR = (1.5, 1.0, 3.0, 0.5)

# By name: the function, its arguments, and a cotangent.
PROGRAMS = {
    "a system": (lotka, (0.5, V, *FOUR), U),
    "a system of a solver": (handed, (lotka, FOUR, 0.5, V), U),
    "a list made an array": (handed, (as_list, (2.0, 3.0), 0.5, V), U),
    "captured numbers": (oscillator(2.0, 0.1), (0.5, V), U),
    "captured numbers, handed": (handed, (oscillator(2.0, 0.1), (), 0.5, V), U),
    "a captured array": (lambda x: (x * WEIGHTS + A[0]).sum(), (V,), 1.5),
    "a captured function": (nested(2.0, WEIGHTS), (V,), 1.5),
    "a function of a function": (of_function(squared, 1.5), (0.7,), 2.0),
    "functions in functions": (of_function(of_function(np.sin, V), 2.0), (V,), U),
    "a captured whole number": (counted(3, 0.5), (1.2,), 1.0),
    "a captured text": (labelled("sine", 1.5), (V,), U),
    "another text": (labelled("cosine", 1.5), (V,), U),
    "captured functions of math": (imported(0.5), (0.8,), 1.0),
    "captured containers": (of_row((2.0, V), {"k": 0.5}), (V,), U),
    "default values": (with_default, (V,), U),
    "default values beside captures": (captured_default(1.5), (V,), U),
    "globals": (of_globals, (V,), U),
    "a branch": (of_branch, (2.0, 0.5), 1.0),
    "the other branch": (of_branch, (0.5, 2.0), 1.0),
    "a loop": (of_loop, (V, 0.3), U),
    "two results": (two, (V, U), (U, 0.5)),
    "a matrix": (matrix, (A, V), U),
    "a view": (view, (V,), U),
    "its argument": (whole, (V,), U),
    "a constant beside": (lambda x, n: x**n, (V, 2), U),
    "nothing": (lambda x, n: x if n is None else x * n, (V, None), U),
    "a row": (lambda xs, k: xs[0] * xs[1][0] * k, ((V, [2.0, 1]), 3.0), U),
    "a dict": (lambda d: d["a"] * d["b"] + d["a"], ({"a": V, "b": 2.0},), U),
    "two functions": (chained, ((squared, of_function(squared, 1.5)), 0.7), 1.0),
    "functions of math": (lambda x: math.exp(-x) * math.sqrt(x), (0.9,), 1.0),
    "a method": (Scaled(2.0).rate, (0.5, V), U),
    "a method, handed": (handed, (Scaled(2.0).rate, (), 0.5, V), U),
    "a method of a subclass": (Model(2.0, U, 2).rate, (0.5, V), U),
    "an instance": (Model(2.0, U, 2), (V,), U),
    "an instance in an instance": (Model(2.0, U, 2, Scaled(3.0)), (V,), U),
    "a captured instance": (holding(Model(2.0, U, 2)), (V,), U),
    "an instance among arguments": (lambda m, y: m.rate(0.0, y), (Scaled(2.0), V), U),
    "a frozen instance": (Frozen(2.0, U).rate, (0.5, V), U),
    "star arguments": (lambda *xs: xs[0] * xs[1] + xs[2], (V, 2.0, U), U),
}
