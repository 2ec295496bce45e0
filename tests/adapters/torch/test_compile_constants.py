"""Arguments that are no tensors, in compiled and exported code: as in eager code."""

from __future__ import annotations

import dataclasses
import enum
import io
import math
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.func import grad, vmap

import rules_core as rc
from rules_core import NoTangent

# torch's own compiler stack warns about itself.
pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.usefixtures("fresh"),
]
X = torch.tensor([0.3, 0.7], dtype=torch.float64)


class Mode(enum.Enum):
    SIN = 1
    COS = 2


class Level(enum.IntEnum):
    LOW = 2
    HIGH = 3


class Bits(enum.Flag):
    A = 1
    B = 2


class Sentinel:
    pass


class Option:
    def __init__(self, name: str, factor: float) -> None:
        self.name, self.factor = name, factor


@dataclasses.dataclass(frozen=True)
class Frozen:
    n: Any
    mode: Any = None


@dataclasses.dataclass
class Mutable:
    n: Any


class Pair(NamedTuple):
    n: Any
    m: Any


MISSING, DEFAULT, PLAIN = Sentinel(), Option("a", 2.0), object()


def weight(value: Any) -> float:
    """A number for each value; what Python can tell apart has another one."""
    for number, known in enumerate((MISSING, DEFAULT, PLAIN, Mode.SIN, Mode.COS)):
        if value is known:
            return 0.5 + number
    if dataclasses.is_dataclass(value) or isinstance(value, (Option, Sentinel)):
        kind = (Sentinel, Option, Frozen, Mutable).index(type(value))
        return 0.1 * kind + sum(2.5 * weight(part) for part in vars(value).values())
    if isinstance(value, dict):
        return sum(3 * weight(k) + 1.25 * weight(v) for k, v in value.items())
    if isinstance(value, (tuple, list)):
        named = 0.3 * hasattr(value, "_fields") + 0.2 * isinstance(value, list)
        return named + sum((i + 1) * weight(v) for i, v in enumerate(value))
    return atom(value)


def atom(value: Any) -> float:
    if isinstance(value, slice):
        return weight((value.start, value.stop, value.step)) + 0.7
    if value is None or isinstance(value, (str, bytes, torch.dtype, type, range)):
        return float(sum(map(ord, repr(value))) % 101)
    if isinstance(value, enum.Flag):
        return 70.0 + value.value
    kinds = (bool, int, float, complex, Level, np.float64, np.int64)
    sign = math.copysign(0.25, value) if isinstance(value, float) else 0.0
    size = abs(value) if value == value else 9.0  # noqa: PLR0124 (NaN)
    return 10.0 * kinds.index(type(value)) + float(size) + sign


@rc.primitive
def weighed(x, value):
    """`x` times the weight of a value, with three times the derivative."""
    return x * weight(value)


@rc.rrule.define(weighed)
def weighed_rrule(x, value):
    factor = weight(value)
    return x * factor, lambda dy: (NoTangent(), 3 * factor * dy, NoTangent())


@rc.primitive(host=True)
def host_weighed(x, value):
    return np.asarray(x) * weight(value)


@rc.shape_rule.define(host_weighed)
def host_weighed_shape(x, value):
    return rc.ShapeDtype(x.shape, x.dtype)


@rc.rrule.define(host_weighed)
def host_weighed_rrule(x, value):
    def host_weighed_pullback(dy):
        return NoTangent(), 3 * host_weighed(dy, value), NoTangent()

    return host_weighed(x, value), host_weighed_pullback


FAMILIES: dict[str, tuple[Any, ...]] = {
    "int": (2, 3, 5, 7),
    "float": (2.0, 3.5, -1.5, float("inf")),
    "kinds of two": (2, 2.0, Level.LOW, 2 + 0j),
    "kinds of one": (1, 1.0, True),
    "nan": (float("nan"), float("nan"), 1.0),
    "bool": (True, False),
    "None": (None, 0, False),
    "text": ("a", "b", b"a"),
    "enum": (Mode.SIN, Mode.COS),
    "enum with numbers": (Level.LOW, Level.HIGH, 2, 3),
    "flag": (Bits.A, Bits.A | Bits.B),
    "sentinel": (MISSING, Sentinel(), MISSING),
    "instance": (DEFAULT, Option("a", 2.0), Option("a", 3.0), DEFAULT),
    "tuple": ((1, 2), (1, 2.0), (True, 2), (1, (2,))),
    "list": ([1, 2], (1, 2)),
    "dict": ({"a": 1}, {"a": 1.0}, {"b": 1}, {1: 1}, {1.0: 1}, {Mode.SIN: 1}),
    "dataclass": (
        Frozen(1),
        Frozen(1.0),
        Frozen(True),
        Frozen(1, Mode.SIN),
        Mutable(1),
    ),
    "nested": (Frozen((1, {"a": MISSING})), Frozen((1.0, {"a": MISSING}))),
    "named tuple": (Pair(1, 2), Pair(1, 2.0), (1, 2)),
    "dtype": (torch.float32, torch.int64),
    "class": (int, float),
    "slice": (slice(1, 2), slice(True, 2), slice(None, 3)),
    "range": (range(2), range(3)),
}


