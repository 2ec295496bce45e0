"""One combination of transformations of a framework."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

__all__ = ["Cell"]

Kind = Literal[
    "value", "jvp", "vjp", "second", "batched", "batched_vjp", "batched_jvp"
]  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the support matrix; an adapter's `cells(level)` yields them.

    `run` converts the leaves to the framework, calls `f` there and converts the results
    to NumPy. It raises `UnsupportedError` for an unsupported combination; the cell is
    then *refused*, with that text. By `kind`:

    * `"value"`: `run(f, primals, kwargs)` → outputs
    * `"jvp"`: `run(f, primals, kwargs, tangents)` → output tangents
    * `"vjp"`: `run(f, primals, kwargs, cotangents)` → a cotangent per primal, None
      where it has no tangent
    * `"second"`: `run(f, primals, kwargs, tangents, cotangents)` → the directional
      derivative of the vjp along the tangents, as for `"vjp"`
    * `"batched"`: `run(f, [primals, …], kwargs)` → `[outputs, …]`
    * `"batched_vjp"`: `run(f, [primals, …], kwargs, [cotangents, …])` →
      `[input cotangents, …]`
    * `"batched_jvp"`: `run(f, [primals, …], kwargs, [tangents, …])` →
      `[output tangents, …]`

    Attributes:
        name: The combination, such as `"jit(grad)"`.
        kind: What `run` computes.
        run: `f` is a primitive, or a function of the differentiated arguments that
            calls one. Primals, tangents and cotangents are pytrees with NumPy leaves;
            the tangent of a leaf without one is None. Complex cotangents follow this
            project's convention.
    """

    __module__ = "rules_core.testing"

    name: str
    kind: Kind
    run: Callable[..., Any]
