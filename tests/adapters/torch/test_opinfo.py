"""torch's own operator database as an outside oracle.

Its sample inputs (broadcast, 0-d, non-contiguous, complex) drive generic rules of
array-API functions; values and cotangents are compared with torch's operators.
"""

from __future__ import annotations

import warnings

import pytest
import torch

import rules_core as rc

pytestmark = pytest.mark.nightly


def unary(name, slope):
    @rc.primitive
    def f(x):
        return getattr(rc.array_namespace(x), name)(x)

    rc.scalar_rule(f, lambda y, x: (slope(rc.array_namespace(x), x, y),))
    return f


def binary(name, slopes):
    @rc.primitive
    def f(a, b):
        return getattr(rc.array_namespace(a, b), name)(a, b)

    rc.scalar_rule(f, lambda y, a, b: slopes(rc.array_namespace(a, b), a, b, y))
    return f


# Name of the operator in the database → name in the array API and partials.
UNARY = {
    "exp": ("exp", lambda xp, x, y: y),
    "expm1": ("expm1", lambda xp, x, y: y + 1),
    "log": ("log", lambda xp, x, y: 1 / x),
    "log1p": ("log1p", lambda xp, x, y: 1 / (1 + x)),
    "sqrt": ("sqrt", lambda xp, x, y: 0.5 / y),
    "square": ("square", lambda xp, x, y: 2 * x),
    "sin": ("sin", lambda xp, x, y: xp.cos(x)),
    "cos": ("cos", lambda xp, x, y: -xp.sin(x)),
    "tan": ("tan", lambda xp, x, y: 1 + y * y),
    "sinh": ("sinh", lambda xp, x, y: xp.cosh(x)),
    "cosh": ("cosh", lambda xp, x, y: xp.sinh(x)),
    "tanh": ("tanh", lambda xp, x, y: 1 - y * y),
    "asin": ("asin", lambda xp, x, y: 1 / xp.sqrt(1 - x * x)),
    "acos": ("acos", lambda xp, x, y: -1 / xp.sqrt(1 - x * x)),
    "atan": ("atan", lambda xp, x, y: 1 / (1 + x * x)),
    "asinh": ("asinh", lambda xp, x, y: 1 / xp.sqrt(1 + x * x)),
    "atanh": ("atanh", lambda xp, x, y: 1 / (1 - x * x)),
}
BINARY = {
    "add": ("add", lambda xp, a, b, y: (1.0, 1.0)),
    "sub": ("subtract", lambda xp, a, b, y: (1.0, -1.0)),
    "mul": ("multiply", lambda xp, a, b, y: (b, a)),
    "true_divide": ("divide", lambda xp, a, b, y: (1 / b, -y / b)),
    "atan2": (
        "atan2",
        lambda xp, a, b, y: (b / (a * a + b * b), -a / (a * a + b * b)),
    ),
    "hypot": ("hypot", lambda xp, a, b, y: (a / y, b / y)),
    "logaddexp": ("logaddexp", lambda xp, a, b, y: (xp.exp(a - y), xp.exp(b - y))),
}
# The rounding of torch's own forward formula differs; the principal branch is ours.
DTYPES = {"float64": torch.float64, "complex128": torch.complex128}
REAL_ONLY = {"atan2", "hypot", "logaddexp"}
CASES = [
    (name, dtype)
    for name in (*UNARY, *BINARY)
    for dtype in DTYPES
    if dtype == "float64" or name not in REAL_ONLY
]


def database():
    pytest.importorskip("expecttest")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from torch.testing._internal.common_methods_invocations import op_db
    return {
        op.name: op for op in op_db if op.variant_test_name in ("", "no_rounding_mode")
    }


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_values_and_cotangents_equal_those_of_the_operator(name, dtype):
    op = database()["div" if name == "true_divide" else name]
    f = unary(*UNARY[name]) if name in UNARY else binary(*BINARY[name])
    count = 0
    for sample in op.sample_inputs("cpu", DTYPES[dtype], requires_grad=True):
        args = (sample.input, *sample.args)
        plain = all(isinstance(a, torch.Tensor) for a in args) and not sample.kwargs
        if not plain or not all(a.requires_grad for a in args):
            continue
        theirs, mine = op(*args), f(*args)
        torch.testing.assert_close(mine, theirs)
        seed = torch.randn_like(theirs)
        expected = torch.autograd.grad(theirs, args, seed)
        torch.testing.assert_close(torch.autograd.grad(mine, args, seed), expected)
        count += 1
    assert count
