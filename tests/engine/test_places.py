"""Errors inside rules and derived code show the user's own line."""

import contextlib
import decimal
import functools
import traceback

import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import grad, jvp
from tests.engine.refusing import assert_refused


def faulty(x):
    return x * 2.0


@rc.rrule.define(faulty)
def faulty_rrule(x: float):
    def faulty_pullback(dy):
        if x < 0:
            return rc.NoTangent(), dy, dy
        raise ZeroDivisionError

    return x * 2.0, faulty_pullback


@rc.frule.define(faulty)
def faulty_frule(tangents, x: float):
    raise ZeroDivisionError


def helper(x):
    return faulty(x) + 1.0


def program(x):
    y = x * x
    return helper(y)


LINE = helper.__code__.co_firstlineno + 1


@pytest.mark.parametrize(
    "run",
    [
        lambda: grad(program)(2.0),
        lambda: jvp(program, (2.0,), (1.0,)),
        lambda: grad(lambda x: grad(program)(x))(2.0),
        lambda: grad(lambda x: helper(-x))(2.0),
    ],
    ids=["reverse", "forward", "second order", "count of cotangents"],
)
def test_errors_inside_rules_have_the_line_of_the_call(run):
    with pytest.raises((ZeroDivisionError, rc.CotangentCountError)) as caught:
        run()
    (note,) = (n for n in caught.value.__notes__ if n.startswith("While a rule"))
    assert note.endswith(f"test_places.faulty, called at {__file__}, line {LINE}.")


def unsupported_kind(x):
    return np.linalg.qr(x * np.eye(3), "raw")


def test_errors_of_the_pack_have_it_too():
    with pytest.raises(rc.UnsupportedError) as caught:
        grad(unsupported_kind)(np.ones(3))
    line = unsupported_kind.__code__.co_firstlineno + 1
    assert f"{__file__}, line {line}." in caught.value.__notes__[0]


def through_the_library(x):
    return functools.reduce(max_of_nothing, [x, 2.0])


def max_of_nothing(x, y):
    return [int(x)][int(y) + 3] + y


def test_errors_of_the_program_show_its_own_lines():
    with pytest.raises(IndexError) as caught:
        grad(through_the_library)(1.0)
    lines = [
        (frame.name, frame.line)
        for frame in traceback.extract_tb(caught.value.__traceback__)
        if frame.filename == __file__
    ]
    assert ("max_of_nothing", "return [int(x)][int(y) + 3] + y") in lines
    assert ("through_the_library", lines[1][1]) == lines[1]


def through_an_exit_stack(x):
    with contextlib.ExitStack() as stack:
        stack.callback(decimal.Decimal, x)
    return x


def test_refusals_name_lines_of_the_user_not_of_the_standard_library():
    assert_refused(through_an_exit_stack, 1.0, r"decimal\.Decimal .* must have a rule")
