"""`numpy.testing` inside of programs: assertions have no derivative.

The module is not imported here: it loads `unittest`.
"""

from collections.abc import Callable
from typing import Any

from rules_autodiff._python.handlers import LATER

__all__: list[str] = []

# Those that compare values; others call functions.
COMPARING = frozenset({
    "assert_", "assert_allclose", "assert_almost_equal", "assert_approx_equal",
    "assert_array_almost_equal", "assert_array_almost_equal_nulp",
    "assert_array_compare", "assert_array_equal", "assert_array_less",
    "assert_array_max_ulp", "assert_equal", "assert_string_equal",
})  # fmt: skip


def comparing(f: Any) -> Callable[..., Any] | None:
    """The handler of an assertion: it runs as it is, and raises what it raises."""
    module = getattr(f, "__module__", None) or ""
    if not module.startswith("numpy.testing") or f.__name__ not in COMPARING:
        return None

    def handle(run: Any, *args: Any, **kwargs: Any) -> Any:
        return run.below.call(f, *args, **kwargs)

    return handle


LATER["numpy"] = comparing
