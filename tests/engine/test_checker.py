"""`check_program`: each of its checks catches a rule that is wrong in that way."""

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import CoDual, NoRData, frule_mutating, rrule_mutating
from rules_autodiff._boundary import leave as outputs
from rules_autodiff.testing import ProgramError, check_program
from rules_core import NoTangent, rrule
from rules_core.testing import isolated_rules
from tests.engine.wrong_mutating import (
    KEPT,
    WRONG,
    Forward,
    RestoresNothing,
    Reverse,
    forward_rule,
    isolated_mutating_rules,
    kernel,
    program,
    reverse_rule,
)

X = np.array([0.5, -1.0, 2.0])


@pytest.fixture(autouse=True)
def _isolated():
    KEPT.clear()
    with isolated_rules(), isolated_mutating_rules():
        yield


def check(reverse=Reverse, forward=Forward, f=program):
    rrule_mutating.define(kernel)(reverse_rule(reverse()))
    frule_mutating.define(kernel)(forward_rule(forward()))
    return check_program(f, X, 1.5)


def test_the_right_rules_pass():
    assert len(check().checks) == 14


def read_afterwards(x, c):
    """As `program`; the rule's output lives in the argument."""
    return kernel(x[:1], x[1:2] * 1.0, c)


@pytest.mark.parametrize(("text", "steps"), WRONG, ids=[w.__name__ for _, w in WRONG])
def test_wrong_rules(text, steps):
    forward = issubclass(steps, Forward)
    f = read_afterwards if steps is RestoresNothing else program
    with pytest.raises((ProgramError, rc.RuleDefinitionError), match=text):
        check(**{"forward" if forward else "reverse": steps}, f=f)


def fresh(x):
    """Imagine compiled code that returns a new array."""
    return x * 2.0


def test_one_shadow_for_two_arrays():
    """The aliasing check: the arrays are two, their shadows one."""

    def rule(f, x):
        if not KEPT:
            KEPT.append(np.zeros_like(x.primal))
        dy = KEPT[0]

        def pullback(_):
            x.fdata[...] += 2.0 * dy
            return NoRData(), NoRData()

        return CoDual(x.primal * 2.0, dy), pullback

    rrule_mutating.define(fresh)(rule)
    with pytest.raises(ProgramError, match="reverse mode: aliasing must hold"):
        check_program(lambda x: [fresh(x), fresh(x * x)], X, forward=False)


def test_a_shadow_of_its_own_for_an_argument():
    def rule(f, x):
        def pullback(_):
            return NoRData(), NoRData()

        return CoDual(x.primal, np.zeros_like(x.primal)), pullback

    rrule_mutating.define(fresh)(rule)
    with pytest.raises(rc.RuleDefinitionError, match="must alias argument 1"):
        check_program(lambda x: fresh(x * 1.0), X, forward=False)


def test_cotangents_that_are_shared(monkeypatch):
    """The engine's own step, left out: what a rule gave is handed out as it is."""
    monkeypatch.setattr(outputs, "taken", lambda slot, below: slot and slot.take(below))
    with pytest.raises(ProgramError, match="cotangents own their memory must hold"):
        check_program(lambda x: x, X, forward=False)


def test_interface_types(monkeypatch):
    """The engine's own step, left out: a float32 gets a cotangent of float64."""
    monkeypatch.setattr(outputs, "like_number", lambda primal, dx, below: float(dx))
    with pytest.raises(ProgramError, match="interface types must hold"):
        check_program(lambda x: x * x, np.float32(0.5), forward=False, rtol=1e-2)


def test_wrong_second_derivatives():
    def square(x):
        return x * x

    @rrule.define(square)
    def square_rrule(x):
        kept = rc.ignore_derivatives(x)

        def square_pullback(dy):
            return NoTangent(), 2.0 * kept * dy

        return x * x, square_pullback

    def f(x):
        return square(x) * 1.0

    check_program(f, 1.5)
    with pytest.raises(ProgramError, match="forward over reverse must hold"):
        check_program(f, 1.5, second=True)


