"""What is written to a view of few entries, or of none, reaches its array."""

import linecache
from itertools import product

import numpy as np
import pytest

from rules_autodiff import grad, jacfwd, jacrev, jvp, vjp
from rules_autodiff.straight._tier import signatures

X, H = np.array([1.0, 2.0, 0.5]), np.array([0.3, -0.7, 1.1])

VIEWS = [
    "y[1, ...]", "y[..., 1]", "y[1, ..., None]", "y.reshape(3, 1)[1, 0, ...]", "y[...]",
    "y.reshape(1, 3)[..., 0, 2]", "y[1:2].reshape(())", "y[1:2].squeeze()",
    "np.squeeze(y[1:2])", "y[1:2]", "y[None, 1, ...]", "y[-1, ...]", "y[i, ...]",
    "np.asarray(y)[1, ...]", "y.T[1, ...]", "y.ravel()[1, ...]", "y[1:2][0, ...]",
    "[y[0, ...], y[1, ...]][1]", "(y[0, ...], y[2, ...])[0]", "y.view()[0, ...]",
]  # fmt: skip
WRITES = [
    "z *= 2.0", "z += y[0]", "z[...] = z * z", "np.multiply(z, 3.0, out=z)", "z -= z",
    "z[()] = 4.0 * y[2]", "z /= 2.0; z *= z", "np.add(z, y[2], z)", "z **= 2",
]  # fmt: skip
FORMS = {
    "array": "    y = x * 1.0\n",
    "argument": "    y = x\n",
}
CASES = list(product(VIEWS, WRITES, FORMS))


def program(view, write, form):
    text = (
        f"def f(x):\n    i = 1\n{FORMS[form]}    z = {view}\n    {write}\n"
        "    return np.sum(y * y * y) + np.sum(z * y[0])"
    )
    scope = {"np": np}
    name = f"<view {view} {write} {form}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), scope)
    return scope["f"]


MODES = {
    "grad": lambda f, x: grad(f)(x) @ H,
    "jacrev": lambda f, x: jacrev(f)(x) @ H,
    "jacfwd": lambda f, x: jacfwd(f)(x) @ H,
    "jvp": lambda f, x: jvp(f, (x,), (H,))[1],
    "vjp": lambda f, x: vjp(f, x)[1](1.0)[0] @ H,
}


@pytest.mark.covering(every=6)
@pytest.mark.parametrize(("view", "write", "form"), CASES)
def test_a_write_to_a_view(view, write, form, monkeypatch):
    """At the first calls and after code was written."""
    monkeypatch.setattr(signatures, "AFTER", 0)
    f = program(view, write, form)
    difference = (f(X + 1e-6 * H) - f(X - 1e-6 * H)) / 2e-6
    for mode in MODES.values():
        for _ in range(2):
            x = X.copy()
            np.testing.assert_allclose(mode(f, x), difference, rtol=1e-6)
    value, _ = vjp(f, X.copy())
    assert value == f(X.copy())
