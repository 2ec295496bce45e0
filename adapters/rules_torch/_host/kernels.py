"""Operators that torch calls by name, and what each does in every mode of torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rules_torch._compat import Levels, below_autograd

__all__ = ["Kernels", "define_looking", "define_noting", "define_opaque"]

NAMESPACE = "rules_torch"
_LIBRARY = torch.library.Library(NAMESPACE, "FRAGMENT")


class Kernels(NamedTuple):
    """The kernels of an operator.

    Attributes:
        run: On tensors with data, without derivatives.
        fake: On tensors without data.
        with_rules: Where a derivative is wanted, and under `torch.vmap`.
    """

    run: Callable[..., Any]
    fake: Callable[..., Any]
    with_rules: Callable[..., Any]


def define_looking(name: str, schema: str, kernels: Kernels) -> Any:
    """An operator that stays in no graph but where `with_rules` puts it."""
    operator = _define(name, schema, kernels)
    _LIBRARY.impl(name, kernels.with_rules, "Autograd")
    return operator


def define_opaque(name: str, schema: str, kernels: Kernels) -> Any:
    """An operator without derivatives, except where they are wanted after all.

    So it is in a program that was written down. torch's own custom operators have no
    tangent there, and do not say so.
    """
    operator = _define(name, schema, kernels)

    def autograd(*arguments: Any) -> Any:
        levels = Levels()
        tensors = [x for x in arguments if isinstance(x, Tensor)]
        if any(True in levels.tracking(x) for x in tensors):
            return kernels.with_rules(*arguments)
        with below_autograd():
            return operator(*arguments)

    _LIBRARY.impl(name, autograd, "Autograd")
    return operator


def define_noting(
    name: str, schema: str, run: Callable[..., Any], fake: Callable[..., Any]
) -> Any:
    """An operator without derivatives and without batches, whose result is one tensor.

    The levels of torch.func pass it by.
    """
    _LIBRARY.define(f"{name}{schema} -> Tensor", tags=torch.Tag.pt2_compliant_tag)
    _LIBRARY.impl(name, run, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{NAMESPACE}::{name}", fake, lib=_LIBRARY)
    return getattr(torch.ops.rules_torch, name)


def _define(name: str, schema: str, kernels: Kernels) -> Any:
    _LIBRARY.define(name + schema, tags=torch.Tag.pt2_compliant_tag)
    _LIBRARY.impl(name, kernels.run, "CompositeExplicitAutograd")
    _LIBRARY.impl(name, kernels.with_rules, "FuncTorchDynamicLayerFrontMode")
    torch.library.register_fake(f"{NAMESPACE}::{name}", kernels.fake, lib=_LIBRARY)
    return getattr(torch.ops.rules_torch, name)
