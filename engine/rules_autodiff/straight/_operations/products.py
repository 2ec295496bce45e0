"""Products of vectors, matrices and stacks of them."""

import re
from string import ascii_letters
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import REAL, Kind, array, is_array
from rules_autodiff.straight._program.written import OWN, Call, Written

from .adjoints import pulls_by_adjoint
from .forms import is_number, only
from .table import FUNCTIONS, function, method, operator

__all__: list[str] = []

# Of several tangents; `x.dot(d)` sums over the last axis but one of a stack `d`.
LANES = {
    (1, 1): ("{1}.dot({dz})", "{0}.dot({dz})"),
    (2, 1): ("{1}.dot({dz})", "{0}.dot({dz})"),
    (1, 2): ("{1}.T.dot({dz})", "np_tensordot({0}, {dz}, 1)"),
    (2, 2): (
        "np_tensordot({dz}, {1}, (1, 0)).swapaxes(1, 2)", "np_tensordot({0}, {dz}, 1)"
    ),
}  # fmt: skip
BOTH = OWN, OWN  # a product is linear in each factor
NONE = None, None


def product(x: Kind, y: Kind) -> Kind:
    """The kind of a product of matrices or stacks of them."""
    if x.ndim == 1 or y.ndim == 1:
        return array(x.ndim + y.ndim - 2)
    return array(max(x.ndim, y.ndim))


def both_real(call: Call) -> bool:
    """Whether a call has two arrays of numbers, at least one of floats."""
    kinds = call.kinds
    fits = only(call, 2) and all(k.name == "array" and k.dtype != "?" for k in kinds)
    return fits and any(k.is_real for k in kinds)


def of_reals(kinds: tuple[Kind, ...], texts: tuple[str, ...]) -> Any:
    """The texts of float operands."""
    return tuple(t if k.is_real else None for k, t in zip(kinds, texts, strict=True))


@operator("matmul")
@function(np.matmul)
def write_matmul(call: Call) -> Written | None:
    if not both_real(call):
        return None
    x, y = call.kinds
    texts = pulls_by_adjoint(np.matmul, call.kinds)
    pulls, lanes = of_reals((x, y), texts), LANES.get((x.ndim, y.ndim), NONE)
    return Written(product(x, y), None, pulls, pushes=BOTH, lanes=lanes)


@function(np.dot)
@method("dot")
def write_dot(call: Call) -> Written | None:
    """Like `@` for vectors and matrices; with a number it is a product."""
    if not only(call, 2):
        return None
    if any(map(is_number, call.kinds)):
        return FUNCTIONS[np.multiply](call)
    return write_matmul(call) if all(k.ndim <= 2 for k in call.kinds) else None


@function(np.vdot)
def write_vdot(call: Call) -> Written | None:
    if not both_real(call):
        return None
    vectors = all(k.ndim == 1 for k in call.kinds)
    lanes = LANES[1, 1] if vectors else NONE
    pulls = of_reals(call.kinds, pulls_by_adjoint(np.vdot, call.kinds))
    return Written(REAL, None, pulls, pushes=BOTH, lanes=lanes)


@function(np.inner)
def write_inner(call: Call) -> Written | None:
    """Sums of products along both last axes."""
    if not both_real(call):
        return None
    x, y = call.kinds
    if max(x.ndim, y.ndim) > 2:
        return None
    texts = pulls_by_adjoint(np.inner, call.kinds)
    lanes = LANES[1, 1] if x.ndim == y.ndim == 1 else NONE
    kind, pulls = array(x.ndim + y.ndim - 2), of_reals((x, y), texts)
    return Written(kind, None, pulls, pushes=BOTH, lanes=lanes)


@function(np.outer)
def write_outer(call: Call) -> Written | None:
    if not both_real(call) or any(k.ndim != 1 for k in call.kinds):
        return None
    texts = pulls_by_adjoint(np.outer, call.kinds)
    lanes = "{dz}[:, None] * {1}[:, None]", "{0}[:, None, None] * {dz}"
    pulls = of_reals(call.kinds, texts)
    return Written(array(2), None, pulls, pushes=BOTH, lanes=lanes)


@function(np.kron)
def write_kron(call: Call) -> Written | None:
    """The Kronecker product of two vectors or two matrices."""
    x, y = (*call.kinds, REAL, REAL)[:2]
    if not only(call, 2) or not is_array(x) or x != y or x.ndim > 2:
        return None
    texts = "kron_by_left({dz}, {1}, {s0})", "kron_by_right({dz}, {0}, {s1})"
    return Written(x, None, texts, pushes=BOTH, lanes=NONE)


# einsum: the cotangent of an operand is the einsum of the result's and the others


@function(np.einsum)
def write_einsum(call: Call) -> Written | None:
    """Explicit index sums, with every letter once in each operand."""
    subscripts = call.constants[0] if call.constants else None
    if not isinstance(subscripts, str) or call.options:
        return None
    match = re.fullmatch(r"([a-zA-Z,]+)->([a-zA-Z]*)", subscripts.replace(" ", ""))
    if match is None:
        return None
    names, out = match[1].split(","), match[2]
    kinds = call.kinds[1:]
    fits = len(names) == len(kinds) and all(
        is_array(k) and k.ndim == len(n) == len(set(n))
        for k, n in zip(kinds, names, strict=False)
    )
    if not fits or len(set(out)) != len(out):
        return None
    pulls = [einsum_pull(names, out, i) for i in range(len(names))]
    if None in pulls:
        return None
    # With an optimised path or not, NumPy may return a view if nothing is summed.
    pushes = (None, *[OWN for _ in names])
    lanes = None, *[einsum_lanes(names, out, i) for i in range(len(names))]
    fresh = len(names) > 1
    return Written(array(len(out)), None, (None, *pulls), fresh, pushes, lanes)


def einsum_lanes(names: list[str], out: str, place: int) -> str | None:
    """Several tangents by those of one operand."""
    letter = next((c for c in ascii_letters if c not in "".join(names)), None)
    if letter is None:
        return None
    parts = [n + letter if i == place else n for i, n in enumerate(names)]
    fields = [f"{{{i + 1}}}" if i != place else "{dz}" for i in range(len(names))]
    return f"np_einsum('{','.join(parts)}->{out}{letter}', {', '.join(fields)})"


def einsum_pull(names: list[str], out: str, place: int) -> str | None:
    """The cotangent of one operand; its own letters would have to be broadcast."""
    others = [n for i, n in enumerate(names) if i != place]
    if not set(names[place]) <= set(out).union(*others):
        return None
    fields = [f"{{{i + 1}}}" for i in range(len(names)) if i != place]
    parts, values = ([out, *others], ["{dz}", *fields]) if out else (others, fields)
    if not parts:
        return None
    text = f"np_einsum('{','.join(parts)}->{names[place]}', {', '.join(values)})"
    return f"fit({text if out else '{dz} * ' + text}, {{s{place + 1}}})"
