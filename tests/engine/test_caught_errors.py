"""A program that catches an error of the engine gets no derivative of its way out."""

import contextlib
import operator
import statistics
from typing import Any

import numpy as np
import pytest

import rules_core
from rules_autodiff import (
    CoDual,
    Dual,
    NoFData,
    NoRData,
    SourceNotFound,
    UnsupportedProgram,
    derive_frule,
    derive_rrule,
    frule_mutating,
    grad,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    rrule_mutating,
    value_and_grad,
    vjp,
)
from rules_autodiff.testing import check_program
from rules_core import NoTangent, frule, not_implemented, rrule


def by_except(x):
    try:
        return statistics.fmean([x, 3.0]) * x
    except Exception:
        return 5.0 * x


def by_bare_except(x):
    try:
        return statistics.fmean([x, 3.0]) * x
    except:  # noqa: E722  it is what is tested
        return 5.0 * x


def by_class(x):
    try:
        return statistics.fmean([x, 3.0]) * x
    except NotImplementedError:
        return 5.0 * x


def by_finally(x):
    try:
        return statistics.fmean([x, 3.0]) * x
    finally:
        return 5.0 * x  # noqa: B012, SIM107  it is what is tested


def by_break(x):
    while True:
        try:
            x = statistics.fmean([x, 3.0]) * x
        finally:
            break  # noqa: B012  it is what is tested
    return x


def by_another_error(x):
    try:
        try:
            return statistics.fmean([x, 3.0]) * x
        except Exception as error:
            raise KeyError("other") from error
    except KeyError:
        return 5.0 * x


def by_suppress(x):
    y = 5.0 * x
    with contextlib.suppress(Exception):
        y = statistics.fmean([x, 3.0]) * x
    return y


class Quiet:
    def __enter__(self):
        return self

    def __exit__(self, *_error):
        return True


def by_exit(x):
    y = [5.0 * x]
    with Quiet():
        y[0] = statistics.fmean([x, 3.0]) * x
    return y[0]


def by_generator(x):
    def items():
        try:
            yield statistics.fmean([x, 3.0])
        except Exception:
            yield 5.0 * x

    return sum(items())


def by_retry(x):
    for f in (statistics.fmean, statistics.harmonic_mean, sum):
        try:
            return f([x, 3.0])
        except Exception:
            continue
    return x


def by_property(x):
    class_of = Lazy(x)
    return getattr(class_of, "mean", 5.0 * x)


class Lazy:
    def __init__(self, x):
        self.x = x

    @property
    def mean(self):
        try:
            return statistics.fmean([self.x, 3.0])
        except Exception as error:
            raise AttributeError from error


def by_text(x):
    try:
        return float(str(x))
    except Exception:
        return 5.0 * x


def by_set(x):
    try:
        return sum({x, 2.0 * x})
    except Exception:
        return 5.0 * x


def by_syntax(x):
    def inner():
        class Local:
            value = x

        return Local.value

    try:
        return inner()
    except Exception:
        return 5.0 * x


def by_inner_gradient(x):
    try:
        return grad(lambda y: statistics.fmean([y, x]))(x)
    except Exception:
        return 5.0 * x


def by_sorting(x):
    try:
        return sorted([x, 2.0 * x], key=lambda y: statistics.fmean([y]))[1]
    except Exception:
        return 5.0 * x


PROGRAMS = [
    by_except, by_bare_except, by_class, by_finally, by_break, by_another_error,
    by_suppress, by_exit, by_generator, by_retry, by_property, by_text, by_set,
    by_syntax, by_inner_gradient, by_sorting,
]  # fmt: skip


def array(f):
    return lambda x: f(x[0])


WAYS = {
    "grad": lambda f: grad(f)(1.3),
    "value_and_grad": lambda f: value_and_grad(f)(1.3),
    "jvp": lambda f: jvp(f, (1.3,), (1.0,)),
    "vjp": lambda f: vjp(f, 1.3),
    "linearize": lambda f: linearize(f, 1.3),
    "jacrev": lambda f: jacrev(array(f))(np.array([1.3])),
    "jacfwd": lambda f: jacfwd(array(f))(np.array([1.3])),
    "derive_rrule": lambda f: derive_rrule(f)(1.3),
    "derive_frule": lambda f: derive_frule(f)((NoTangent(), 1.0), 1.3),
    "twice": lambda f: grad(grad(f))(1.3),
}


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("f", PROGRAMS, ids=[f.__name__ for f in PROGRAMS])
def test_error_comes_out(f, way):
    for _ in range(2):
        with pytest.raises(UnsupportedProgram):
            way(f)


def test_function_without_source():
    def f(x):
        try:
            return HIDDEN["hidden"](x)
        except Exception:
            return 5.0 * x

    with pytest.raises(SourceNotFound):
        grad(f)(1.3)


# errors of rules


def unfinished(x):
    return x * x


@rrule.define(unfinished)
def unfinished_rrule(x):
    if x > 0.0:
        raise ZeroDivisionError
    return x * x, lambda dy: (NoTangent(), not_implemented("some day"))


@frule.define(unfinished)
def unfinished_frule(tangents, x):
    if x > 0.0:
        raise ZeroDivisionError
    return x * x, not_implemented("some day")


def catching(x):
    try:
        return unfinished(x) + 0.0
    except (ZeroDivisionError, NotImplementedError):
        return 5.0 * x


