"""A rule gives equal results for arrays in another order of memory.

Programs pass transposed and strided arrays; libraries in C and Fortran, and
`order="K"`, read memory as it lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rules_core import structure

from ._checks_linear import seeds
from ._modes import Mode
from ._report import Failure, NotRun

__all__ = ["layout_is_ignored"]


def layout_is_ignored(mode: Mode) -> None:
    """Arguments and tangents in Fortran's order, or with gaps, change nothing."""
    subject = mode.subject
    at = subject.space.map(lambda leaf: in_other_layout(leaf.copy()))
    _refuse_layouts(mode, at)
    u = seeds(mode)[0]
    expected = mode.image(u)
    try:
        found = mode.read(mode.run(in_other_layout(mode.domain.tangent(u)), at=at).raw)
    except Exception as error:
        message = f"for arrays in another order of memory it raises {error!r}"
        raise Failure(message) from error
    place = subject.tolerance.differs(found, expected)
    if place is not None:
        message = (
            f"{mode.codomain.labels[place]}: {found[place]:.8g} for arrays in "
            f"Fortran's order or with gaps, {expected[place]:.8g} for contiguous ones"
        )
        raise Failure(message)


def _refuse_layouts(mode: Mode, at: Any) -> None:
    """Check what the function itself does there: that is not the rule's to mend."""
    subject = mode.subject
    try:
        y = subject.out.values(subject.call(at))
    except Exception as error:
        message = f"the function itself does not take such arrays: {error!r}"
        raise NotRun(message) from None
    if subject.tolerance.differs(y, subject.out.origin) is not None:
        message = "the function's own value depends on the order of memory"
        raise NotRun(message)


def in_other_layout(x: Any) -> Any:
    """A value with each array of NumPy in Fortran's order, vectors with gaps."""
    if type(x) is np.ndarray and x.ndim:
        other = np.asfortranarray(x)
        return np.repeat(x, 2, axis=-1)[..., ::2] if other.flags.c_contiguous else other
    level = structure(x)
    if level is None:
        return x
    values = [in_other_layout(value) for value in level.values]
    changed = any(a is not b for a, b in zip(values, level.values, strict=True))
    return level.rebuild(values) if changed else x
