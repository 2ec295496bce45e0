"""Between the tangents of rules_core and JAX's flat lists, by templates."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import rules_core as rc
from rules_core.extend import build_tangent, read_tangent

from .layouts import classes_by_place, layout_of, level_of
from .leaves import Template
from .project import RuleOutputError

__all__ = ["build", "read", "refuse_places"]


def build(template: Template, leaves: Iterable[Any], *, symbolic: bool = False) -> Any:
    """The canonical tangent with these leaves.

    A leaf is an array, a zero, or `NoTangent()` where the primal has no tangent.
    """
    return build_tangent(layout_of(template), leaves, symbolic=symbolic)


def refuse_places(templates: Sequence[Template], rule: Any) -> None:
    """Refuse objects whose children JAX knows by place, where a rule asks for names."""
    if not rule.name.startswith("derived by "):
        return
    for template in templates:
        for cls in classes_by_place(layout_of(template)):
            message = (
                f"{rule.label}: an argument or the result holds a {cls.__name__}, "
                "whose arrays JAX knows by their places and a derived rule by their "
                "names. Register the class with jax.tree_util.register_dataclass, or "
                "write the rules."
            )
            raise rc.UnsupportedError(message)


def read(
    template: Template,
    tangent: Any,
    wanted: Sequence[bool],
    what: str,
    rule: Any = None,
) -> list[Any]:
    """Leaves of an author's tangent, None for zero; only wanted ones are looked at.

    Args:
        template: Of the primal.
        tangent: A canonical tangent or anything equivalent.
        wanted: One flag per array of the template.
        what: Names the argument in an error, and the rule if `rule` does not.
        rule: The rule that gave the tangent; it may not be `NoTangent()` then.

    Raises:
        NoTangentError: A wanted leaf is `NoTangent()`.
        DerivativeNotImplemented: A wanted leaf is a `NotImplementedTangent`.
        RuleOutputError: The structure does not fit the primal's.
    """
    path = what if rule is None else f"{rule.label}: {what}"
    layout = layout_of(template)
    try:
        return read_tangent(
            layout, tangent, wanted, path, rule=rule, what=what, open=level_of
        )
    except rc.ProjectionError as error:
        raise RuleOutputError(str(error).removeprefix("the tangent of ")) from None
