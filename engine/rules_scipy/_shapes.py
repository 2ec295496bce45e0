"""Shapes that only SciPy brings to a form: an error where a derivative cannot."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rules_core as rc
from rules_core.extend import find_adapter

__all__ = ["documented_shapes", "full_name"]


def full_name(f: Any) -> str:
    """The name under which users know a function of SciPy."""
    return ".".join([*f.__module__.split(".")[:2], f.__name__])


@contextmanager
def documented_shapes(f: Any, args: tuple[Any, ...]) -> Iterator[None]:
    """Run what holds for arguments of the shapes that SciPy documents.

    SciPy takes numbers for matrices, stacks, and more.

    Raises:
        UnsupportedError: It failed for arrays of NumPy.
    """
    try:
        yield
    except rc.RulesCoreError:
        raise
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        if find_adapter(args, {}) is not None:
            raise
        shapes = ", ".join([str(x.shape) for x in args if rc.is_array(x)])
        message = (
            f"the derivative of {full_name(f)} must be given arrays of the shapes that "
            f"SciPy documents, but got {shapes}. Bring them to that form first, as by "
            "np.atleast_1d or np.atleast_2d."
        )
        raise rc.UnsupportedError(message) from error
