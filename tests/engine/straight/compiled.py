"""Calls by compiled code, compared with the tape."""

import math
from typing import Any

import numpy as np

from rules_autodiff import UnsupportedProgram, value_and_grad

__all__ = ["assert_agree", "outcome", "served"]


def outcome(run: Any, *args: Any) -> Any:
    """What a call gives: its result, or the class of its error."""
    try:
        return run(*args)
    except UnsupportedProgram:
        raise
    except Exception as error:
        return type(error)


def assert_agree(f: Any, *args: Any, by: Any, rtol: float = 0.0) -> None:
    """The value in its class, and the derivatives, are those of the tape."""
    expected = outcome(value_and_grad(f, by, tier="tape"), *args)
    for tier in ("auto", "auto"):
        found = outcome(value_and_grad(f, by, tier=tier), *args)
        if isinstance(expected, type):
            assert found is expected
            continue
        value, own = found
        assert type(value) is type(expected[0]), (type(value), type(expected[0]))
        assert_close(value, expected[0], rtol)
        for one, other in zip(own, expected[1], strict=True):
            assert type(one) is type(other)
            assert_close(one, other, rtol)


def assert_close(x: Any, y: Any, rtol: float) -> None:
    np.testing.assert_allclose(x, y, rtol=rtol, atol=0.0, equal_nan=True)


def served(f: Any, *args: Any, by: Any) -> Any:
    """The value and derivatives by compiled code, or why there are none."""
    try:
        return value_and_grad(f, by, tier="compiled")(*args)
    except UnsupportedProgram as error:
        return str(error)


def is_number(x: Any) -> bool:
    return not isinstance(x, str) and math.isfinite(x)
