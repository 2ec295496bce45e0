"""Coverage of NumPy, and the page docs/reference/numpy-pack.md.

`python -m rules_numpy.coverage` prints docs/reference/numpy-pack.md.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import rules_numpy  # noqa: F401  declares everything
from rules_numpy._declare.derivative import DECLARED, constant
from rules_numpy._declare.partials_in_hosts import IN_HOSTS

__all__ = ["FOLLOWED", "MISSING", "MODULES", "page", "public_functions", "state_of"]

# Functions that call the user's functions or write to their arguments: no rule can
# express them, but the engine differentiates the program.
FOLLOWED = """
apply_along_axis apply_over_axes copyto fill_diagonal fromfunction fromiter piecewise
place put put_along_axis putmask
""".split()

_MATRIX = "makes an np.matrix, with other products than arrays"

# Functions without a rule, and the reason.
MISSING = {
    "numpy.asmatrix": _MATRIX,
    "numpy.bmat": _MATRIX,
    "numpy.frompyfunc": "its ufunc makes arrays of objects: use numpy.vectorize",
    "numpy.nested_iters": "returns views for writing: write the loops explicitly",
    "numpy.ix_": "makes indices, which are whole numbers: reshape floats instead",
    "numpy.from_dlpack": "takes memory of another library: use numpy.asarray",
}

MODULES = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.emath": np.emath,
}


def public_functions() -> dict[str, Any]:
    """Every public function of the modules, by its full name."""
    functions = {}
    for module, owner in MODULES.items():
        for name in dir(owner):
            if name.startswith("_") or name in _LEFT_OUT:
                continue
            value = getattr(owner, name)
            if callable(value) and not isinstance(value, type):
                functions[f"{module}.{name}"] = value
    return functions


# Reading the first two warns; the last runs NumPy's own tests.
_LEFT_OUT = frozenset({"in1d", "trapz", "test"})


def state_of(name: str, f: Any) -> str | None:
    """`"rule"`, `"constant"`, `"followed"`, `"missing"`; None: undecided."""
    if f in DECLARED:
        return "constant" if DECLARED[f][0] is constant else "rule"
    if name.removeprefix("numpy.") in FOLLOWED:
        return "followed"
    return "missing" if name in MISSING else None


def _paragraph(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) + "\n"


def _table() -> list[str]:
    """One row per module of the pack: what is declared there."""
    rows: dict[str, list[str]] = {}
    for name, f in public_functions().items():
        if state_of(name, f) == "rule":
            module = DECLARED[f][0].__module__.partition(".")[2]
            rows.setdefault(module, []).append(name.removeprefix("numpy."))
    return [f"### {module}\n\n{_paragraph(rows[module])}" for module in sorted(rows)]


def _methods() -> str:
    names = []
    for name in dir(np.ndarray):
        own = getattr(np.ndarray, name)
        if name.startswith("_") or not callable(own) or own not in DECLARED:
            continue
        if DECLARED[own][0] is not constant:
            names.append(f"ndarray.{name}")
    ufuncs = ("reduce", "accumulate", "outer", "reduceat")
    return _paragraph([*names, *(f"ufunc.{name}" for name in ufuncs)])


def _standard(module: Any) -> str:
    names = [
        name
        for name in dir(module)
        if not name.startswith("_") and _hashable(getattr(module, name))
    ]
    return _paragraph(
        [
            name
            for name in names
            if getattr(module, name) in DECLARED
            and DECLARED[getattr(module, name)][0] is not constant
        ]
    )


def _hashable(x: Any) -> bool:
    return callable(x) and type(x).__hash__ is not None


_KEEPING = "along tangents that keep the values equal"

_EQUAL_VALUES = [
    ("values", "what you compute", "forward mode", "reverse mode", "second order"),
    ("---",) * 5,
    ("distinct", "anything", "yes", "yes", "yes"),
    (
        "equal",
        "projectors, traces, leading vectors, low rank",
        _KEEPING,
        "yes",
        "error",
    ),
    (
        "equal",
        "`V f(w) Vᴴ` by `eigh` or `svd`, one function `f` that is not zero",
        _KEEPING,
        "yes; for two equal values not for off-diagonal entries alone",
        "error",
    ),
    (
        "equal",
        "`eigvalsh`, `eigvals`, `svdvals`",
        "equal values share",
        "equal values share",
        "error",
    ),
    ("equal", "anything else", "error", "error", "error"),
]

_HEAD = """# The NumPy pack

