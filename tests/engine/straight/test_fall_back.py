"""What written code cannot decide is the tape's: errors, infinities, warnings."""

import functools
import math
import warnings

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, value_and_grad, vjp
from rules_autodiff.straight._tier import signatures

X = np.array([0.5, -1.0, 2.0])
pytestmark = pytest.mark.usefixtures("at_once")


def form_of(program):
    return next(iter(signatures.FORMS.get(program.__code__).values()))


def test_an_error_of_the_program_is_raised_once_with_its_line():

    def program(x):
        return math.log(x) * 2.0

    assert grad(program)(2.0) == 1.0
    with pytest.raises(ValueError, match="math domain error") as caught:
        grad(program)(-1.0)
    lines = []
    trace = caught.tb
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == __file__:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    assert lines[-1] == program.__code__.co_firstlineno + 1
    assert caught.value.__context__ is None


def test_shapes_that_do_not_fit():
    def program(x, y):
        return np.sum(x * y)

    np.testing.assert_array_equal(grad(program)(X, X), X)
    with pytest.raises(ValueError, match="could not be broadcast"):
        grad(program)(X, np.ones(2))


def test_an_infinite_derivative(tapes):
    def program(x):
        return np.sqrt(x)

    assert grad(program)(4.0) == 0.25
    assert tapes == []
    with np.errstate(all="ignore"):
        assert grad(program)(0.0) == math.inf
    assert tapes == [program]


def strong(x, y):
    """`0 · ∞`: the second factor's derivative is infinite, and does not count."""
    return np.sum(np.sqrt(x) * y)


def test_zeros_are_strong(tapes):
    x, y = np.array([0.0, 4.0]), np.array([0.0, 2.0])
    with np.errstate(all="ignore"):
        dx, dy = grad(strong, (0, 1))(x, y)
        tape = grad(strong, (0, 1), tier="tape")(x, y)
    np.testing.assert_array_equal(dx, tape[0])
    np.testing.assert_array_equal(dy, tape[1])
    np.testing.assert_array_equal(dx, [0.0, 0.5])
    assert tapes == [strong, strong]


def test_a_result_that_is_not_finite(tapes):
    def program(x):
        return x * 2.0

    assert grad(program)(math.inf) == 2.0
    assert math.isnan(value_and_grad(program)(math.nan)[0])
    assert tapes == [program, program]


def test_a_whole_number_as_result():
    def program(x):
        return x * 2.0 if x > 0 else 0

    assert value_and_grad(program)(1.0) == (2.0, 2.0)
    assert value_and_grad(program)(-1.0) == (0, 0.0)


def test_a_power_that_is_complex():
    def program(x):
        return x**0.5

    assert grad(program)(4.0) == 0.25
    with pytest.raises(TypeError, match="must return one real number"):
        grad(program)(-4.0)


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [str(w.message) for w in caught]


def overflows(x):
    return np.sum(1.0 / (1.0 + np.exp(x)))


def test_a_warning_comes_once():
    x = np.array([0.0, 1000.0])
    own = warned(lambda: overflows(x))
    assert own == ["overflow encountered in exp"]
    by_tape = warned(lambda: grad(overflows, tier="tape")(x))
    assert warned(lambda: grad(overflows)(x)) == by_tape
    assert warned(lambda: vjp(overflows, x)[1](1.0)) == by_tape
    assert warned(lambda: grad(overflows)(np.zeros(2))) == []


def test_ignored_errors_stay_ignored():
    x = np.array([0.0, 1000.0])
    with np.errstate(all="ignore"):
        assert warned(lambda: grad(overflows)(x)) == []
        np.testing.assert_array_equal(grad(overflows)(x), [-0.25, 0.0])


def test_numbers_too_small():
    """They are nobody's business, but for who asks."""

    def program(x):
        return np.sum(np.exp(-x) + x)

    x = np.array([1.0, 800.0])
    np.testing.assert_allclose(grad(program, tier="straight")(x), [1 - np.exp(-1), 1])
    for compute in (grad(program), lambda x: vjp(program, x)[1](1.0)):
        assert warned(functools.partial(compute, x)) == []
        with np.errstate(under="raise"):
            with pytest.raises(FloatingPointError, match="underflow"):
                compute(x)
            compute(np.ones(2))
        with np.errstate(under="warn"):
            found = warned(functools.partial(compute, x))
        assert set(found) == {"underflow encountered in exp"}


