"""A primal together with the direction of its perturbation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

__all__ = ["Seeded"]


@final
@dataclass(frozen=True, slots=True)
class Seeded:
    """An argument that a tester moves only along `tangent`.

    For arguments that may not move freely: a symmetric matrix needs symmetric tangents.
    With `NoTangent()` the argument is constant, and the rule must return `NoTangent()`
    or a zero for it. The counterpart of ChainRulesTestUtils' `primal ⊢ tangent`.

    Attributes:
        primal: The argument.
        tangent: A tangent of it, in any form that rules may return.

    >>> import numpy as np
    >>> from rules_core.testing import Seeded
    >>> Seeded(np.eye(2), np.ones((2, 2))).tangent.shape
    (2, 2)
    """

    __module__ = "rules_core.testing"

    primal: Any
    tangent: Any