<!-- Made by `python -m rules_numpy.coverage`; do not edit. -->

`rules_numpy` is imported automatically at the first look-up of a rule for a function of
NumPy, `math`, `cmath` or Python's builtins. Each function has an frule and an rrule,
for real and complex arrays; dtypes are preserved. The rules are NumPy code: an AD
system for NumPy programs can differentiate them again; in JAX and PyTorch
(`to_jax(f, host=True, out=…)`, `to_torch(f, host=True)`) they run as opaque calls, at
first order, and a second derivative raises an error. These ufuncs have every order
there too (`to_jax(np.sin, host=True, elementwise=True)`): {in_hosts}.

Of the {total} public functions of `numpy`, `numpy.linalg`, `numpy.fft` and
`numpy.emath` {rule} have rules, {constant} have no derivative, {followed} are
differentiated by the engine without a rule, and {missing} have none, for the reason
below. `out=` raises an error in a rule; the engine treats it as an assignment. At
points without a derivative the
[conventions at kinks](../explanation/conventions-at-kinks.md) apply.

`eigh`, `eigvalsh` and `cholesky` read one triangle of their argument, so the cotangent
is zero in the other triangle.

The vectors of equal eigenvalues or singular values are unique only up to a rotation, so
their derivatives are restricted (the
[decision](../decisions/0022-equal-eigenvalues.md) gives the reasons, and the accuracy
at nearly equal values):

{equal_values}

What holds of equal values holds of the further vectors of a full decomposition (`svd`
with `full_matrices=True`), which are unique up to a rotation, and of the phase of a
complex vector. In forward mode the engine runs the program three times there, with
different tangents of these vectors, and compares the results. A forward rule that a
framework calls sees nothing of the program: in JAX and PyTorch, and in `rc.frule`,
forward mode gives NaN for the vectors of equal values and for several further ones.
Phases are not checked there.

Reverse mode rotates the vectors of equal values. In JAX, reverse mode of `eigh`, `eig`
and `svd` at equal values raises an error unless the vectors are unused. A zero singular
value is a symmetric kink.
"""


def _in_hosts() -> str:
    names = [f"`{name}`" for name in sorted(f.__name__ for f in IN_HOSTS)]
    return f"{', '.join(names)}; and ufuncs with arithmetic partials, such as `exp`"


_STATES = ("rule", "constant", "followed", "missing")


def page() -> str:
    """The reference page."""
    states = {name: state_of(name, f) for name, f in public_functions().items()}
    count = {s: list(states.values()).count(s) for s in _STATES}
    import builtins
    import cmath
    import math

    constants = [n for n, s in states.items() if s == "constant"]
    missing = [f"- `{n}`: {why}." for n, why in sorted(MISSING.items()) if n in states]
    parts = [
        _HEAD.format(
            total=len(states),
            in_hosts=_in_hosts(),
            equal_values="\n".join(f"| {' | '.join(row)} |" for row in _EQUAL_VALUES),
            **count,
        ),
        "## Functions with rules\n",
        *_table(),
        "## Methods\n",
        _methods(),
        "## Standard library\n",
        f"`math`: {_standard(math)}\n`cmath`: {_standard(cmath)}\n"
        f"builtins: {_standard(builtins)}",
        "## Functions without derivative\n",
        "Functions of whole numbers, truth values, indices, dtypes and files; and all "
        "methods of random generators but `permutation` and `choice`, which are "
        "differentiated with respect to the array that they draw from.\n",
        _paragraph([n.removeprefix("numpy.") for n in constants]),
        "## Differentiated by the engine\n",
        "They call the user's functions or write to their arguments. A rule cannot "
        "express this, but `rules_autodiff` differentiates the call.\n",
        _paragraph(FOLLOWED),
        "Python's `map`, `functools.reduce`, `itertools.accumulate` and `setattr` are "
        "differentiated in this way too: `rules_core.rrule` and `frule` have no rules "
        "for them. Write a rule for the calling function, with `rrule_via_ad` for the "
        "functions that it calls.\n",
        "## Not covered\n",
        "\n".join(missing) + "\n",
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
