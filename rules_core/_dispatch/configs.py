"""Configurations of AD systems, their traits, and calling back into them.

Follows ChainRulesCore's `config.jl`: a rule may require a configuration with certain
traits, and then receives the configuration as its first argument.
"""

from __future__ import annotations

import copyreg
from functools import cache, lru_cache
from typing import Any

from rules_core._base.errors import RuleDefinitionError, ViaADError

__all__ = [
    "CONFIGS",
    "HasForwardsMode",
    "HasReverseMode",
    "NoForwardsMode",
    "NoReverseMode",
    "RuleConfig",
    "SupportsMutation",
    "Trait",
    "frule_via_ad",
    "requirement",
    "rrule_via_ad",
]


# Every config class, so that `rrule` recognises a config as first argument.
CONFIGS: set[type] = set()


class Trait:
    """Base of the traits of a `RuleConfig`.

    Derive a trait for an ability of your own AD system, and require it in rules:

    >>> from rules_core import RuleConfig, Trait
    >>> class HasSparsity(Trait): ...
    >>> class SparseConfig(RuleConfig, HasSparsity): ...
    >>> issubclass(SparseConfig, RuleConfig[HasSparsity])
    True
    """


class HasReverseMode(Trait):
    """The AD system implements `rrule_via_ad` for every callable it can handle."""


class NoReverseMode(Trait):
    """The AD system has no reverse mode; do not call `rrule_via_ad`."""


class HasForwardsMode(Trait):
    """The AD system implements `frule_via_ad` for every callable it can handle."""


class NoForwardsMode(Trait):
    """The AD system has no forward mode; do not call `frule_via_ad`."""


class SupportsMutation(Trait):
    """The AD system supports writes to arrays and containers, in rules too."""


class _ConfigMeta(type):
    """`issubclass(C, RuleConfig[A, B])` holds if C has the traits A and B."""

    needs: tuple[type, ...] | None = None

    def __init__(cls, *args: Any, **kw: Any) -> None:
        super().__init__(*args, **kw)
        CONFIGS.add(cls)

    def __subclasscheck__(cls, other: type) -> bool:
        if cls.needs is None:
            return type.__subclasscheck__(cls, other)
        if not type.__subclasscheck__(RuleConfig, other):
            return False
        have = getattr(other, "needs", None) or (other,)
        return all(any(issubclass(h, need) for h in have) for need in cls.needs)

    def __instancecheck__(cls, instance: object) -> bool:
        return cls.__subclasscheck__(type(instance))

    def __getitem__(cls, traits: Any) -> type[RuleConfig]:
        items = traits if isinstance(traits, tuple) else (traits,)
        if cls is not RuleConfig or not items:
            names = ", ".join(getattr(item, "__name__", str(item)) for item in items)
            message = (
                "only RuleConfig[…] names traits, one or more, but got "
                f"{cls.__name__}[{names}]. A config class is written without brackets."
            )
            raise RuleDefinitionError(message)
        for item in items:
            if not isinstance(item, type) or not issubclass(item, Trait):
                message = (
                    f"RuleConfig[…] must name traits such as HasReverseMode, but got "
                    f"{item!r}. A config class is written without brackets: "
                    f"config={getattr(item, '__name__', item)}."
                )
                raise RuleDefinitionError(message)
        return _requirement(frozenset(items))


def _reduce(cls: _ConfigMeta) -> Any:
    """Pickling of config classes: by name, `RuleConfig[…]` by its traits."""
    return cls.__qualname__ if cls.needs is None else (requirement, cls.needs)


copyreg.pickle(_ConfigMeta, _reduce)


class RuleConfig(metaclass=_ConfigMeta):
    """Base of the configuration of each AD system.

    A system derives from it and from its traits; a plain `rrule(f, x)` call has no
    configuration. `RuleConfig[A, B]` stands for every configuration with the traits A
    and B.

    >>> from rules_core import HasReverseMode, NoForwardsMode, RuleConfig
    >>> class MyConfig(RuleConfig, HasReverseMode, NoForwardsMode): ...
    >>> issubclass(MyConfig, RuleConfig[HasReverseMode])
    True

    Attributes:
        own_values: Whether a program continues with the value of the rrule instead of
            the function's own. They differ if a function has several valid values, such
            as the vectors of equal eigenvalues.
    """

    own_values = True

    def frule_via_ad(self, tangents: Any, f: Any, *args: Any, **kw: Any) -> Any:
        """`(y, dy)` by this AD system; implemented under `HasForwardsMode`."""
        raise _not_promised(self, "frule_via_ad", HasForwardsMode)

    def rrule_via_ad(self, f: Any, *args: Any, **kw: Any) -> Any:
        """`(y, pullback)` by this AD system; implemented under `HasReverseMode`."""
        raise _not_promised(self, "rrule_via_ad", HasReverseMode)

    def check_uncut(self, label: str, f: Any, *args: Any, **kw: Any) -> None:
        """Raise an error if `f` cuts its arguments from their derivatives in silence.

        For systems in which a number may be taken from an array that is differentiated.

        Args:
            label: Names `f` in the error.
            f: A function that a rule differentiates.
            *args: The arguments.
            **kw: The keywords.
        """

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


