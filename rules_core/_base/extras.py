"""The extra that installs a missing library."""

from __future__ import annotations

__all__ = ["name_extra"]

# Library → the extra of the distribution that installs it.
EXTRAS = {name: name for name in ("numpy", "scipy", "jax", "torch")} | {"jaxlib": "jax"}


def name_extra(error: ImportError, package: str) -> None:
    """Say in the error of a missing library how it is installed.

    >>> from rules_core.extend import name_extra
    >>> error = ModuleNotFoundError("No module named 'jax'", name="jax")
    >>> name_extra(error, "rules_jax")
    >>> print(error)
    No module named 'jax'. rules_jax needs it: pip install 'rules-core[jax]'
    """
    extra = EXTRAS.get((error.name or "").partition(".")[0])
    if extra is not None and isinstance(error, ModuleNotFoundError):
        cure = f"pip install 'rules-core[{extra}]'"
        error.msg = f"{error.msg}. {package} needs it: {cure}"
