"""Programs of one number, each with another feature of the language or front door."""

import functools
from dataclasses import dataclass, field

import numpy as np

from rules_autodiff import (
    Const,
    grad,
    hessian,
    hvp,
    jacfwd,
    jacrev,
    linearize,
    stop_gradient,
    value_and_grad,
    vjp,
)

__all__ = ["PROGRAMS"]


def writes(t):
    x = np.array([t, 2 * t, t * t])
    y = x[1:]
    y *= x[:-1]
    x[0] += y.sum()
    x[[0, 2]] = np.sin(x[[2, 0]])
    return x @ x


def views(t):
    a = np.zeros((3, 2))
    a[:, 0] = t
    a.T[1] = np.cos(t)
    b = a.reshape(-1)
    b[::2] *= t
    return (a * a * a).sum()


def closure_state(t):
    total = 0.0

    def add(v):
        nonlocal total
        total += v * v * v

    for i in range(3):
        add(t * i)
    return total * t


def generator(t):
    def g(n):
        v = t
        for _i in range(n):
            r = yield v
            v = v * t + (0.0 if r is None else r)

    it = g(4)
    s = next(it)
    s += it.send(t * t)
    s += it.send(0.5)
    return s * s


def generator_expression(t):
    return sum(np.sin(t * k) for k in range(1, 4)) * np.exp(t)


def recursion(t):
    def r(n, x):
        return x if n == 0 else r(n - 1, x * np.sin(x) + t)

    return r(3, t)


def exceptions(t):
    s = 0.0
    for k in range(4):
        try:
            if k == 2:
                raise ValueError(t * k)  # noqa: TRY301  (caught here: what is tried)
            s += t**k
        except ValueError as e:
            s += e.args[0] ** 3
        finally:
            s *= t
    return s


class Acc:
    def __init__(self, v):
        self.v = v
        self.h = [v]

    def step(self, t):
        self.v = self.v * t + 1.0
        self.h.append(self.v)
        return self

    @property
    def norm(self):
        return sum(h * h for h in self.h)

    def __mul__(self, o):
        return Acc(self.v * o.v)


def objects(t):
    a = Acc(t)
    a.step(t).step(t * t)
    b = a * a
    return a.norm * b.v


@dataclass
class D:
    w: object
    b: list = field(default_factory=list)


def dataclasses(t):
    d = D({"k": t})
    d.b.append(t * t)
    d.w["k"] *= d.b[-1]
    d.w["z"] = np.array([t, 1.0])
    d.w["z"][1] = d.w["k"]
    return d.w["z"].prod() * d.b[0]


def linalg(t):
    A = np.array([[2.0, 0.3], [0.1, 3.0]]) * np.array([[t, 1.0], [1.0, t]])
    return np.linalg.solve(A, np.array([1.0, t])).sum() + np.linalg.slogdet(A)[1]


def selections(t):
    x = np.linspace(-1, 1, 5) * t
    return np.where(x > 0, x**3, np.sin(x)).sum() + np.maximum(x, 0.1).prod()


def dicts(t):
    d = {}
    for i in range(3):
        d.setdefault(i % 2, []).append(t ** (i + 1))
    return sum(a * b for a, b in zip(d[0], d[0][::-1], strict=False)) + d[1][0]


def while_loop(t):
    x = t
    n = 0
    while abs(x) < 5 and n < 20:
        x = x * x + t
        n += 1
    return x


def out_arguments(t):
    x = np.array([t, t * t])
    o = np.empty(2)
    np.multiply(x, x, out=o)
    np.add.at(o, [0, 0, 1], t)
    np.sin(o, out=o)
    return o.sum()


def inner_grad(t):
    g = grad(lambda u: np.sin(u) * t * u)(t)
    return g * t


def inner_hessian(t):
    x = np.array([t, t * t])
    H = hessian(lambda v: (v @ v) * v[0] * t)(x)
    return np.sum(H * H)


def inner_vjp(t):
    y, pb = vjp(lambda a, b: (a * b, [np.sin(a)]), t, t * t)
    da, db = pb((t, [2.0]))
    da2, _ = pb((1.0, [t]))
    return da * db + da2 * y[0]