@cache
def _requirement(traits: frozenset[type]) -> type[RuleConfig]:
    ordered = tuple(sorted(traits, key=lambda t: t.__qualname__))
    name = f"RuleConfig[{', '.join(t.__name__ for t in ordered)}]"
    made = _ConfigMeta(name, (RuleConfig,), {"__module__": __name__})
    made.needs = ordered
    return made  # type: ignore[return-value]  # a class, as its bases say


def requirement(*traits: type) -> type[RuleConfig]:
    """`RuleConfig[traits]` as a function, for pickling."""
    return RuleConfig[traits]


def _not_promised(config: RuleConfig, method: str, trait: type) -> ViaADError:
    has = isinstance(config, trait)
    why = (
        f"it has the trait {trait.__name__} but does not implement {method}"
        if has
        else f"it does not have the trait {trait.__name__}"
    )
    return ViaADError(
        f"{method} with {config!r}: {why}. Ask for the trait in the rule, "
        f"config=RuleConfig[{trait.__name__}], or call it with another config."
    )


@lru_cache(maxsize=64)
def _has(cls: Any, trait: Any) -> bool:
    """`issubclass`, which takes microseconds for the classes of configurations."""
    return issubclass(cls, trait)


def _require_config(config: Any, method: str) -> None:
    cls: Any = type(config)
    if not _has(cls, RuleConfig):
        message = f"{method} must get a RuleConfig first, but got {config!r}."
        raise ViaADError(message)


def frule_via_ad(
    config: RuleConfig, tangents: tuple[Any, ...], f: Any, *args: Any, **kw: Any
) -> tuple[Any, Any]:
    """Differentiate `f` in forward mode by the calling AD: `(y, dy = ḟ + f'(x) dx)`.

    Args:
        config: The configuration that the rule received.
        tangents: `(df, dx1, …)`.
        f: The function to differentiate; it needs no rule.
        *args: Its positional arguments.
        **kw: Its keyword arguments, which are not differentiated.

    Raises:
        ViaADError: The system has no forward mode.

    >>> import numpy as np
    >>> from rules_core import NoTangent, frule_via_ad
    >>> from rules_core.testing import FiniteDifferenceConfig
    >>> y, dy = frule_via_ad(FiniteDifferenceConfig(), (NoTangent(), 1.0), np.sin, 0.0)
    >>> round(float(dy), 6)
    1.0
    """
    _require_config(config, "frule_via_ad")
    if not _has(type(config), HasForwardsMode):
        raise _not_promised(config, "frule_via_ad", HasForwardsMode)
    pair: tuple[Any, Any] = config.frule_via_ad(tangents, f, *args, **kw)
    return pair


def rrule_via_ad(config: RuleConfig, f: Any, *args: Any, **kw: Any) -> tuple[Any, Any]:
    """Differentiate `f` in reverse mode by the calling AD: `(y, dy ↦ (df, f'(x)* dy))`.

    Args:
        config: The configuration that the rule received.
        f: The function to differentiate; it needs no rule.
        *args: Its positional arguments.
        **kw: Its keyword arguments, which are not differentiated.

    Raises:
        ViaADError: The system has no reverse mode.

    >>> import numpy as np
    >>> from rules_core import rrule_via_ad
    >>> from rules_core.testing import FiniteDifferenceConfig
    >>> y, pullback = rrule_via_ad(FiniteDifferenceConfig(), np.sin, 0.0)
    >>> round(float(pullback(1.0)[1]), 6)
    1.0
    """
    _require_config(config, "rrule_via_ad")
    if not _has(type(config), HasReverseMode):
        raise _not_promised(config, "rrule_via_ad", HasReverseMode)
    pair: tuple[Any, Any] = config.rrule_via_ad(f, *args, **kw)
    return pair
