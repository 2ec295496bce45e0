"""The language at its corners: operators as functions and as methods."""

# Programs use all of the language, also what one would not write.

import operator
import types

import numpy as np

from tests.engine.corners_common import DP, TN, Prop, X


def attrgetter(x):
    return operator.attrgetter("x")(DP(x)) * operator.attrgetter("x", "y")(DP(x, x))[1]


def attrgetter_nested(x):
    o = types.SimpleNamespace(a=DP(x))
    return operator.attrgetter("a.x")(o)


def attrgetter_prop(x):
    return operator.attrgetter("v")(Prop(x))


def methodcaller(x):
    return operator.methodcaller("s")(TN(x, x))


def methodcaller2(x):
    return operator.methodcaller("pop", 0)([x * 2, 1])


def itemgetter(x):
    return operator.itemgetter(0, 2)([x, 1, x * 3])[1]


def operator_program(x):
    return (
        operator.add(x, operator.mul(x, x))
        - operator.truediv(x, 2.0)
        + operator.neg(x)
        + operator.pow(x, 3)
    )


def iop(x):
    return operator.iadd(x, x) * operator.imul(x, 2.0)


def op_call(x):
    return operator.call(lambda v: v * v, x) if hasattr(operator, "call") else x * x


def op_concat(x):
    return operator.concat([x], [x * 2])[1]


def op_length(x):
    return operator.countOf([x, x], x) * x + operator.indexOf([1.0, x], x)


def iconcat(x):
    l = [x]
    operator.iconcat(l, [x * 2])
    return l[1]


def rdivmod(x):
    return divmod(x, 0.3)[1]


def np_scalar(x):
    y = np.float64(x)
    return y * y + y.real + float(y) + y.item() + np.abs(y)


def np_scalar_meth(x):
    return (
        np.float64(x).clip(0, 0.5)
        + np.float64(x).round(3) * x
        + np.float64(x).sum()
        + np.float64(x).mean()
    )


def np_scalar_idx(x):
    return np.float64(x)[()] * 2 + np.float64(x)[...]


def np_scalar_astype(x):
    return (
        np.float64(x * 2).astype(float)
        + np.float64(x).T
        + np.float64(x).reshape(1)[0]
        + np.float64(x).conj()
        + np.float64(x).copy()
    )


def bound_ops(x):
    f = (x).__mul__
    g = np.float64(x).__add__
    return (
        f(2.0)
        + g(x)
        + x.__radd__(1.0)
        + x.__pow__(2)
        + x.__rpow__(2.0)
        + x.__neg__()
        + x.__divmod__(0.3)[1]
        + x.__round__(1) * x
        + x.__float__()
        + x.__pos__()
        + x.__abs__()
        + x.__truediv__(3.0)
        + x.__rtruediv__(3.0)
        + x.__mod__(0.3)
    )


def unbound_ops(x):
    return (
        float.__mul__(x, x)
        + float.__add__(x, 1.0)
        + float.__neg__(x)
        + float.__pow__(x, 2)
        + float.__rsub__(x, 1.0)
        + float.__abs__(x)
        + float.__rtruediv__(x, 2.0)
        + float.__divmod__(x, 0.3)[1]
        + float.__mod__(x, 0.3)
        + float.__rpow__(x, 2.0)
    )


def bound_inplace(x):
    y = x * 1.0
    y.__iadd__(x)
    y.__imul__(2.0)
    y.__setitem__(0, x[1])
    np.ndarray.__isub__(y, x * x)
    return y.__getitem__(0) * y.sum()


def unbound_inplace(x):
    y = x * 1.0
    np.ndarray.__iadd__(y, x)
    np.ndarray.__setitem__(y, 0, x[1])
    return np.ndarray.__getitem__(y, 0) * np.ndarray.sum(y)


def ufunc_call(x):
    return np.exp.__call__(x).sum() + np.multiply.__call__(x, x).sum()


def ufunc_getattr(x):
    return (
        np.add.reduce(x * x)
        + np.multiply.outer(x, x).sum()
        + np.add.accumulate(x)[2]
        + np.multiply.reduce(x)
    )


def ufunc_reduceat(x):
    return (np.add.reduceat(x * x, [0, 2]) * [1, 2]).sum()


def ufunc_at(x):
    y = x * 1.0
    np.multiply.at(y, [0, 0, 1], x[:3])
    return y.sum()


def ufunc_at2(x):
    y = x * 1.0
    np.maximum.at(y, [0, 1], x[2])
    np.negative.at(y, [0])
    np.divide.at(y, [1], 2.0)
    return y.sum()


def r_(x):
    return np.r_[x, 1.0, x[0]].sum() + np.c_[x, x].sum()


def meshgrid(x):
    a, b = np.meshgrid(x, x * 2)
    return (a * b).sum()


def random_shuffle(x):
    y = x * 1.0
    np.random.default_rng(0).shuffle(y)
    return (y * np.arange(4)).sum()


def random_out(x):
    y = x * 1.0
    np.random.default_rng(0).random(out=y)
    return (y * x).sum()


def iter_next(x):
    it = iter(x)
    next(it)
    return next(it) * 3


PROGRAMS = [
    (attrgetter, (0.7,)),
    (attrgetter_nested, (0.7,)),
    (attrgetter_prop, (0.7,)),
    (methodcaller, (0.7,)),
    (methodcaller2, (0.7,)),
    (itemgetter, (0.7,)),
    (operator_program, (0.7,)),
    (iop, (0.7,)),
    (op_call, (0.7,)),
    (op_concat, (0.7,)),
    (op_length, (0.7,)),
    (iconcat, (0.7,)),
    (rdivmod, (0.7,)),
    (np_scalar, (0.7,)),
    (np_scalar_meth, (0.7,)),
    (np_scalar_idx, (0.7,)),
    (np_scalar_astype, (0.7,)),
    (bound_ops, (0.7,)),
    (unbound_ops, (0.7,)),
    (bound_inplace, (X.copy(),)),
    (unbound_inplace, (X.copy(),)),
    (ufunc_call, (X.copy(),)),
    (ufunc_getattr, (X.copy(),)),
    (ufunc_reduceat, (X.copy(),)),
    (ufunc_at, (X.copy(),)),
    (ufunc_at2, (X.copy(),)),
    (r_, (X.copy(),)),
    (meshgrid, (X.copy(),)),
    (random_shuffle, (X.copy(),)),
    (random_out, (X.copy(),)),
    (iter_next, (X.copy(),)),
]
