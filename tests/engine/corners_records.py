"""The language at its corners: dataclasses, named tuples, enums, containers."""

# Programs use all of the language, also what one would not write.
# ruff: noqa: B905, C406, C408, FURB192
# ruff: noqa: RUF005, RUF015

import dataclasses
import enum
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    defaultdict,
    deque,
    namedtuple,
)

from tests.engine.corners_common import DP, TN


def dc_replace(x):
    d = dataclasses.replace(DP(1.0, x), x=x * 2)
    return d.x * d.y


def dc_asdict(x):
    return dataclasses.asdict(DP(x, x * 2))["y"] + dataclasses.astuple(DP(x, 1.0))[0]


def dc_fields(x):
    d = DP(x)
    return sum(getattr(d, f.name) for f in dataclasses.fields(d))


@dataclasses.dataclass(frozen=True, order=True)
class FD:
    v: float
    w: list = dataclasses.field(default_factory=list, compare=False)


def dc_order(x):
    return max(FD(x), FD(x * 2)).v + sorted([FD(3 * x), FD(x)])[0].v


def dc_eq(x):
    return x * 2 if FD(x) == FD(x) else x


def dc_hash(x):
    d = {FD(x): x * 2}
    return d[FD(x)]


@dataclasses.dataclass(slots=True)
class SD:
    v: float


def dc_slots(x):
    s = SD(x)
    s.v *= 3
    return s.v


NT = namedtuple("NT", "a b", defaults=[2.0])


def nt(x):
    n = NT(x)
    n = n._replace(b=x * 3)
    return n.a * n.b + n._asdict()["a"] + NT._make([x, x])[1] + NT(a=x).a


def tn(x):
    return TN(x, x).s()


class Col(enum.Enum):
    A = 1.0
    B = 2.0

    def scale(self, x):
        return self.value * x


def enum_program(x):
    return Col.B.scale(x) + Col(1.0).value * x


class IE(float, enum.Enum):
    H = 0.5


def fenum(x):
    return IE.H * x


class L(list):
    def __getitem__(self, i):
        return list.__getitem__(self, i) * 2

    def append(self, v):
        super().append(v * 3)


def list_sub(x):
    l = L([x])
    l.append(x)
    return l[0] * l[1]


class T(tuple):
    def __new__(cls, *a):
        return tuple.__new__(cls, a)


def tuple_sub(x):
    return T(x, x * 2)[1]


class D(dict):
    def __missing__(self, k):
        return k * 2

    def __setitem__(self, k, v):
        super().__setitem__(k, v * 2)


def dict_sub(x):
    d = D()
    d["a"] = x
    return d["a"] + d[x]


def slice_assign(x):
    l = [1.0, 2.0, 3.0]
    l[1:] = [x, x * 2]
    l[::2] = [x * 3, 4.0]
    return l[0] * l[1]


def list_ops(x):
    l = [x] * 3
    l += [x * 2]
    l.insert(0, x * 4)
    l.extend(v for v in [x])
    l.reverse()
    l.remove(2 * x)
    del l[0]
    return sum(l) * l.pop() * l.index(x) + sum(l)


def list_mul(x):
    return sum(2 * [x])


def deque_program(x):
    d = deque([x, x * 2], maxlen=2)
    d.append(x * 3)
    d.rotate(1)
    d.appendleft(x * 5)
    return d[0] * d[1]


def counter(x):
    c = Counter()
    c["a"] += x
    c.update(a=x)
    return c["a"]


def counter2(x):
    c = Counter(a=x)
    d = Counter(a=x * 2)
    return (c + d)["a"] + c.total() + sum(c.values())


def counter_mc(x):
    return Counter(a=x, b=2 * x).most_common(1)[0][1]


def defaultdict_program(x):
    d = defaultdict(float)
    d["a"] += x
    e = defaultdict(lambda: x * 2)
    return d["a"] * e["q"]


