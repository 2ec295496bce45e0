"""Of the rules that fit a call the most specific one wins, or the call is ambiguous."""

import abc
import collections.abc
import typing

import numpy as np
import pytest

import rules_core as rc
from rules_core import (
    AmbiguousRulesError,
    rrule,
)
from tests.core.named_rules import define, one, ran, two

# The spellings that linters would have us modernise: authors still write them.
UNION = eval("typing.Union[float, int]", {"typing": typing})


OPTIONAL = eval("typing.Optional[float]", {"typing": typing})


def test_the_most_specific_type_wins():
    define(one, object, name="any")
    define(one, float, name="float")
    assert ran(one, 1.0) == "float"
    assert ran(one, 1) == "any"


def test_a_subclass_fits_its_base():
    define(one, float, name="float")
    assert ran(one, np.float64(1.0)) == "float"
    assert ran(one, np.float32(1.0)) is None


@pytest.mark.parametrize(
    "annotation",
    [float | int, UNION, OPTIONAL, "float | None"],
    ids=["pipe", "Union", "Optional", "text"],
)
def test_unions(annotation):
    if annotation == "float | None":
        annotation = float | None
    define(one, annotation, name="union")
    assert ran(one, 1.0) == "union"
    assert ran(one, "a") is None


def test_a_union_is_less_specific_than_its_members():
    define(one, float | int, name="union")
    define(one, float, name="float")
    assert (ran(one, 1.0), ran(one, 1)) == ("float", "union")


def test_array_covers_arrays_and_numpy_scalars():
    define(one, rc.Array, name="array")
    assert ran(one, np.ones(2)) == "array"
    assert ran(one, np.float32(1)) == "array"
    define(one, np.ndarray, name="ndarray")
    assert ran(one, np.ones(2)) == "ndarray"


def test_two_alternatives_of_one_rule_do_not_clash():
    define(one, float | rc.Array, name="both")
    assert ran(one, np.float64(1.0)) == "both"


def test_abstract_base_classes_and_late_registration():
    class Shape(abc.ABC):
        @abc.abstractmethod
        def area(self):
            """Of the surface."""

    class Disc:
        pass

    define(one, Shape, name="shape")
    assert ran(one, Disc()) is None
    Shape.register(Disc)
    assert ran(one, Disc()) == "shape"
    define(one, collections.abc.Sequence, name="sequence")
    assert ran(one, [1]) == "sequence"


def test_ambiguity_is_raised_by_the_look_up_and_can_be_resolved_later():
    define(two, float, object, name="left")
    define(two, object, float, name="right")
    assert ran(two, 1.0, "a") == "left"
    with pytest.raises(AmbiguousRulesError) as caught:
        rrule(two, 1.0, 2.0)
    text = str(caught.value)
    assert text.startswith("rrule for two(float, float) is ambiguous: ")
    assert "left(float, any) at named_rules.py:" in text
    assert "right(any, float) at named_rules.py:" in text
    assert text.endswith("Define a rule that is more specific than both.")
    define(two, float, float, name="middle")
    assert ran(two, 1.0, 2.0) == "middle"


class TestVariadics:
    @staticmethod
    def define(source, name):
        scope = {"float": float}
        exec(f"def {name}{source}: return {name!r}, abs", scope)
        rrule.define(several)(scope[name])

    def test_a_fixed_length_wins(self):
        self.define("(*xs)", "any_number")
        self.define("(x)", "single")
        assert (ran(several, 1.0), ran(several), ran(several, 1, 2)) == (
            "single",
            "any_number",
            "any_number",
        )

    def test_narrower_types_win_also_where_there_are_none(self):
        self.define("(*xs)", "any_number")
        self.define("(*xs: float)", "floats")
        assert (ran(several), ran(several, 1.0), ran(several, 1)) == (
            "floats",
            "floats",
            "any_number",
        )

    def test_the_one_that_takes_fewer_lengths_wins(self):
        self.define("(*xs)", "any_number")
        self.define("(x, *xs)", "some")
        self.define("(x, y, *xs: float)", "two_and_floats")
        assert ran(several) == "any_number"
        assert ran(several, 1) == "some"
        assert ran(several, 1, 2) == "two_and_floats"
        assert ran(several, 1, 2, 3) == "some"


def several(*xs):
    return xs


class TestNumPyScalarsThatAreNumbers:
    """`np.float64` is a `float`, and an array first."""

    def test_they_go_with_the_arrays(self):
        define(one, float | complex, name="number")
        define(one, rc.Array, name="array")
        scalars = np.float64(1), np.complex128(1), np.float32(1), np.int64(1)
        assert [ran(one, x) for x in scalars] == ["array"] * 4
        assert [ran(one, x) for x in (1.0, 1j)] == ["number"] * 2

    def test_without_a_rule_for_arrays_they_are_numbers(self):
        define(one, float, name="number")
        define(one, object, name="any")
        assert (ran(one, np.float64(1)), ran(one, np.float32(1))) == ("number", "any")

    def test_a_class_of_their_own_wins(self):
        define(one, float, name="number")
        define(one, rc.Array, name="array")
        define(one, np.float64, name="scalar")
        assert ran(one, np.float64(1)) == "scalar"
        assert ran(one, np.complex128(1)) == "array"

    def test_two_rules_that_disagree_about_the_arguments_stay_ambiguous(self):
        define(two, float, rc.Array, name="left")
        define(two, rc.Array, float, name="right")
        assert ran(two, np.float64(1), 1.0) == "right"
        assert ran(two, 1.0, np.float64(1)) == "left"
        with pytest.raises(AmbiguousRulesError):
            rrule(two, np.float64(1), np.float64(1))

    def test_variadic_rules(self):
        def array_rule(first, *rest: rc.Array):
            return "arrays", abs

        def number_rule(first, *rest: float):
            return "numbers", abs

        rrule.define(several)(array_rule)
        rrule.define(several)(number_rule)
        x = np.float64(1)
        assert ran(several, x, x, x) == "arrays"
        assert ran(several, x, 1.0, 1.0) == "numbers"

    def test_classes_that_are_no_arrays_stay_ambiguous(self):
        class Odd(float, collections.abc.Sized):
            def __len__(self):
                return 1

        define(one, float, name="number")
        define(one, collections.abc.Sized, name="sized")
        with pytest.raises(AmbiguousRulesError):
            rrule(one, Odd(1))