SIZES = [1e-250, 1e-100, 1e-20, 1e-9, 1e-4, 1.0, 1e5, 1e9, 1e20, 1e100, 1e250]


def scaled(factor):
    """`x ↦ √x`, with a derivative that is wrong by a factor."""

    def root(x):
        return np.sqrt(x)

    @rrule.define(root)
    def root_rrule(x):
        return np.sqrt(x), lambda dy: (NoTangent(), factor * dy / (2 * np.sqrt(x)))

    @rc.frule.define(root)
    def root_frule(tangents, x):
        return np.sqrt(x), factor * tangents[1] / (2 * np.sqrt(x))

    return root


ROOTS = [
    (lambda root, x: root(x), 1.3),
    (lambda root, x: root(x)[1:] * 2.0, np.array([1.3, 0.3, 2.0])),
    (lambda root, x: root(x["a"]) + x["b"], {"a": 1.3, "b": 0.7}),
]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(("f", "x"), ROOTS, ids=["number", "array", "dict"])
def test_arguments_of_every_size(f, x, size):
    x = {k: size * v for k, v in x.items()} if isinstance(x, dict) else size * x
    if isinstance(x, dict):
        x["b"] = np.sqrt(x["b"])
    right, wrong = scaled(1.0), scaled(1.001)
    check_program(lambda x: f(right, x), x)
    with pytest.raises(ProgramError, match="forward mode gave"):
        check_program(lambda x: f(wrong, x), x)
    with pytest.raises(ProgramError, match="reverse mode: derivative must hold"):
        check_program(lambda x: f(wrong, x), x, forward=False)


@pytest.mark.parametrize("size", SIZES)
def test_arguments_of_several_sizes(size):
    """Beside an argument of size 1, whose share of the movement hides the other's."""
    right, wrong = scaled(1.0), scaled(1.001)
    check_program(lambda x, y: (right(x), x, y), size, 1.5)
    with pytest.raises(ProgramError, match="reverse mode: derivative must hold"):
        check_program(lambda x, y: wrong(x) + y * size**0.5, size, 1.5, forward=False)


@pytest.mark.parametrize("f", [np.floor, np.sqrt, np.cbrt])
def test_points_without_a_derivative(f):
    with pytest.raises(ProgramError, match="finite differences find no derivative"):
        check_program(lambda x: f(x) * 1.0, np.float64(0.0))


@pytest.mark.parametrize("f", [lambda x: np.round(x, 1), np.floor, np.trunc])
def test_what_is_rounded_is_constant_between_steps(f):
    check_program(lambda x: f(x) * x, np.array([1.21, -0.62, 3.39]))


@pytest.mark.parametrize("size", [1e-50, 1e-20, 1e-10, 1e-5, 1.0, 1e5, 1e50])
@pytest.mark.parametrize("factor", [1.01, 2.0, -1.0, 0.0])
def test_wrong_second_derivatives_of_every_size(size, factor):
    """`x³`, whose rule calls a function with a wrong rule of its own."""

    def squared(x):
        return 3 * x**2

    @rrule.define(squared)
    def squared_rrule(x):
        return 3 * x**2, lambda dy: (NoTangent(), dy * 6 * x * factor)

    def cubed(x):
        return x**3

    @rrule.define(cubed)
    def cubed_rrule(x):
        return x**3, lambda dy: (NoTangent(), dy * squared(x))

    check_program(lambda x: cubed(x) * 1.0, 1.3 * size, forward=False)
    with pytest.raises(ProgramError, match="must hold"):
        check_program(lambda x: cubed(x) * 1.0, 1.3 * size, second=True)


@pytest.mark.parametrize(
    "x", [930000.0, np.array([37000.0, 1.0]), np.array([1e5, 0.1])]
)
def test_what_varies_much_faster_than_its_arguments(x):
    check_program(lambda x: np.sin(x) * 1.0, x)
