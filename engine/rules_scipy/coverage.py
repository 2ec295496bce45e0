"""Coverage of SciPy, and the page docs/reference/scipy-pack.md.

`python -m rules_scipy.coverage` prints docs/reference/scipy-pack.md.
"""

from __future__ import annotations

import sys
from typing import Any

import scipy.special

from . import special
from .special._declare import DECLARED, PARTIALS

__all__ = ["MISSING", "MODULES", "page", "public_functions", "state_of"]

MODULES = {"scipy.special": scipy.special}

_OBJECT = "makes a polynomial object: use the function eval_… of the polynomial"
_NODES = "nodes and weights depend on a real parameter, and have no formula in it"
_COUNTS = "counts whole numbers: use {} for real arguments"
_VECTOR = "returns all orders up to one as a vector: use {} for one order"
_LAME = "has no formula for its slope in SciPy's functions"

# Functions without a rule, and the reason.
MISSING = {
    **dict.fromkeys(
        "chebyc chebys chebyt chebyu gegenbauer genlaguerre hermite hermitenorm jacobi "
        "laguerre legendre sh_chebyt sh_chebyu sh_jacobi sh_legendre".split(),
        _OBJECT,
    ),
    **dict.fromkeys(
        "roots_gegenbauer roots_genlaguerre roots_jacobi roots_sh_jacobi".split(),
        _NODES,
    ),
    "comb": _COUNTS.format("binom"),
    "perm": _COUNTS.format("poch"),
    "factorial2": _COUNTS.format("gamma"),
    "factorialk": _COUNTS.format("gamma"),
    "ellip_harm": _LAME,
    "ellip_harm_2": _LAME,
    "ellip_normal": _LAME,
    "mathieu_even_coef": "returns a series of unknown length: use mathieu_cem",
    "mathieu_odd_coef": "returns a series of unknown length: use mathieu_sem",
    "obl_cv_seq": _VECTOR.format("obl_cv"),
    "pro_cv_seq": _VECTOR.format("pro_cv"),
    "pbdn_seq": _VECTOR.format("pbdv"),
    "pbdv_seq": _VECTOR.format("pbdv"),
    "pbvv_seq": _VECTOR.format("pbvv"),
    "riccati_jn": _VECTOR.format("spherical_jn"),
    "riccati_yn": _VECTOR.format("spherical_yn"),
    "lmbda": _VECTOR.format("jv"),
    "lqn": _VECTOR.format("hyp2f1"),
    "lqmn": _VECTOR.format("hyp2f1"),
    "sph_harm_y_all": _VECTOR.format("sph_harm_y"),
}
# Runs SciPy's own tests.
_LEFT_OUT = frozenset({"test"})


def public_functions() -> dict[str, Any]:
    """Every public function of the modules, by its full name."""
    functions = {}
    for module, owner in MODULES.items():
        for name in dir(owner):
            value = getattr(owner, name)
            if name.startswith("_") or name in _LEFT_OUT or isinstance(value, type):
                continue
            if callable(value):
                functions[f"{module}.{name}"] = value
    return functions


def _reason(name: str, f: Any) -> str | None:
    """Why a function is missing; `ps_roots` is another name of a function."""
    return MISSING.get(name.rpartition(".")[2]) or MISSING.get(
        getattr(f, "__name__", "")
    )


def state_of(name: str, f: Any) -> str | None:
    """`"covered"`, `"constant"` or `"missing"`; None: undecided."""
    if f in DECLARED:
        return DECLARED[f]
    if getattr(f, "__module__", "") == "numpy":
        return "covered"  # by NumPy's pack
    return "missing" if _reason(name, f) else None


_HEAD = """# The SciPy pack

<!-- Made by `python -m rules_scipy.coverage`; do not edit. -->

`rules_scipy` is imported automatically at the first look-up of a rule for a function of
SciPy. Of the {total} public functions of `scipy.special`, {covered} have rules,
{constant} have no derivative, and {missing} have no rule, for the reason below.
[](../how-to/use-the-scipy-pack.md) shows how to use them, and
[](scipy-accuracy.md) how accurate they are.

In the table *formula* means that the derivative in this argument is a formula,
*difference* that it is computed by differences of order twelve; *no*: the argument is a
whole number or an option. Whole numbers are constants: pass them as `int`.

## Functions with rules
"""


def _kind(partial: Any) -> str:
    if partial is None or isinstance(partial, str):
        return "no"
    return "difference" if getattr(partial, "difference", False) else "formula"


def _row(name: str, f: Any) -> str:
    made = getattr(special, name, None)
    kinds = [_kind(p) for p in PARTIALS.get(made, ())]
    return f"| `{name}` | {', '.join(kinds) or 'formula'} |"


def _paragraph(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) + "\n"


def page() -> str:
    """The reference page."""
    functions = public_functions()
    states = {name: state_of(name, f) for name, f in functions.items()}
    short = {name: name.rpartition(".")[2] for name in states}
    count = {s: list(states.values()).count(s) for s in _STATES}
    rows = [_row(short[n], functions[n]) for n, s in states.items() if s == "covered"]
    constants = [short[n] for n, s in states.items() if s == "constant"]
    missing = [
        f"- `{short[n]}`: {_reason(n, functions[n])}."
        for n, s in states.items()
        if s == "missing"
    ]
    parts = [
        _HEAD.format(total=len(states), **count),
        "| function | derivative in each argument |\n|---|---|\n" + "\n".join(rows),
        "\n## Functions without derivative\n",
        "Zeros, nodes of quadrature, functions of whole numbers, and settings.\n",
        _paragraph(constants),
        "## Not covered\n",
        "\n".join(missing) + "\n",
    ]
    return "\n".join(parts)


_STATES = ("covered", "constant", "missing")

if __name__ == "__main__":
    sys.stdout.write(page())
