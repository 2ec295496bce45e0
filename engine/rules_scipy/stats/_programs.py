"""SciPy's own distributions in NumPy programs run as those of this pack."""

from __future__ import annotations

from typing import Any

import scipy.stats as st
from scipy.stats import rv_continuous, rv_discrete

import rules_core as rc
from rules_core.extend import stand_in

from ._continuous import DISTRIBUTIONS
from ._frozen import ContinuousFrozen, DiscreteFrozen
from ._parameters import AT_POINTS, OF_PARAMETERS, Frozen, points_of

__all__ = ["own_distribution"]

# The classes of SciPy that hold the methods.
_GENERIC: Any = rv_continuous.__mro__[1]
_FROZEN: Any = type(st.norm()).__mro__[1]
_CLASSES = (rv_continuous, rv_discrete, _GENERIC)
_FROZEN_CLASSES = (_FROZEN, type(st.norm()), type(st.poisson(1.0)))


def own_distribution(dist: Any) -> Any:
    """The distribution of this pack that SciPy's is."""
    found = DISTRIBUTIONS.get(getattr(dist, "name", None) or "")
    is_same = (
        found is not None
        and type(dist) is type(found.scipy)
        and (dist.a, dist.b) == (found.scipy.a, found.scipy.b)
    )
    if not is_same:
        name = getattr(dist, "name", None) or ""
        name = name if hasattr(st, name) else type(dist).__name__
        message = (
            f"scipy.stats.{name} must have a rule to be differentiated, but is a "
            "distribution that this pack has no formulas for. Write its density with "
            "array_namespace, or give it numbers without derivative."
        )
        raise rc.UnsupportedError(message)
    return found


rc.non_differentiable(own_distribution)


def _body(name: str) -> Any:
    def method(self: Any, *args: Any, **kwds: Any) -> Any:
        return getattr(own_distribution(self), name)(*args, **kwds)

    method.__name__ = method.__qualname__ = name
    return method


def _frozen_body(name: str) -> Any:
    def method(self: Any, *xs: Any, **named: Any) -> Any:
        own = own_distribution(self.dist)
        points = points_of(getattr(type(self), name), xs, named)
        return getattr(own, name)(*points, *self.args, **self.kwds)

    method.__name__ = method.__qualname__ = name
    return method


def _define(classes: Any, name: str, body: Any) -> None:
    for owner in classes:
        if name in vars(owner):
            stand_in(vars(owner)[name])(body)


for _name in (*AT_POINTS, *OF_PARAMETERS, "nnlf"):
    _define(_CLASSES, _name, _body(_name))
    _define(_FROZEN_CLASSES, _name, _frozen_body(_name))


for _name in ("stats", "moment"):
    _define(_CLASSES, _name, _body(_name))


@stand_in(_GENERIC.__call__, _GENERIC.freeze)
def frozen(self: Any, *args: Any, **kwds: Any) -> Frozen:
    """The distribution with parameters, which carry derivatives."""
    own = own_distribution(self)
    kind = ContinuousFrozen if hasattr(own, "pdf") else DiscreteFrozen
    made: Frozen = kind(own, args, kwds, refuse_sample)
    return made


def refuse_sample(self: Any, *_args: Any, **_kwds: Any) -> Any:
    """A sample of SciPy is drawn by other means than its quantiles."""
    name = getattr(self, "name", None) or self.dist.name
    message = (
        f"scipy.stats.{name}.rvs must be given parameters without derivative: its "
        f"sample is a constant. Call rules_scipy.stats.{name}.rvs with "
        "reparameterised=True, or give it ignore_derivatives of the parameters."
    )
    raise rc.UnsupportedError(message)


stand_in(_GENERIC.rvs, _FROZEN.rvs, rv_discrete.rvs)(refuse_sample)
