"""Frozen distributions as instances of SciPy's classes, of which none else is called.

A program's `isinstance` and `hasattr` answer as with SciPy's own. What SciPy's object
has besides is refused by an error that `except AttributeError` does not swallow.
"""

from __future__ import annotations

import inspect
import sys
from typing import Any

import scipy.stats as st

import rules_core as rc

from ._parameters import METHODS, Frozen, frozen_method

__all__ = [
    "ContinuousFrozen",
    "DiscreteFrozen",
    "derive",
    "refuse_rest",
    "refuse_rest_of",
]


def refuse_rest(own: Any, scipy: Any, *fields: str) -> Any:
    """Refuse the public attributes of a class of SciPy that a subclass does not have.

    Args:
        own: The subclass.
        scipy: The class of SciPy.
        *fields: Names of attributes that its instances have besides.
    """
    defined = {n for c in own.__mro__ if c not in scipy.__mro__ for n in vars(c)}
    for name in [n for n in dir(scipy) if not n.startswith("_")]:
        if name not in defined:
            is_method = callable(getattr(scipy, name))
            setattr(own, name, _refusal(scipy.__name__, name, is_method))
    for name in fields:
        if name not in defined:
            setattr(own, name, _refusal(scipy.__name__, name, False))
    return own


_CURE = "Make another of numbers without derivative (ignore_derivatives) for it."
_CURES = {
    "expect": "Integrate the function times pdf by scipy.integrate.quad, or sum it "
    "times pmf.",
}


def _refusal(owner: str, name: str, is_method: bool) -> Any:
    def refused(self: Any, *_args: Any, **_kwds: Any) -> Any:
        message = (
            f"scipy.stats: {name} of a {owner} whose parameters or data may carry "
            f"derivatives has no formula here. {_CURES.get(name, _CURE)}"
        )
        raise rc.UnsupportedError(message)

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = f"Refused: `{name}` has no formula here."
    return refused if is_method else property(refused)


def refuse_rest_of(own: Any, name: str) -> Any:
    """Refuse an attribute that only SciPy's distribution has."""
    scipy = vars(own).get("scipy")
    if name.startswith("_") or not hasattr(scipy, name):
        raise AttributeError(name)
    message = (
        f"scipy.stats.{own.name}.{name} has no formula here: call SciPy's with numbers "
        "without derivative (ignore_derivatives)."
    )
    raise rc.UnsupportedError(message)


class _Moments(Frozen):
    """What follows from mean and variance."""

    def moment(self, order: Any = None) -> Any:
        """A moment about zero, of order 1 or 2."""
        if order not in (1, 2):
            return self.refuse(f"moment({order})")
        mean = self._call("mean")
        return mean if order == 1 else self._call("var") + mean * mean

    def stats(self, moments: str = "mv") -> Any:
        """Mean and variance."""
        names = {"m": "mean", "v": "var"}
        if not set(moments) <= set(names):
            return self.refuse(f"stats({moments!r})")
        found = tuple([self._call(names[m]) for m in "mv" if m in moments])
        return found[0] if len(found) == 1 else found

    def refuse(self, what: str) -> Any:
        """Say that there is no formula."""
        message = (
            f"scipy.stats.{self.dist.name}: {what} must have a formula to be "
            "differentiated, and there is none here. Integrate or sum its density."
        )
        raise rc.UnsupportedError(message)

    def _end(self, index: int) -> Any:
        end = self.dist.standard.ends[index]
        return self.refuse("ab"[index]) if callable(end) else end

    @property
    def a(self) -> Any:
        """The lower end of the support of the standard form."""
        return self._end(0)

    @property
    def b(self) -> Any:
        """The upper end."""
        return self._end(1)


def derive(base: Any, scipy: Any, fields: Any = (), **own: Any) -> Any:
    """A class of frozen distributions: SciPy's by its name, its kind and its methods.

    Args:
        base: What it does.
        scipy: SciPy's class.
        fields: Attributes of SciPy's instances.
        **own: What is defined besides.
    """
    methods = {
        name: frozen_method(name, getattr(scipy, name))
        for name in METHODS
        if hasattr(scipy, name)
    }
    doc = {"__module__": __name__, "__doc__": f"A `{scipy.__name__}`."}
    doc["__stands_for__"] = scipy
    made = type(scipy.__name__, (base, scipy), {**doc, **methods, **own})
    return refuse_rest(made, scipy, *fields)


ContinuousFrozen = derive(_Moments, type(st.norm()))
DiscreteFrozen = derive(_Moments, type(st.poisson(1.0)))

# vectors

_FIELDS = (
    "dim dims C log_det_scale cov_object npcond rowpsd colpsd shape_info "
    "allow_singular maxpts abseps releps"
).split()


def frozen_class(scipy: Any, shown: dict[str, Any]) -> Any:
    """The class of a frozen distribution of vectors.

    Args:
        scipy: The distribution of SciPy.
        shown: Attributes of frozen ones, as functions of the parameters.
    """
    name = type(scipy).__name__.removesuffix("_gen") + "_frozen"
    theirs = getattr(sys.modules[type(scipy).__module__], name)
    fields = [*_FIELDS, *inspect.signature(theirs.__init__).parameters]
    own: dict[str, Any] = {
        name: property(_shown(f), doc=f"`{name}`.") for name, f in shown.items()
    }
    own["_call"] = _call
    return derive(Frozen, theirs, [f for f in fields if f not in _HIDDEN], **own)


def _call(self: Any, name: str, *xs: Any) -> Any:
    """A density by the parameters as they were when the distribution was made."""
    is_density = name in ("logpdf", "pdf", "logpmf", "pmf")
    is_density |= name == "entropy" and self.dist.name != "multivariate_t"
    args, kwds = self.first if is_density else (self.args, self.kwds)
    return getattr(self.dist, name)(*xs, *args, **kwds)


_HIDDEN = ("self", "seed", "args", "kwds")


def _shown(formula: Any) -> Any:
    return lambda self: formula(*self.dist.given(self))