@pytest.mark.parametrize("mode", [grad, lambda f: lambda x: jvp(f, (x,), (1.0,))])
def test_errors_that_only_the_rule_raises(mode):
    with pytest.raises(ZeroDivisionError):
        mode(catching)(1.3)
    with pytest.raises(rules_core.UnsupportedError):
        mode(catching)(-1.3)


# what the program raises by itself it may catch


def singular(x):
    try:
        return np.linalg.inv(np.zeros((2, 2)) * x)[0, 0]
    except np.linalg.LinAlgError:
        return 5.0 * x


def missing(x):
    try:
        return {"a": x}["b"]
    except KeyError:
        return 5.0 * x


def undefined(x):
    try:
        return x / 0.0
    except ZeroDivisionError as error:
        return 5.0 * x * len(error.args)


def outside_the_domain(x):
    import math

    try:
        return math.sqrt(-x)
    except ValueError:
        return 5.0 * x


def raised(x):
    try:
        raise ValueError(x)  # noqa: TRY301  here it is caught
    except ValueError as error:
        return 5.0 * error.args[0]


def of_another_shape(x):
    try:
        return np.sum(np.ones(2) * x @ np.ones((3, 3)))
    except ValueError:
        return 5.0 * x


HIDDEN: dict[str, Any] = {}
exec("def hidden(x): return x * x", HIDDEN)


def of_constants(x):
    try:
        return x * HIDDEN["hidden"](3.0)
    except Exception:
        return 5.0 * x


OWN = [
    singular,
    missing,
    undefined,
    outside_the_domain,
    raised,
    of_another_shape,
    of_constants,
]


@pytest.mark.parametrize("f", OWN, ids=[f.__name__ for f in OWN])
def test_errors_of_the_program_are_its_own(f):
    check_program(f, 1.3)


def test_later_runs_do_not_remember():
    for _ in range(2):
        with pytest.raises(UnsupportedProgram):
            grad(by_except)(1.3)
        assert grad(missing)(1.3) == 5.0


PLACED: Any = operator  # to be given what has no places
NOT_HELD: list[Any] = [
    lambda x: operator.setitem(x, 0, x),
    lambda x: operator.setitem(x, slice(0, 1), [x]),
    lambda x: PLACED.setitem(None, 0, x),
    lambda x: PLACED.setitem(b"ab", 0, x),
    lambda x: PLACED.setitem((x, x), 0, x),
    lambda x: PLACED.setitem(range(3), 0, x),
    lambda x: PLACED.delitem(range(3), 0),
    lambda x: operator.delitem(x, 0),
    lambda x: setattr(x, "real", x),
    lambda x: setattr(1, "real", x),
    lambda x: setattr(x, "missing", x),
    lambda x: setattr(range(3), "stop", x),
    lambda x: delattr(x, "real"),
    lambda x: delattr(range(3), "stop"),
]


@pytest.mark.parametrize("number", [float, np.float64])
@pytest.mark.parametrize("change", NOT_HELD, ids=range(len(NOT_HELD)))
def test_a_write_that_python_refuses_may_be_caught(change, number):
    def f(x):
        y = x * x
        try:
            change(y)
        except (TypeError, AttributeError):
            return 3.0 * y
        return y

    check_program(f, number(1.5))
    assert grad(f)(number(1.5)) == 9.0


@pytest.mark.parametrize("number", [float, np.float64])
def test_an_item_of_a_number_may_be_tried_by_statement(number):
    def f(x):
        y = x * x
        try:
            y[x > 2.0] = 0.0 * x
        except TypeError:
            y = 3.0 * y
        try:
            (x, y)[0] = y
        except TypeError:
            y = 2.0 * y
        return y

    check_program(f, number(1.5))
    assert grad(f)(number(1.5)) == 18.0


# Errors of mutating rules


def squared_into(dest, x):
    if x > 5.0:
        raise ValueError(x)
    dest[0] = x * x


def fails_in_between(x):
    if 2.0 < x < 5.0:
        raise ValueError(x)


@rrule_mutating.define(squared_into)
def squared_into_rrule(_f, dest, x):
    squared_into(dest.primal, x.primal)
    fails_in_between(x.primal)

    def pullback(_):
        ct = 2.0 * x.primal * dest.fdata[0]
        dest.fdata[0] = 0.0
        return NoRData(), NoRData(), ct

    return CoDual(None, NoFData()), pullback


@frule_mutating.define(squared_into)
def squared_into_frule(_f, dest, x):
    squared_into(dest.primal, x.primal)
    fails_in_between(x.primal)
    dest.tangent[0] = 2.0 * x.primal * x.tangent
    return Dual(None, NoTangent())


def caught_from_mutating(x):
    dest = np.zeros(1)
    try:
        squared_into(dest, x)
    except ValueError:
        return 5.0 * x
    return dest[0]


@pytest.mark.parametrize("mode", [grad, lambda f: lambda x: jvp(f, (x,), (1.0,))[1]])
def test_errors_that_only_a_mutating_rule_raises(mode):
    assert mode(caught_from_mutating)(1.5) == 3.0
    assert mode(caught_from_mutating)(6.0) == 5.0  # the function's own error
    with pytest.raises(ValueError, match=r"3\.0"):
        mode(caught_from_mutating)(3.0)
