"""Results whose dtype another value decides: what would be cut off is refused.

NumPy casts a border, an initial value and what a function gives for later entries to
the dtype of the array or of the first result.
"""

from typing import Any

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_autodiff.testing import check_program
from rules_core import NoTangent

WHOLE = np.array([1, 2])


def whole_first(v):
    return 1 if v > 0 else v * v


def wholes_first(v):
    return (1.0, 1) if v > 0 else (v, v * v)


def true_first(v):
    return True if v > 0 else v


def whole_row_first(row):
    return np.array([1, 2]) if row[0] > 0 else row * 2.0


def along_rows(a: Any) -> Any:
    return np.apply_along_axis(whole_row_first, 1, a)


def signs(x):
    return np.array([1.0, -1.0]) * x


CACHED = np.vectorize(whole_first, cache=True)
CUT_OFF = {
    "vectorize": lambda x: np.vectorize(whole_first)(signs(x)).sum(),
    "vectorize, cached": lambda x: CACHED(signs(x)).sum(),
    "vectorize, two": lambda x: np.vectorize(wholes_first)(signs(x))[1].sum(),
    "vectorize, truth": lambda x: np.vectorize(true_first)(signs(x)).sum(),
    "vectorize, rows": lambda x: (
        np.vectorize(whole_row_first, signature="(n)->(n)")(np.outer(signs(x), [1, 2]))
    ).sum(),
    "along an axis": lambda x: along_rows(np.outer(signs(x), [1, 2])).sum(),
    "border": lambda x: np.pad(WHOLE, 1, constant_values=x).sum(),
    "border of a list": lambda x: np.pad([True], 1, constant_values=(1, x)).sum(),
    "ramp": lambda x: np.pad(WHOLE, 1, mode="linear_ramp", end_values=x).sum(),
    "initial": lambda x: np.add.reduce(WHOLE, initial=x),
    "initial of a product": lambda x: np.multiply.reduce([1, 2], initial=x),
    "initial of sum": lambda x: np.sum(WHOLE, initial=x),
    "initial of max": lambda x: WHOLE.max(initial=x),
}  # fmt: skip


@pytest.mark.parametrize("case", CUT_OFF)
def test_what_would_be_cut_off_is_refused_or_zero(case):
    program = CUT_OFF[case]
    assert np.asarray(program(2.6)).dtype.kind in "iub"
    for derivative in (grad(program), lambda x: jvp(program, (x,), (1.0,))[1]):
        try:
            found = derivative(2.6)
            assert isinstance(found, NoTangent) or found == 0.0
        except UnsupportedProgram as error:
            words = str(error)
            assert "cut it off" in words or "keyword-only argument" in words
            continue
    y, _ = value_of(program)
    assert y is None or (y == program(2.6) and type(y) is type(program(2.6)))


def value_of(program):
    try:
        return jvp(program, (2.6,), (1.0,))
    except UnsupportedProgram:
        return None, None


def halves_first(v):
    return np.float32(v) if v > 0 else v * v


KEPT = {
    "single first": lambda x: np.vectorize(halves_first)(signs(x)) * 1.0,
    "float first": lambda x: np.vectorize(lambda v: v if v < 0 else 1.0)(-signs(x)),
    "border": lambda x: np.pad(np.ones(2), 1, constant_values=(x, 2.0)),
    "initial": lambda x: np.add.reduce(np.ones(2), initial=x),
    "quotient": lambda x: np.true_divide.reduce(WHOLE * 1.0, initial=x),
    "range": lambda x: np.r_[0:x:3j],
    "range by steps": lambda x: np.r_[x : 3.9 : 0.5, x],
    "columns": lambda x: np.c_[0:x:2j, 1:3],
    "slice": lambda x: np.s_[x : x * x].stop * slice(x).stop,
}  # fmt: skip


@pytest.mark.parametrize("case", KEPT)
def test_what_is_kept_has_a_derivative(case):
    if case == "single first":
        y, dy = jvp(KEPT[case], (1.3,), (1.0,))
        assert y.dtype == dy.dtype == np.float32
        assert np.allclose(dy, [1.0, 2.6])
        return
    check_program(KEPT[case], 1.3)


def test_a_border_is_of_the_class_of_the_array():
    def bordered(x):
        return np.pad(np.ones(2, np.float32), 1, constant_values=x)

    y, dy = jvp(bordered, (1.3,), (1.0,))
    assert y.dtype == np.float32
    assert np.array_equal(y, bordered(1.3))
    assert np.array_equal(dy, [1.0, 0.0, 0.0, 1.0])


@pytest.mark.parametrize("maker", [np.mgrid, np.ogrid], ids=["mgrid", "ogrid"])
def test_bounds_of_grids_are_refused(maker):
    for key in (lambda x: np.s_[0:x:3j], lambda x: np.s_[0:2, x:3]):
        with pytest.raises(UnsupportedProgram, match="must carry no derivative"):
            grad(lambda x: maker[key(x)][0].sum())(1.3)  # noqa: B023  called at once
