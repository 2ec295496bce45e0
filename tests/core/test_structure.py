"""One level of a container: entries, names, and how to build it again."""

import collections
import enum
import fractions
import functools
import logging
import types
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, Pullback, Tangent, backing
from rules_core._tangents.structure import field_names


class Point(NamedTuple):
    x: float
    y: float


@dataclass(frozen=True)
class Frozen:
    scale: float
    name: str = "frozen"
    shared: ClassVar[float] = 1.0

    def __post_init__(self):
        object.__setattr__(self, "double", 2 * self.scale)


@dataclass(frozen=True, slots=True)
class FrozenSlots:
    scale: float


@dataclass
class Plain:
    scale: float
    hidden: float = field(default=0.0, init=False)


class Instance:
    def __init__(self, w):
        self.w = w

    def method(self, x):
        return self.w * x


class Base:
    __slots__ = ("_private", "a")


class Slotted(Base):
    __slots__ = ("__own", "b", "unset")

    def __init__(self):
        self.a, self.b, self.__own = 1.0, 2.0, 3.0


class Refusing:
    """Takes no arguments and refuses its fields to be set."""

    def __init__(self):
        self.__dict__["w"] = 1.0

    def __setattr__(self, name, value):
        raise AttributeError(name)


class TwoTuple(tuple):
    __slots__ = ()


class Words(list):
    def __init__(self, *items):
        super().__init__(items)
        self.extra = "kept"


def structure(x: Any) -> Any:
    return rc.structure(x)


def entries(x):
    level = structure(x)
    return dict(zip(level.names, level.values, strict=True))


class TestSequences:
    @pytest.mark.parametrize("cls", [tuple, list, TwoTuple, collections.deque])
    def test_by_position(self, cls):
        level = structure(cls([1.0, "a"]))
        assert (level.primal, level.keyed, level.mutable) == (cls, "position", False)
        assert (level.names, level.values) == ((0, 1), (1.0, "a"))
        again = level.rebuild([2.0, "b"])
        assert type(again) is cls
        assert list(again) == [2.0, "b"]

    def test_deques_keep_their_length(self):
        again = structure(collections.deque([1.0], maxlen=3)).rebuild([2.0])
        assert again.maxlen == 3

    def test_subclasses_of_list_keep_what_else_they_hold(self):
        words = Words(1.0, 2.0)
        again = structure(words).rebuild([3.0, 4.0])
        assert (list(again), again.extra) == ([3.0, 4.0], "kept")
        assert list(words) == [1.0, 2.0]

    def test_named_tuples_have_fields(self):
        level = structure(Point(1.0, 2.0))
        assert (level.primal, level.keyed) == (Point, "field")
        assert level.names == ("x", "y")
        assert level.rebuild([3.0, 4.0]) == Point(3.0, 4.0)

    def test_structured_sequences_of_c(self):
        level = structure(np.linalg.slogdet(np.eye(2)))
        assert level.names == ("sign", "logabsdet")


class TestMappings:
    def test_dict(self):
        level = structure({"a": 1.0, 2: None})
        assert (level.primal, level.keyed, level.mutable) == (dict, "key", False)
        assert (level.names, level.values) == (("a", 2), (1.0, None))
        assert level.rebuild([3.0, 4.0]) == {"a": 3.0, 2: 4.0}

    def test_subclasses_stay_themselves(self):
        default = collections.defaultdict(list, a=1.0)
        again = structure(default).rebuild([2.0])
        assert type(again) is collections.defaultdict
        assert (again["a"], again["missing"]) == (2.0, [])
        ordered = collections.OrderedDict(a=1.0, b=2.0)
        assert structure(ordered).rebuild([3.0, 4.0]) == {"a": 3.0, "b": 4.0}

    def test_proxy(self):
        again = structure(types.MappingProxyType({"a": 1.0})).rebuild([2.0])
        assert type(again) is types.MappingProxyType
        assert again["a"] == 2.0