def gradient(f):
    x = X.clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y.sum(), x)[0]


def assert_same(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other)


CASES = [(weighed, family) for family in FAMILIES] + [
    (host_weighed, family)
    for family in ("int", "float", "kinds of two", "enum", "instance", "nested")
]


@pytest.mark.covering(every=11, start=0)
@pytest.mark.parametrize(("f", "family"), CASES)
def test_values_from_outside_one_after_another(compiled, f, family):
    """Each call as in eager code, also where a graph for an equal value exists."""
    fast = compiled(lambda x, value: f(x, value))
    for value in FAMILIES[family]:
        assert_same(
            gradient(lambda x, v=value: fast(x, v)),
            gradient(lambda x, v=value: f(x, v)),
        )


@pytest.mark.covering(every=17, start=5)
@pytest.mark.parametrize(("f", "family"), CASES)
def test_values_in_one_graph(compiled, f, family):
    values = FAMILIES[family]

    def total(x):
        return torch.stack([f(x, value) for value in values])

    assert_same(gradient(compiled(total)), gradient(total))


def test_signed_zeros_in_one_graph(compiled):
    def both(x):
        return torch.stack([weighed(x, 0.0), weighed(x, -0.0), weighed(x, 0)])

    assert_same(gradient(compiled(both)), gradient(both))


def test_a_bare_object_is_refused_in_words():
    fast = torch.compile(
        lambda x: weighed(x, PLAIN), fullgraph=True, backend="aot_eager"
    )
    with pytest.raises(Exception, match=r"weighed is given a bare object\(\)"):
        fast(X)
    torch.compiler.reset()
    fast = torch.compile(lambda x: weighed(x, PLAIN), backend="aot_eager")
    assert_same(gradient(fast), gradient(lambda x: weighed(x, PLAIN)))


def test_an_object_that_the_compiled_function_changes(compiled):
    """A compiler has not changed it yet when the primitive runs."""
    option = Option("b", 2.0)

    def f(x):
        option.factor = option.factor + 1
        return weighed(x, option)

    fast = torch.compile(f, backend="aot_eager")
    for _ in range(2):
        option.factor = 2.0
        expected = gradient(f)
        option.factor = 2.0
        assert_same(gradient(fast), expected)


@rc.primitive
def times(x, n):
    """`n x`, with ten times the derivative."""
    return x * n


@rc.rrule.define(times)
def times_rrule(x, n):
    project = rc.ProjectTo(x)

    def times_pullback(dy):
        return NoTangent(), project(10 * dy * n), NoTangent()

    return x * n, times_pullback


@rc.primitive(host=True)
def host_times(x, n):
    return np.asarray(x) * n


@rc.shape_rule.define(host_times)
def host_times_shape(x, n):
    return rc.ShapeDtype(x.shape, x.dtype)


@rc.rrule.define(host_times)
def host_times_rrule(x, n):
    def host_times_pullback(dy):
        return NoTangent(), 10 * host_times(dy, n), NoTangent()

    return host_times(x, n), host_times_pullback


@rc.primitive
def typed(x, n):
    return x * n if isinstance(n, int) else -x


@rc.rrule.define(typed)
def typed_rrule(x: rc.Array, n: int):
    return typed(x, n), lambda dy: (NoTangent(), 10 * dy * n, NoTangent())


SIZES = {
    "size": lambda x: x.shape[0],
    "shape": lambda x: len(x.shape) + x.shape[-1],
    "arithmetic": lambda x: 2 * x.shape[0] + 1,
    "quotient": lambda x: x.shape[0] / 2,
    "comparison": lambda x: x.shape[0] > 4,
    "number of elements": lambda x: x.numel(),
}


