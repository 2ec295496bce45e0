"""A zoo of deliberately wrong rules: each fails exactly the check named for its fault.

The specimens stand in `tests/specimens`, by the kind of their fault; importing one of
its modules puts them into the `ZOO`.
"""

from importlib import import_module

from tests.specimens.zoo import ZOO

__all__ = ["KINDS", "ZOO"]

KINDS = (
    "form", "ownership", "derivative", "linear", "lazy", "order", "forward", "found",
)  # fmt: skip

for _kind in KINDS:
    import_module(f"tests.specimens.{_kind}")
