"""Which functions of a module of SciPy are covered, constant or missing; its page."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

__all__ = ["ModuleCoverage"]

STATES = ("covered", "constant", "missing")
# Runs SciPy's own tests.
_LEFT_OUT = frozenset({"test"})


class ModuleCoverage(NamedTuple):
    """The status of every public function of a module.

    Attributes:
        module: The module of SciPy.
        declared: Functions, each "covered" or "constant".
        missing: Names of functions without a rule, and the reason.
        head: The beginning of the page, with the numbers by name.
        constants: What the functions without derivative are.
        classes: Whether its classes count as functions.
    """

    module: ModuleType
    declared: dict[Any, str]
    missing: dict[str, str]
    head: str
    constants: str
    classes: bool = False

    def public_functions(self) -> dict[str, Any]:
        """Every public function, by its name."""
        names = [n for n in dir(self.module) if not n.startswith("_")]
        found = {n: getattr(self.module, n) for n in names if n not in _LEFT_OUT}
        return {
            n: f
            for n, f in found.items()
            if callable(f) and (self.classes or not isinstance(f, type))
        }

    def state_of(self, name: str, f: Any) -> str | None:
        """`"covered"`, `"constant"` or `"missing"`; None: undecided."""
        if f in self.declared:
            return self.declared[f]
        return "missing" if name in self.missing else None

    def page(self) -> str:
        """The reference page."""
        functions = self.public_functions()
        states = {name: self.state_of(name, f) for name, f in functions.items()}
        of = {s: [n for n, own in states.items() if own == s] for s in STATES}
        counts = {s: len(names) for s, names in of.items()}
        missing = [f"- `{name}`: {self.missing[name]}." for name in of["missing"]]
        parts = [
            self.head.format(total=len(states), **counts),
            _paragraph(of["covered"]),
            f"## Functions without derivative\n\n{self.constants}\n",
            _paragraph(of["constant"]),
            "## Not covered\n",
            "\n".join(missing or ["None."]) + "\n",
        ]
        return "\n".join(parts)


def _paragraph(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) + "\n"
