"""JAX's adapter: which arrays are JAX's, and how a call of a primitive runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, final

import jax

from rules_jax._host.numpy_programs import numpy_function
from rules_jax._values.strong_zero import strong_product

from ._call import call_primitive, refuse_captured
from ._config import CONFIG

__all__ = ["JaxAdapter", "adapter"]


ADVICE = (
    "A primitive's function and rules run on JAX's own arrays: take what they call "
    "from rules_core.array_namespace(x), not from numpy, or declare "
    "primitive(host=True) what needs NumPy."
)


@final
class JaxAdapter:
    """The entry point of group `rules_core.adapters` for `jax` and `jaxlib` types."""

    name = "jax"
    config = CONFIG

    def owns(self, cls: type) -> bool:
        """Whether instances of `cls` are JAX arrays, traced or not."""
        return issubclass(cls, (jax.Array, jax.core.Tracer))

    def call(
        self, primitive: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """A primitive on JAX's arrays, with its rules attached."""
        try:
            return call_primitive(primitive, args, kwargs)
        except jax.errors.TracerArrayConversionError as error:
            if ADVICE not in getattr(error, "__notes__", ()):
                error.add_note(ADVICE)
            raise

    def check_captured(
        self, primitive: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Refuse a primitive with rules that captures what JAX differentiates."""
        del args, kwargs
        refuse_captured(primitive)

    def stop_gradient(self, x: Any) -> Any:
        """An array without its derivative, in every mode."""
        return jax.lax.stop_gradient(x)

    def strong_product(self, p: Any, dx: Any) -> Any:
        """`p · dx`, zero where `dx` is and `p` is infinite or NaN; transposable."""
        return strong_product(p, dx)

    def numpy_function(self, f: Any, *examples: Any) -> Any:
        """A function that a callback may run, and the arrays that it captures."""
        return numpy_function(f, *examples)

    def cells(self, level: str) -> Iterable[Any]:
        """The combinations of transformations that `check_rule` runs."""
        from ._cells import cells

        return cells(level)

    def __repr__(self) -> str:
        return "<rules_jax adapter>"


adapter = JaxAdapter()
