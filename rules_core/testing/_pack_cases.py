"""`pack_cases`: a whole pack in one parametrised test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

from rules_core import Primitive, Rule, rules
from rules_core._dispatch.registry import PACKS
from rules_core._dispatch.rule_key import describe

from ._front import Level
from ._misuse import CheckCallError
from ._pack import check_pack, owned_by
from ._report import Report
from ._rule import check_rule

__all__ = ["PackCase", "pack_cases"]


@final
class PackCase:
    """One test of a pack; call it. Its `str` is its name."""

    def __init__(self, name: str, run: Callable[[Level], Report]) -> None:
        self.name, self._run = name, run

    def __call__(self, level: Level = "quick") -> Report:
        """Run the test.

        Raises:
            CheckFailed: A check failed.
            CheckCallError: A function with rules has no arguments to be checked at.
        """
        return self._run(level)

    def __repr__(self) -> str:
        return self.name


def pack_cases(
    name: str, arguments: Mapping[Any, Any] | None = None, /, **options: Any
) -> list[PackCase]:
    """The tests of a whole pack, for `pytest.mark.parametrize`.

    The first one is `check_pack`; then, if there are arguments, one `check_rule` for
    each point of each function. A function whose rules the pack defines, and which
    `arguments` leaves out, is a test that fails.

    Args:
        name: The pack, as in `check_pack`.
        arguments: By function, the arguments at which it is checked: a tuple, or a list
            of tuples.
        **options: Of `check_rule`.

    >>> import math
    >>> from rules_core.testing import pack_cases
    >>> pack_cases("math")
    [pack]

    In a test file::

        @pytest.mark.parametrize("case", pack_cases("astrolib", POINTS), ids=str)
        def test_pack(case, rules_level):
            case(rules_level)
    """
    cases = [PackCase("pack", lambda _level: check_pack(name))]
    if arguments is None:
        return cases
    PACKS.load(name)
    points = {_key(f): _points(given) for f, given in arguments.items()}
    for f in {**arguments, **_left_out(name, points)}:
        listed = points.get(_key(f), [])
        shown = describe(_key(f))
        cases.extend(_at(f, shown, args, options) for args in listed)
        if not listed:
            cases.append(_without_points(name, shown))
    return cases


def _key(f: Any) -> Any:
    return f.fun if isinstance(f, Primitive) else f


def _points(given: Any) -> list[tuple[Any, ...]]:
    return list(given) if isinstance(given, list) else [given]


def _left_out(name: str, points: Mapping[Any, Any]) -> dict[Any, None]:
    """Functions whose rules the pack defines, without points."""
    owned = [r.key for r in rules() if owned_by(name, r) and _has_a_derivative(r)]
    return {key: None for key in owned if key not in points}


def _has_a_derivative(rule: Rule) -> bool:
    return not (rule.opted_out or rule.constant)


def _at(f: Any, shown: str, args: tuple[Any, ...], options: dict[str, Any]) -> PackCase:
    def run(level: Level) -> Report:
        return check_rule(f, *args, **{"level": level, **options})

    return PackCase(f"{shown}{_text(args)}", run)


def _text(args: tuple[Any, ...]) -> str:
    """Arguments on one line that is no longer than a test's name should be."""
    shown = ", ".join(repr(x).replace("\n", "") for x in args)
    return f"({shown})" if len(shown) < 40 else "(…)"


def _without_points(name: str, shown: str) -> PackCase:
    def run(_level: Level) -> Report:
        message = (
            f"pack_cases({name!r}): {shown} has rules in the pack, but no arguments to "
            "be checked at. Add it to the arguments."
        )
        raise CheckCallError(message)

    return PackCase(f"{shown} without arguments", run)
