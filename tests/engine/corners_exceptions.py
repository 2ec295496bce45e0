"""The language at its corners: generators, exceptions, context managers."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: TRY301

import contextlib
import sys
import types

import numpy as np

from tests.engine.corners_common import X


def gen(x):
    while True:
        r = yield x
        if r is not None:
            x = r


def gen_send(x):
    g = gen(x)
    a = next(g)
    b = g.send(x * 5)
    g.close()
    return a * b


def outer_gen():
    t = 0.0
    while True:
        v = yield t
        t = t + v * v


def gen_accum(x):
    g = outer_gen()
    next(g)
    g.send(x)
    return g.send(x * 2)


def yield_from(x):
    def a():
        r = yield from b()
        yield r

    def b():
        yield x * 2
        return x * x

    return sum(a())


class E(Exception):
    pass


def exc_value(x):
    try:
        raise E(x * 2, 1)
    except E as e:
        return e.args[0] * e.args[0]


def exc_attr(x):
    try:
        e = E()
        e.v = x * 2
        raise e
    except E as e2:
        return e2.v


def exc_cause(x):
    try:
        try:
            raise E(x)
        except E as e:
            raise ValueError(x * 3) from e
    except ValueError as v:
        return v.__cause__.args[0] * v.args[0]


def exc_group(x):
    try:
        raise ExceptionGroup("g", [E(x), E(x * 2)])
    except* E as eg:
        r = sum(e.args[0] for e in eg.exceptions)
    return r


def exc_with_tb(x):
    try:
        raise E(x).with_traceback(None)
    except E as e:
        return e.args[0]


def exc_args_set(x):
    e = E(1)
    e.args = (x,)
    return e.args[0]


def stopiter(x):
    def g():
        yield 1.0
        return x * 2

    it = g()
    next(it)
    try:
        next(it)
    except StopIteration as s:
        return s.value * 3


def keyerror(x):
    try:
        {}[x]
    except KeyError as k:
        return k.args[0] * 2


def sysexc(x):
    try:
        raise E(x)
    except E:
        return sys.exc_info()[1].args[0]


class CM:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self.v * 2

    def __exit__(self, t, v, tb):
        self.v = 0
        return t is E


def cm(x):
    with CM(x) as a, CM(a) as b:
        return a * b


def cm_supp(x):
    with CM(x) as a:
        raise E(a)
    return a * 3


def iter_sentinel(x):
    it = iter([x, 2 * x, 99.0])
    return sum(iter(lambda: next(it), 99.0))


def ctxlib_nullcontext(x):
    with contextlib.nullcontext(x * 2) as v:
        return v


def ctxlib_closing(x):
    class_ = Closer(x)
    with contextlib.closing(class_) as c:
        r = c.v
    return r * class_.v


class Closer:
    def __init__(self, v):
        self.v = v

    def close(self):
        self.v = self.v * 2


def exitstack(x):
    with contextlib.ExitStack() as s:
        a = s.enter_context(CM(x))
        l = []
        s.callback(l.append, a * 2)
    return l[0]


def suppress(x):
    y = x
    with contextlib.suppress(E):
        y = x * 2
        raise E
    return y


def try_ret(x):
    try:
        return x * 2
    finally:
        x = x * 5


def try_fin(x):
    for i in range(3):
        try:
            if i == 1:
                continue
            x = x * 2
        finally:
            x = x + 1
    return x


def yield_from_array(x):
    def g():
        yield from x

    return sum(v * v for v in g())


class It:
    def __init__(self, x):
        self.x = x
        self.i = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= len(self.x):
            raise StopIteration
        self.i += 1
        return self.x[self.i - 1] * 2


def yield_from_obj(x):
    def g():
        yield from It(x)

    return sum(v * v for v in g())


def inner(x):
    r = yield x[0]
    s = yield r * 2
    return s * x[1]


def yield_from_send(x):
    def g():
        q = yield from inner(x)
        yield q

    it = g()
    a = next(it)
    b = it.send(x[2])
    c = it.send(x[3] * 2)
    return a * b * c


class Fixed:
    __slots__ = ("a",)

    @property
    def p(self):
        return 1.0


def failed_writes(x):
    """Writes that raise change nothing, also backwards."""
    o, plain = Fixed(), types.SimpleNamespace(a=x)
    o.a = x
    for write in (
        lambda: setattr(o, "b", x),
        lambda: setattr(o, "p", x),
        lambda: setattr(x, "b", 3),
        lambda: setattr(None, "b", x),
        lambda: delattr(plain, "b"),
        lambda: delattr(o, "p"),
    ):
        try:
            write()
        except AttributeError:
            o.a = o.a * x
    return o.a + plain.a


def made_read_only(x):
    a = np.full(2, x)
    a[0] = x * x
    a.flags.writeable = False
    try:
        a[0] = 1.0
    except ValueError:
        return a[0] * a[1]
    return x


PROGRAMS = [
    (gen_send, (0.7,)),
    (gen_accum, (0.7,)),
    (yield_from, (0.7,)),
    (exc_value, (0.7,)),
    (exc_attr, (0.7,)),
    (exc_cause, (0.7,)),
    (exc_group, (0.7,)),
    (exc_with_tb, (0.7,)),
    (exc_args_set, (0.7,)),
    (stopiter, (0.7,)),
    (keyerror, (0.7,)),
    (sysexc, (0.7,)),
    (cm, (0.7,)),
    (cm_supp, (0.7,)),
    (iter_sentinel, (0.7,)),
    (ctxlib_nullcontext, (0.7,)),
    (ctxlib_closing, (0.7,)),
    (exitstack, (0.7,)),
    (suppress, (0.7,)),
    (try_ret, (0.7,)),
    (try_fin, (0.7,)),
    (yield_from_array, (X.copy(),)),
    (yield_from_obj, (X.copy(),)),
    (yield_from_send, (X.copy(),)),
    (failed_writes, (0.7,)),
    (made_read_only, (0.7,)),
]