def test_a_program_that_never_comes_to_anything_is_given_up(tapes):
    def program(x):
        return np.sqrt(x) * 1.0

    with np.errstate(all="ignore"):
        for _ in range(signatures.STRONG + signatures.FAILURES):
            assert grad(program)(np.float64(0.0)) == math.inf
            assert grad(program, tier="tape")(np.float64(4.0)) == 0.25
    assert form_of(program).units == ()
    assert grad(program)(np.float64(4.0)) == 0.25
    with pytest.raises(UnsupportedProgram, match="came to nothing before"):
        grad(program, tier="straight")(np.float64(4.0))


def test_failures_in_between_do_not_count(tapes):
    def program(x):
        return math.sqrt(x) * 1.0

    for _ in range(signatures.FAILURES + 1):
        with pytest.raises(ValueError, match="math domain error"):
            grad(program)(-1.0)
        assert grad(program)(4.0) == 0.25
    assert len(tapes) == signatures.FAILURES + 1


def test_interrupts_are_not_held_up():
    def stop(x):
        raise KeyboardInterrupt

    def program(x):
        return stop(x) * 2.0

    with pytest.raises(KeyboardInterrupt):
        grad(program)(2.0)


def deep(x, n):
    return x if n == 0 else deep(x * 1.0, n - 1)


def test_recursion_that_is_too_deep_is_the_tapes_error():
    assert grad(deep)(2.0, 5) == 1.0
    with pytest.raises(RecursionError, match="must fit into Python's limit"):
        grad(deep)(2.0, 10**6)
    assert grad(deep)(2.0, 5) == 1.0


def test_the_reason_is_told():
    cases = {
        "it raised ValueError: math domain error": (math.sqrt, -1.0),
        "its result is not finite": (lambda x: x, math.inf),
    }
    for reason, (inner, x) in cases.items():

        def program(x):
            return inner(x) * 1.0  # noqa: B023  called in this round

        with pytest.raises(UnsupportedProgram, match=reason):
            grad(program, tier="straight")(x)


def test_an_error_of_the_program_is_told_from_one_of_the_tier():
    def own(x):
        if x < 0.0:
            raise KeyError(x)
        assert x < 9.0, "too large"
        return x * x

    for x, error in ((-1.0, KeyError), (10.0, AssertionError)):
        for tier in ("straight", "compiled"):
            with pytest.raises(UnsupportedProgram, match="the program raises an error"):
                grad(own, tier=tier)(x)
        with pytest.raises(error):
            grad(own)(x)


def test_a_pullback_that_the_tape_has_to_take_over():
    x, y = np.array([0.0, 4.0]), np.array([0.0, 2.0])
    with np.errstate(all="ignore"):
        _, pinned = vjp(strong, x, y, tier="straight")
        with pytest.raises(UnsupportedProgram, match="left to the tape"):
            pinned(1.0)
        _, by_tape = vjp(strong, x, y)
        _, later = vjp(strong, x, y)
        for pullback in (by_tape, later, later):
            dx, dy = pullback(1.0)
            np.testing.assert_array_equal(dx, [0.0, 0.5])
            np.testing.assert_array_equal(dy, [0.0, 2.0])
        _, asking = vjp(strong, x, y, tier="straight")  # code with strong zeros by now
        with pytest.raises(UnsupportedProgram, match="only the tape knows"):
            asking(1.0)  # y is an argument too, which may move


def test_a_pullback_of_other_cotangents():
    for dy in (2, 2.0, np.float64(2.0), np.array(2.0), np.float32(2.0)):
        y, pullback = vjp(lambda x: x * x, 3.0)
        assert y == 9.0
        assert pullback(dy) == (12.0,)
    _, pullback = vjp(lambda x: x * x, X)
    with pytest.raises(TypeError, match="cotangent of the result must have shape"):
        pullback(np.ones(2))


def test_a_pullback_whose_function_is_another_one_by_then():
    factor = 2.0

    def program(x):
        return x * factor

    _, pullback = vjp(program, 3.0)
    factor = 5.0
    assert pullback(1.0) == (2.0,), "what was read is kept"
    with pytest.raises(UnsupportedProgram, match="must give the same value"):
        pullback(2)