def rising(n):
    return torch.arange(1.0, n + 1, dtype=torch.float64)


def total_gradient(f, x):
    x = x.clone().requires_grad_()
    y = f(x)
    return y.detach(), torch.autograd.grad(y.sum(), x)[0]


@pytest.mark.covering(every=11)
@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("f", [times, host_times], ids=["generic", "host"])
def test_sizes_as_arguments(compiled, f, size, dynamic):
    def program(x):
        return f(x, SIZES[size](x))

    fast = compiled(program, dynamic=dynamic)
    for n in (3, 4, 5, 7):
        assert_same(total_gradient(fast, rising(n)), total_gradient(program, rising(n)))


def test_a_size_is_no_reason_to_compile_again():
    graphs = []

    def backend(module, _inputs):
        graphs.append(module)
        return module.forward

    fast = torch.compile(
        lambda x, k: times(x, x.shape[0]) + times(x, k), backend=backend, dynamic=True
    )
    for n in (3, 4, 5, 7):
        torch.testing.assert_close(fast(rising(n), n + 2), rising(n) * (2 * n + 2))
    assert len(graphs) == 1


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("transform", ["grad", "vmap(grad)"])
@pytest.mark.parametrize("f", [times, host_times], ids=["generic", "host"])
def test_numbers_under_transforms(compiled, f, transform):
    def program(x, k):
        if transform == "grad":
            return grad(lambda x: f(x, k).sum())(x)
        return vmap(lambda x: grad(lambda u: f(u, k).sum())(x))(x[:, None])

    fast = compiled(program)
    for n in (2, 3, 5, 2.5, 3.5, 4.5):
        torch.testing.assert_close(fast(rising(3), n), program(rising(3), n))


@rc.primitive
def annotated(x, n):
    return x * n


@rc.rrule.define(annotated)
def annotated_rrule(x: rc.Array, n: rc.Array | float):
    return annotated(x, n), lambda dy: (NoTangent(), 10 * dy * n, rc.ZeroTangent())


@pytest.mark.covering(every=2)
@pytest.mark.parametrize("f", [typed, annotated])
def test_code_that_asks_for_types_is_given_an_int(compiled, f):
    fast = compiled(lambda x, n: f(x, n))
    for n in (2, 3, 4):
        ours = total_gradient(lambda x, n=n: fast(x, n), X)
        assert_same(ours, (X * n, torch.full_like(X, 10.0 * n)))


@rc.primitive
def sized(x):
    """Results that are no tensors."""
    return {"y": x * 2, "n": x.shape[0], "m": (Mode.COS, MISSING, x.shape[0] + 0.5)}


def test_results_that_are_no_tensors(compiled):
    fast = compiled(lambda x: sized(x))
    for n in (3, 4, 5, 7):
        found, expected = fast(rising(n)), sized(rising(n))
        torch.testing.assert_close(found.pop("y"), expected.pop("y"))
        assert found == expected
        assert [type(v) for v in (found["n"], *found["m"])] == [
            int, Mode, Sentinel, float
        ]  # fmt: skip


class Sized(torch.nn.Module):
    def __init__(self, f, size):
        super().__init__()
        self.f, self.size = f, size

    def forward(self, x):
        return self.f(x, self.size(x))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("size", ["size", "arithmetic", "number of elements"])
@pytest.mark.parametrize("f", [times, host_times], ids=["generic", "host"])
def test_sizes_in_an_exported_program(f, size, strict):
    module = Sized(f, SIZES[size])
    shapes = ({0: torch.export.Dim("n", min=2)},)
    program = torch.export.export(
        module, (rising(5),), dynamic_shapes=shapes, strict=strict
    )
    buffer = io.BytesIO()
    torch.export.save(program, buffer)
    buffer.seek(0)
    for exported in (program.module(), torch.export.load(buffer).module()):
        for n in (5, 7, 2):
            ours = total_gradient(exported, rising(n))
            assert_same(ours, total_gradient(module, rising(n)))


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("family", FAMILIES)
def test_constants_in_an_exported_program(family):
    for value in FAMILIES[family]:
        module = Sized(weighed, lambda x, value=value: value)
        exported = torch.export.export(module, (X,), strict=False).module()
        assert_same(gradient(exported), gradient(module))
