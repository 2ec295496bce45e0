"""Everything that can be called can be tested: methods, classes, partials, ufuncs."""

import inspect
from collections import namedtuple
from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest

import rules_core as rc
from rules_core import MutableTangent, NoTangent, frule, rrule
from rules_core.testing import CheckFailed, check_rrule, check_rule, isolated_rules

VECTOR = np.array([0.5, -1.25, 2.0])


class Line:
    def __init__(self, slope):
        self.slope = slope

    def at(self, x):
        return self.slope * x

    def __call__(self, x):
        return self.slope * x

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def cube(cls, x):
        return x**3


@pytest.mark.parametrize("factor", [1.0, 2.0])
@pytest.mark.parametrize(
    ("key", "subject"),
    [(Line.at, Line(3.0).at), (Line.__call__, Line(3.0))],
    ids=["bound", "instance"],
)
def test_methods_and_instances_with_the_instance_as_an_argument(key, subject, factor):
    @rrule.define(key)
    def at_rrule(line, x):
        def at_pullback(dy):
            return MutableTangent(Line, slope=float(x @ dy)), factor * line.slope * dy

        return line.slope * x, at_pullback

    if factor == 1.0:
        assert check_rrule(subject, VECTOR)["rrule.derivative"].status == "passed"
    else:
        with pytest.raises(CheckFailed, match=r"failed +rrule.derivative .*∂x"):
            check_rrule(subject, VECTOR)


def test_static_and_class_methods():
    rrule.define(Line.square)(
        lambda x: (x * x, lambda dy: (NoTangent(), 2 * x * dy)),
    )
    rrule.define(Line.cube)(
        lambda cls, x: (x**3, lambda dy: (NoTangent(), 3 * x**2 * dy)),
    )
    for subject in (Line.square, Line(1.0).square, Line.cube, Line(1.0).cube):
        assert check_rrule(subject, VECTOR)["rrule.derivative"].status == "passed"


Point = namedtuple("Point", ["x", "y"])


@dataclass
class Segment:
    x: object
    y: float = 2.0


class Plain:
    def __init__(self, x, y=2.0):
        self.x, self.y = x, y


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("factor", [1.0, 2.0])
@pytest.mark.parametrize("cls", [Point, Segment, Plain])
def test_constructors(cls, factor):
    @rrule.define(cls)
    def cls_rrule(x, y):
        return cls(x, y), lambda d: (NoTangent(), factor * d.x, d.y)

    @frule.define(cls)
    def cls_frule(tangents, x, y):
        kind = rc.Tangent if cls is Point else MutableTangent
        return cls(x, y), kind(cls, x=factor * tangents[1], y=tangents[2])

    if factor == 1.0:
        report = check_rule(cls, VECTOR, 3.0, hosts=())
        assert report["rrule.derivative"].status == "passed"
        assert report["frule.derivative"].status == "passed"
    else:
        with pytest.raises(CheckFailed, match="the rule gives 2, finite differences 1"):
            check_rule(cls, VECTOR, 3.0, hosts=())


@pytest.mark.parametrize(
    ("subject", "args", "title"),
    [
        (np.add.reduce, (VECTOR,), "add.reduce(float64[3]"),
        (np.multiply.outer, (VECTOR, VECTOR), "multiply.outer(float64[3], float64[3])"),
        (VECTOR.sum, (), "ndarray.sum("),
        (VECTOR.__getitem__, (1,), "ndarray.__getitem__(1)"),
        (float, (2.0,), "float(2.0)"),
        (np.sin, (VECTOR,), "sin(float64[3])"),
    ],
    ids=["reduce", "outer", "sum", "getitem", "float", "ufunc"],
)
def test_what_is_written_in_c(subject, args, title):
    report = check_rule(subject, *args, hosts=())
    assert report["rrule.derivative"].status == "passed"
    assert report.title.startswith(title)  # NumPy 2.4 tells the defaults as well


def test_a_method_written_in_c_can_fail():
    @rrule.define(np.ufunc.reduce)
    def reduce_rrule(ufunc: np.ufunc, x: np.ndarray, *rest):
        def reduce_pullback(dy):
            nothing = (NoTangent(),) * len(rest)
            return NoTangent(), np.full_like(x, 2 * dy), *nothing

        return ufunc.reduce(x), reduce_pullback

    with pytest.raises(CheckFailed, match="the rule gives 2, finite differences 1"):
        check_rrule(np.add.reduce, VECTOR)


def scaled(x, factor, offset):
    return x * factor + offset


@pytest.mark.parametrize("factor", [1.0, 2.0])
def test_partials_differentiate_what_they_hold(factor):
    @rrule.define(scaled)
    def scaled_rrule(x, by, offset, *, needs):
        def scaled_pullback(dy):
            dby = factor * float(np.sum(x * dy))
            return NoTangent(), by * dy, dby, float(np.sum(dy))

        return scaled(x, by, offset), scaled_pullback

    subject = partial(scaled, factor=2.0, offset=1.0)
    if factor == 1.0:
        report = check_rrule(subject, VECTOR)
        assert report["rrule.needs"].detail == (
            "a partial holds arguments of the rule: check the function inside it"
        )
        assert check_rrule(scaled, VECTOR, 2.0, 1.0)["rrule.needs"].status == "passed"
    else:
        with pytest.raises(CheckFailed, match=r"failed +rrule.derivative"):
            check_rrule(subject, VECTOR)


def test_a_partial_whose_rule_leaves_something_out():
    @rrule.define(scaled)
    def scaled_rrule(x, factor, offset, *, needs):
        def scaled_pullback(dy):
            missing = rc.not_implemented("by the factor")
            return NoTangent(), factor * dy, missing, float(np.sum(dy))

        return scaled(x, factor, offset), scaled_pullback

    report = check_rrule(scaled, VECTOR, 2.0, 1.0)
    assert report["rrule.implemented"].detail == (
        "factor was not checked, its derivative is not implemented: by the factor"
    )
    report = check_rrule(partial(scaled, factor=2.0, offset=1.0), VECTOR)
    assert report["rrule.implemented"].detail.startswith("f was not checked, ")


def test_arguments_are_named_as_the_function_names_them():
    def several(first, *rest):
        return first + sum(rest)

    @rrule.define(several)
    def several_rrule(first, *rest):
        def several_pullback(dy):
            return NoTangent(), dy, *(2.0 * dy for _ in rest)

        return several(first, *rest), several_pullback

    with pytest.raises(CheckFailed, match=r"∂y/∂rest\[\d\]: the rule gives 2, "):
        check_rrule(several, 1.0, 2.0, 3.0)


def test_arguments_without_a_name_are_numbered():
    with pytest.raises(ValueError, match="no signature"):
        inspect.signature(max)
    with isolated_rules():
        rrule.define(max)(
            lambda a, b: (max(a, b), lambda dy: (NoTangent(), 2.0 * dy, 0.0))
        )
        with pytest.raises(CheckFailed, match="∂y/∂x1: the rule gives 2, "):
            check_rrule(max, 3.0, 2.0)
