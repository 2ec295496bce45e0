"""The language at its corners: attributes, descriptors, methods, protocols."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: B015, FURB171

import abc
import functools
import threading
import weakref

from tests.engine.corners_common import DP, Prop


class Slots:
    __slots__ = ("v", "w")

    def __init__(self, v):
        self.v = v


def slots(x):
    s = Slots(x)
    s.w = s.v * 2
    del s.v
    return s.w


def prop(x):
    p = Prop(x)
    p.v = x * x
    r = p.v
    del p.v
    return r + p.v


class Desc:
    def __set_name__(self, o, n):
        self.n = "_" + n

    def __get__(self, o, t=None):
        return self if o is None else getattr(o, self.n) * 2

    def __set__(self, o, v):
        setattr(o, self.n, v * 5)


class HD:
    d = Desc()


def desc(x):
    h = HD()
    h.d = x
    return h.d


class GA:
    def __getattr__(self, n):
        return self.__dict__["store"][n]

    def __setattr__(self, n, v):
        self.__dict__.setdefault("store", {})[n] = v * 2


def getattr_program(x):
    g = GA()
    g.a = x
    return g.a


class GAT:
    def __init__(self, v):
        object.__setattr__(self, "v", v)

    def __getattribute__(self, n):
        r = object.__getattribute__(self, n)
        return r * 2 if n == "v" else r


def getattribute(x):
    return GAT(x).v


def dunder_dict(x):
    d = DP(1.0)
    d.__dict__["x"] = x * 2
    return d.x


def vars_program(x):
    d = DP(x)
    return vars(d)["x"] * 3


def vars_update(x):
    d = DP(1.0)
    vars(d).update(x=x * 2)
    return d.x


def dict_assign(x):
    d = DP(1.0)
    d.__dict__ = {"x": x, "y": x * 2}
    return d.y


def setattr_program(x):
    d = DP(1.0)
    d.x = x * 2
    return d.x


def partialmethod(x):
    return PM(x).triple()


class PM:
    def __init__(self, v):
        self.v = v

    def times(self, k):
        return self.v * k

    triple = functools.partialmethod(times, 3)

    @functools.cached_property
    def cp(self):
        return self.v * self.v

    @staticmethod
    def st(a):
        return a * 2

    @classmethod
    def mk(cls, a):
        return cls(a * 2)

    @functools.singledispatchmethod
    def sd(self, a):
        return a

    @sd.register
    def _(self, a: float):
        return a * self.v


def cached_prop(x):
    p = PM(x)
    return p.cp * p.cp


def static_cls(x):
    return PM.st(x) * PM.mk(x).v


def singledispatch(x):
    return PM(x).sd(x)


def threadlocal(x):
    tl = threading.local()
    tl.v = x * 2
    return tl.v


def weakref_program(x):
    d = DP(x)
    r = weakref.ref(d)
    return r().x


class Call:
    def __call__(self, x, k=2):
        return x * k

    def __getitem__(self, k):
        return k * 2

    def __contains__(self, v):
        return v > 0

    def __len__(self):
        return 3

    def __bool__(self):
        return True

    def __matmul__(self, o):
        return o * 3

    def __rmatmul__(self, o):
        return o * 4

    def __invert__(self):
        return 2.0

    def __rsub__(self, o):
        return o * 7

    def __rpow__(self, o):
        return o * 3

    def __divmod__(self, o):
        return (o, o * 2)

    def __round__(self, n=None):
        return 3.0

    def __trunc__(self):
        return 1

    def __index__(self):
        return 2

    def __float__(self):
        return 0.5

    def __reversed__(self):
        return iter([1.0])

    def __iadd__(self, o):
        self.acc = o * 2
        return self

    def __format__(self, s):
        return "q"


def call_obj(x):
    c = Call()
    r = c(x) + c[x] + (c @ x) + (x @ c) + (x - c) + (x**c) + divmod(c, x)[1]
    c += x
    return r + c.acc + (1 if x in c else 0) * x


def eq_overload(x):
    return x * 2 if EqO(x) == EqO(x) else 0.0


class EqO:
    def __init__(self, v):
        self.v = v

    def __eq__(self, o):
        o.v = self.v * 3
        return True

    __hash__ = None  # type: ignore[assignment]  # how Python spells: no hash


def eq_side(x):
    a, b = EqO(x), EqO(x)
    a == b
    return b.v


def cmp_side(x):
    a, b = EqO(x), EqO(x)
    a in [b]
    return a.v + b.v


def super_program(x):
    return B2(x).go()


class B1:
    def __init__(self, v):
        self.v = v

    def go(self):
        return self.v * 2


class B2(B1):
    def __init__(self, v):
        super().__init__(v * 3)

    def go(self):
        return super().go() * B1.go(self)


def mro(x):
    return M3().f(x)


class M0:
    def f(self, x):
        return x


class M1(M0):
    def f(self, x):
        return super().f(x * 2)


class M2(M0):
    def f(self, x):
        return super().f(x * x)


class M3(M1, M2):
    pass


class ABCb(abc.ABC):
    @abc.abstractmethod
    def f(self, x): ...


class ABCc(ABCb):
    def f(self, x):
        return x * 3


def abc(x):
    return ABCc().f(x)


class SA:
    def __setattr__(self, n, v):
        super().__setattr__(n, v * 2)


def super_setattr(x):
    s = SA()
    s.a = x
    return s.a


S = SA()
S.a = 1.0


def super_setattr_outer(x):
    S.a = x
    r = S.a
    return r * x


PROGRAMS = [
    (slots, (0.7,)),
    (prop, (0.7,)),
    (desc, (0.7,)),
    (getattr_program, (0.7,)),
    (getattribute, (0.7,)),
    (dunder_dict, (0.7,)),
    (vars_program, (0.7,)),
    (vars_update, (0.7,)),
    (dict_assign, (0.7,)),
    (setattr_program, (0.7,)),
    (partialmethod, (0.7,)),
    (cached_prop, (0.7,)),
    (static_cls, (0.7,)),
    (singledispatch, (0.7,)),
    (threadlocal, (0.7,)),
    (weakref_program, (0.7,)),
    (call_obj, (0.7,)),
    (eq_overload, (0.7,)),
    (eq_side, (0.7,)),
    (cmp_side, (0.7,)),
    (super_program, (0.7,)),
    (mro, (0.7,)),
    (abc, (0.7,)),
    (super_setattr, (0.7,)),
    (super_setattr_outer, (0.7,)),
]
