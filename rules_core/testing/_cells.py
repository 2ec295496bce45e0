"""One way of running a function in a host, with its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

__all__ = ["Cell"]

Kind = Literal["value", "jvp", "vjp", "second", "batched", "batched_vjp"]


@final
@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of the host matrix; an adapter's `cells(level)` yields them.

    `run` moves the leaves to the host, calls `f` there and moves the results back to
    NumPy. It raises `UnsupportedError` where the host cannot do the combination; the
    cell then stands as *refused*, with that text. By `kind`:

    * `"value"`: `run(f, primals, kwargs)` → outputs
    * `"jvp"`: `run(f, primals, kwargs, tangents)` → output tangents
    * `"vjp"`: `run(f, primals, kwargs, cotangents)` → a cotangent per primal, None
      where it has no tangent
    * `"second"`: `run(f, primals, kwargs, tangents, cotangents)` → the directional
      derivative of the vjp along the tangents, as for `"vjp"`
    * `"batched"`: `run(f, [primals, …], kwargs)` → `[outputs, …]`
    * `"batched_vjp"`: `run(f, [primals, …], kwargs, [cotangents, …])` →
      `[input cotangents, …]`

    Attributes:
        name: Such as `"jit(grad)"`.
        kind: What `run` computes.
        run: `f` is a primitive, or a function of the differentiated arguments that
            calls one. Primals, tangents and cotangents are pytrees with NumPy leaves;
            None stands for the tangent of a leaf that has none. Complex cotangents
            follow this project's convention.
    """

    __module__ = "rules_core.testing"

    name: str
    kind: Kind
    run: Callable[..., Any]