def inner_linearize(t):
    y, f = linearize(lambda a: {"a": a**3, "b": np.array([a, t])}, t)
    r = f(t)
    return r["a"] * r["b"].sum() + f(1.0)["a"] * y["a"]


def inner_jacobians(t):
    x = np.array([t, 1.0])
    J = jacrev(lambda v: np.array([v[0] * v[1], np.sin(v[0]) * t]))(x)
    K = jacfwd(lambda v: np.outer(v, v * t))(x)
    return J.sum() * K.sum()


def inner_aux(t):
    (v, a), g = value_and_grad(lambda u: (u**3 * t, u * u), has_aux=True)(t)
    return v * a * g


def inner_const(t):
    _, pb = vjp(lambda a, b: a * a * b, t, Const(t))
    return pb(t)[0]


def inner_argnums(t):
    ga, gb = grad(lambda a, b, c: a * a * b + np.sin(b * c), (0, 1))(t, 2 * t, t * t)
    return ga * gb


def inner_writes(t):
    def f(x):
        x[1:] *= x[:-1]
        x[0] = x[-1] * t
        return x @ x

    x = np.array([t, 2.0, t])
    g = grad(f)(x)
    return g.sum() + x @ x


def inner_pullback_with_writes(t):
    def f(x):
        x *= t
        return x * x

    x = np.array([t, 2.0])
    y, pb = vjp(f, x)
    s = x.sum()
    r = pb(np.array([1.0, t]))[0]
    r2 = pb(y)[0]
    return s * r.sum() + r2.sum() * x.sum()


def inner_hvp(t):
    x = np.array([t, 1.0])
    return hvp(lambda v: np.sin(v[0] * v[1]) * t, (x,), (np.array([1.0, t]),)).sum()


def caches(t):
    @functools.lru_cache
    def f(n):
        return t if n == 0 else f(n - 1) * np.sin(t) + f(max(n - 2, 0))

    return f(4)


def stopped(t):
    return t**3 * stop_gradient(3.0) + t


def perturbations(t):
    return t * grad(lambda y: t * y * y)(grad(lambda z: z * t * z)(t))


def complex_numbers(t):
    z = np.exp(1j * t) * (t + 2j)
    return (z * z).real + abs(z) ** 2 * z.imag


def matrices(t):
    A = np.array([[t, 1.0], [0.5, t * t]])
    B = A @ A.T
    C = np.einsum("ij,jk,kl", A, B, A)
    return np.trace(C) + np.linalg.det(A)


def sorting(t):
    x = np.array([t, -t, t * t, 0.3])
    x.sort()
    return (x * np.arange(4.0)).sum() ** 2


def windows(t):
    x = np.arange(6.0) * t
    w = np.lib.stride_tricks.sliding_window_view(x, 3)
    return (w * w * w).sum()


def star_arguments(t):
    def f(*a, k=1.0, **kw):
        return sum(a) * k * kw["z"]

    return f(*[t, t * t], k=t, z=np.cos(t))


def walrus(t):
    return (y := t * t) * y + [z for k in range(3) if (z := k * t)][-1] ** 3


def partial_functions(t):
    f = functools.partial(lambda a, b: a**b, t)
    return f(b=3.0) + functools.reduce(lambda a, b: a * b + t, [t, 2.0, t])


PROGRAMS = [
    writes,
    views,
    closure_state,
    generator,
    generator_expression,
    recursion,
    exceptions,
    objects,
    dataclasses,
    linalg,
    selections,
    dicts,
    while_loop,
    out_arguments,
    inner_grad,
    inner_hessian,
    inner_vjp,
    inner_linearize,
    inner_jacobians,
    inner_aux,
    inner_const,
    inner_argnums,
    inner_writes,
    inner_pullback_with_writes,
    inner_hvp,
    caches,
    stopped,
    perturbations,
    complex_numbers,
    matrices,
    sorting,
    windows,
    star_arguments,
    walrus,
    partial_functions,
]