def ordered(x):
    d = OrderedDict(a=x, b=x * 2)
    d.move_to_end("a")
    return list(d.values())[0]


def chainmap(x):
    return ChainMap({"a": x}, {"b": x * 2})["b"]


def userdict(x):
    d = UserDict(a=x)
    d["b"] = x * 2
    return d["b"] * d["a"]


def userlist(x):
    l = UserList([x])
    l.append(x * 2)
    return l[1] + (l + [x])[2]


def dict_union(x):
    return ({"a": 1.0} | {"a": x})["a"]


def dict_comp(x):
    return sum({k: v * x for k, v in {"a": 1.0, "b": 2.0}.items()}.values())


def dict_views(x):
    d = {"a": x, "b": 2 * x}
    return (
        sum(d.values())
        + sum(v for k, v in d.items())
        + dict(zip("ab", [x, x]))["b"]
        + dict(a=x)["a"]
        + dict([("q", x)])["q"]
    )


def dict_methods(x):
    d = {"a": x}
    d.update({"b": x * 2}, c=x)
    d.setdefault("e", x * x)
    a = d.pop("b")
    _k, v = d.popitem()
    return a * v * d.get("z", x)


def dict_fromkeys(x):
    return sum(dict.fromkeys("ab", x).values())


class SuperDict(dict):
    def __setitem__(self, k, v):
        super().__setitem__(k, v * 2)

    def __getitem__(self, k):
        return super().__getitem__(k) * 3

    def __contains__(self, k):
        return super().__contains__(k)

    def get(self, k, d=None):
        return super().get(k, d)

    def update(self, *a, **k):
        super().update(*a, **k)

    def __delitem__(self, k):
        super().__delitem__(k)


OUT = SuperDict(a=1.0)


def super_setitem(x):
    d = SuperDict()
    d["a"] = x
    return d["a"]


def super_setitem_outer(x):
    OUT["a"] = x
    r = OUT["a"]
    OUT.update(a=1.0)
    return r


class SuperList(list):
    def __setitem__(self, i, v):
        list.__setitem__(self, i, v * 2)

    def __iter__(self):
        return (v * 2 for v in super().__iter__())

    def __iadd__(self, o):
        super().extend(o)
        return self


OL = SuperList([1.0])


def super_list(x):
    OL[0] = x
    r = sum(OL)
    OL[0] = 0.5
    return r


def super_list2(x):
    l = SuperList([x])
    l += [x * 2]
    return l[1] + sum(l)


PROGRAMS = [
    (dc_replace, (0.7,)),
    (dc_asdict, (0.7,)),
    (dc_fields, (0.7,)),
    (dc_order, (0.7,)),
    (dc_eq, (0.7,)),
    (dc_hash, (0.7,)),
    (dc_slots, (0.7,)),
    (nt, (0.7,)),
    (tn, (0.7,)),
    (enum_program, (0.7,)),
    (fenum, (0.7,)),
    (list_sub, (0.7,)),
    (tuple_sub, (0.7,)),
    (dict_sub, (0.7,)),
    (slice_assign, (0.7,)),
    (list_ops, (0.7,)),
    (list_mul, (0.7,)),
    (deque_program, (0.7,)),
    (counter, (0.7,)),
    (counter2, (0.7,)),
    (counter_mc, (0.7,)),
    (defaultdict_program, (0.7,)),
    (ordered, (0.7,)),
    (chainmap, (0.7,)),
    (userdict, (0.7,)),
    (userlist, (0.7,)),
    (dict_union, (0.7,)),
    (dict_comp, (0.7,)),
    (dict_views, (0.7,)),
    (dict_methods, (0.7,)),
    (dict_fromkeys, (0.7,)),
    (super_setitem, (0.7,)),
    (super_setitem_outer, (0.7,)),
    (super_list, (0.7,)),
    (super_list2, (0.7,)),
]
