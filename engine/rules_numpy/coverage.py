"""What of NumPy is covered, and the page that says so.

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

# What takes functions of the user, or writes into its arguments: not a matter of one
# rule but of the program, which the reference engine follows.
FOLLOWED = """
apply_along_axis apply_over_axes copyto fill_diagonal fromfunction fromiter piecewise
place put put_along_axis putmask
""".split()

_MATRIX = "makes an np.matrix, whose products are not those of arrays"

# What has no rule, and why.
MISSING = {
    "numpy.asmatrix": _MATRIX,
    "numpy.bmat": _MATRIX,
    "numpy.frompyfunc": "its ufunc makes arrays of objects: use numpy.vectorize",
    "numpy.nested_iters": "hands out views to be written to: write the loops out",
    "numpy.ix_": "makes indices, which are whole numbers: reshape floats instead",
    "numpy.from_dlpack": "takes over the memory of another library: use numpy.asarray",
}

MODULES = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "numpy.emath": np.emath,
}


def public_functions() -> dict[str, Any]:
    """Every public function of the modules, by its full name."""
    found = {}
    for module, owner in MODULES.items():
        for name in dir(owner):
            if name.startswith("_") or name in _LEFT_OUT:
                continue
            value = getattr(owner, name)
            if callable(value) and not isinstance(value, type):
                found[f"{module}.{name}"] = value
    return found


# Reading the first two warns; the last runs NumPy's own tests.
_LEFT_OUT = frozenset({"in1d", "trapz", "test"})


def state_of(name: str, f: Any) -> str | None:
    """`"rule"`, `"constant"`, `"followed"`, `"missing"`; None: nobody thought of it."""
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


_HEAD = """# The NumPy pack

<!-- Made by `python -m rules_numpy.coverage`; do not edit. -->

`rules_numpy` is imported by itself at the first look-up of a rule for a function of
NumPy, `math`, `cmath` or Python's builtins. Each function has an frule and an rrule,
for real and complex arrays; the dtype is kept. The bodies are NumPy code: an engine
that follows NumPy programs differentiates them again; inside JAX and PyTorch
(`to_jax(f, host=True, out=…)`, `to_torch(f, host=True)`) they run as opaque calls, at
first order, and a second derivative is an error. These ufuncs have every order there
too (`to_jax(np.sin, host=True, elementwise=True)`): {in_hosts}.

Of the {total} public functions of `numpy`, `numpy.linalg`, `numpy.fft` and
`numpy.emath` {rule} have rules, {constant} carry no derivative, {followed} are followed
by the reference engine without a rule, and {missing} have none, for the reason that is
given. `out=` is refused with an error: an engine that follows writes assigns the
result. Where a derivative does not exist the
[conventions at kinks](../explanation/conventions-at-kinks.md) hold.

Two conventions of NumPy itself show in the derivatives: `eigh`, `eigvalsh` and
`cholesky` read one triangle of their argument, so the cotangent has zeros in the other;
and the vectors of equal eigenvalues or singular values are fixed up to a rotation only.
There a function that treats equal ones alike has the right derivative (projectors,
traces, leading vectors, low rank), as far as values and vectors determine it. In
reverse mode they do so too for one function of the matrix, `V f(w) Vᴴ` by `eigh` or
`svd`, where `f` is not zero; of two equal values not for entries off the diagonal
alone. Anything else is an error, in both modes, and so is a second derivative. Reverse
mode turns such vectors among themselves; the
[decision](../decisions/0022-equal-eigenvalues.md) says why, and what nearly equal
values cost. In JAX, reverse mode of `eigh`, `eig` and `svd` refuses equal values unless
nothing uses the vectors. A zero singular value is a symmetric kink.
"""


def _in_hosts() -> str:
    names = [f"`{name}`" for name in sorted(f.__name__ for f in IN_HOSTS)]
    return f"{', '.join(names)}; and whose partials are plain arithmetic, as of `exp`"


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
        _HEAD.format(total=len(states), in_hosts=_in_hosts(), **count),
        "## Functions with rules\n",
        *_table(),
        "## Methods\n",
        _methods(),
        "## Standard library\n",
        f"`math`: {_standard(math)}\n`cmath`: {_standard(cmath)}\n"
        f"builtins: {_standard(builtins)}",
        "## Functions without derivative\n",
        "Whole numbers, truth values, indices, dtypes, files; and all methods of "
        "random generators but `permutation` and `choice`, which move with the array "
        "that they draw from.\n",
        _paragraph([n.removeprefix("numpy.") for n in constants]),
        "## Followed by the engine\n",
        "They call functions of the user, or write into their arguments: no rule for "
        "one call says what that means, but `rules_autodiff` does what they do.\n",
        _paragraph(FOLLOWED),
        "So it is with Python's `map`, `functools.reduce`, `itertools.accumulate` and "
        "`setattr`: `rules_core.rrule` and `frule` have no rules of them. Write a rule "
        "for the function that calls them, with `rrule_via_ad` for what it calls.\n",
        "## Not covered\n",
        "\n".join(missing) + "\n",
    ]
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