class TestClasses:
    def test_frozen_dataclass_is_a_value(self):
        x = Frozen(1.0)
        level = structure(x)
        assert (level.primal, level.keyed, level.mutable) == (Frozen, "field", False)
        assert entries(x) == {"scale": 1.0, "name": "frozen"}
        again = level.rebuild([3.0, "new"])
        assert (again, x) == (Frozen(3.0, "new"), Frozen(1.0))

    def test_constructors_are_not_called(self):
        again = structure(Frozen(1.0)).rebuild([3.0, "new"])
        assert again.double == 2.0
        assert structure(Refusing()).rebuild([5.0]).w == 5.0

    def test_frozen_dataclass_with_slots(self):
        assert structure(FrozenSlots(1.0)).rebuild([2.0]) == FrozenSlots(2.0)

    def test_dataclass_that_is_not_frozen_is_mutable(self):
        level = structure(Plain(1.0))
        assert level.mutable
        assert entries(Plain(1.0)) == {"scale": 1.0, "hidden": 0.0}
        assert level.rebuild([2.0, 3.0]).hidden == 3.0

    def test_instance(self):
        x = Instance(1.0)
        x.extra = "e"
        level = structure(x)
        assert (level.primal, level.keyed, level.mutable) == (Instance, "field", True)
        assert entries(x) == {"w": 1.0, "extra": "e"}
        again = level.rebuild([2.0, "f"])
        assert (again.w, again.extra, x.w) == (2.0, "f", 1.0)

    def test_slots(self):
        assert entries(Slotted()) == {"a": 1.0, "_Slotted__own": 3.0, "b": 2.0}
        again = structure(Slotted()).rebuild([4.0, 5.0, 6.0])
        assert (again.a, again.b, again._Slotted__own) == (4.0, 6.0, 5.0)

    def test_namespace(self):
        again = structure(types.SimpleNamespace(a=1.0)).rebuild([2.0])
        assert again == types.SimpleNamespace(a=2.0)

    def test_shell_and_fill_make_a_copy_in_two_steps(self):
        x = Instance(1.0)
        level = structure(x)
        shell = level.shell()
        assert level.fill(shell, [2.0]) is shell
        assert (shell.w, x.w) == (2.0, 1.0)

    def test_an_object_may_describe_itself(self):
        tangent = Tangent(Point, x=1.0)
        assert entries(tangent) == {"x": 1.0}
        assert structure(tangent).rebuild([2.0]) == Tangent(Point, x=2.0)

    def test_field_names(self):
        assert field_names(Point) == ("x", "y")
        assert field_names(Frozen) == ("scale", "name")
        assert field_names(Instance) is field_names(tuple) is None


class TestFunctions:
    def test_a_function_holds_what_it_captures(self):
        w, b = np.ones(2), 1.0

        def affine(x, scale=2.0, *, shift=3.0):
            return w * x * scale + b + shift

        affine.note = "kept"
        level = structure(affine)
        assert (level.primal, level.mutable) == (types.FunctionType, False)
        assert entries(affine) == {"b": b, "w": w}
        again = level.rebuild([0.0, 10 * w])
        assert again(1.0).tolist() == [23.0, 23.0]
        assert affine(1.0).tolist() == [6.0, 6.0]
        assert (again.__name__, again.note) == ("affine", "kept")

    def test_a_function_that_captures_nothing_is_a_leaf(self):
        assert structure(entries) is None

    def test_cells_that_are_not_filled_are_left_out(self):
        def use():
            return later

        assert structure(use) is None
        later = 2.0
        assert entries(use) == {"later": 2.0}

    def test_bound_methods_hold_their_instance(self):
        method = Instance(2.0).method
        level = structure(method)
        assert level.names == ("__self__",)
        assert level.rebuild([Instance(3.0)])(5.0) == 15.0

    def test_methods_of_c_hold_their_instance(self):
        x = np.array([1.0, 2.0])
        level = structure(x.sum)
        assert level.values[0] is x
        assert level.rebuild([2 * x])() == 6.0

    def test_builtins_are_leaves(self):
        assert structure(len) is structure(dict.fromkeys) is structure(np.sin) is None

    def test_partial(self):
        partial = functools.partial(pow, 2.0, mod=None)
        level = structure(partial)
        names = {"func": pow, "args": (2.0,), "keywords": {"mod": None}}
        assert entries(partial) == names
        assert level.rebuild([pow, (3.0,), {}])(2) == 9.0

    def test_pullback(self):
        pullback = Pullback(entries, 1.0, "static")
        level = structure(pullback)
        assert (level.primal, level.mutable) == (Pullback, False)
        assert level.values == (1.0, "static")
        again = level.rebuild([2.0, "static"])
        assert (again.fn, again.residuals) == (entries, (2.0, "static"))


class Colour(enum.Enum):
    RED = 1.5


class WithField(Exception):
    def __init__(self):
        self.value = 1.0


LEAVES = [
    1,
    True,
    1.5,
    2j,
    "a",
    b"a",
    None,
    int,
    Point,
    slice(1.0),
    range(3),
    ...,
    {1.0},
    frozenset({1.0}),
    np.ones(2),
    np.float64(1.0),
    np.dtype("f8"),
    np,
    np.random.default_rng(0),
    Colour.RED,
    WithField(),
    fractions.Fraction(1, 2),
    logging.getLogger("x"),
    (x for x in [1.0]),
    object(),
    iter([1.0]),
    memoryview(b"a"),
    NotImplemented,
]


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("x", LEAVES, ids=lambda x: type(x).__name__ + repr(x)[:9])
def test_leaves(x):
    assert structure(x) is None


def test_arrays_of_every_library_are_leaves(backend):
    assert structure(backend.array([1.0, 2.0])) is None


def test_array_subclasses_are_leaves():
    assert structure(np.ma.masked_array([1.0, 2.0])) is None


def test_sparse_matrices_contain_their_numbers():
    sparse = pytest.importorskip("scipy.sparse")
    x = sparse.csr_array(np.eye(2))
    level = structure(x)
    assert (level.names, level.values[0] is x.data) == (("data",), True)
    assert level.rebuild([np.ones(2) * 3]).diagonal().tolist() == [3.0, 3.0]
    assert x.data.tolist() == [1.0, 1.0]
    assert structure(sparse.lil_array(np.eye(2))) is None
    assert structure(sparse.csr_array(np.eye(2, dtype=int))) is None


def test_traced_arrays_are_leaves():
    jax = pytest.importorskip("jax")
    jax.make_jaxpr(lambda x: [x][structure(x) is not None :][0])(1.0)
    assert structure(jax.random.key(0)) is None


class TestPaths:
    @pytest.mark.parametrize(
        ("x", "paths"),
        [
            ((1.0, 2.0), ["x[0]", "x[1]"]),
            ({"w": 1.0, 3: 2.0}, ["x['w']", "x[3]"]),
            (Point(1.0, 2.0), ["x.x", "x.y"]),
        ],
    )
    def test_are_spelt_as_in_python(self, x, paths):
        assert list(structure(x).paths("x")) == paths


def test_tangents_have_the_names_of_their_primals():
    assert backing(Tangent(Point, 1.0, 2.0)) == {"x": 1.0, "y": 2.0}
    assert NoTangent() is structure((NoTangent(),)).values[0]


def test_counters_are_rebuilt_with_the_values_given():
    """Their own `update` would add them to the counts."""
    level = rc.structure(collections.Counter(a=1.0, b=2.0))
    assert level.rebuild([3.0, 4.0]) == collections.Counter(a=3.0, b=4.0)


def test_results_of_scipys_statistics_are_rebuilt_with_their_further_fields():
    stats = pytest.importorskip("scipy.stats")
    line = stats.linregress([0.0, 1.0, 2.0], [0.0, 1.0, 3.0])
    level = rc.structure(line)
    made = level.rebuild([2.0 * x for x in level.values])
    assert (type(made), made.slope) == (type(line), 3.0)
    assert made.intercept_stderr == line.intercept_stderr
