"""Linear maps of a finished run: pullbacks, and the results of `linearize`.

    pullback = dy ↦ f'(args)* dy

Such a map depends on the function and the arguments, so these are its entries for a
level that differentiates it: a program may capture it, and be differentiated with
respect to the captured values. The record of the run is not an entry. A map rebuilt
with other entries runs `f` there at its first call.
"""

from copy import copy
from threading import RLock
from typing import Any, NoReturn, Self

import numpy as np

from rules_autodiff._hooks.calls import Transform
from rules_autodiff._python.plain_level import PLAIN, live
from rules_autodiff._python.values import INERT, is_float_array, is_number
from rules_autodiff._refusals import name_of, refuse
from rules_core import Structure, structure

__all__ = ["Kept", "deepest"]

ENTRIES = ("f", "args", "kwargs")
OPTIONS = frozenset(("value", "has_aux"))


class Kept(Transform):
    """A linear map at `f(*args, **kwargs)`, callable at any level, repeatedly.

    Calls from several threads run one at a time: a reverse pass accumulates cotangents
    in the tape's own slots, and repeats the writes of `f`.

    Attributes:
        level: The level that ran `f`; None before the run.
    """

    level: Any = None
    value: Any = None

    def __init__(self, f: Any, args: Any, kwargs: Any):
        self.f, self.args, self.kwargs = f, args, kwargs
        self.lock = RLock()  # a map may call itself

    def begin(self, level: Any) -> Any:
        """Run `f` on a level, and return its value, in its own memory.

        The map's residuals may include the value itself (an exponential is its own
        derivative): writes to the returned value must not reach them.
        """
        self.value = self.start(level)
        self.level = level
        return own_arrays(self.value, {}, level)

    def start(self, level: Any) -> Any:
        """Run `f`, save the residuals of `apply`, and return the value."""
        raise NotImplementedError

    def apply(self, level: Any, *directions: Any) -> Any:
        """The map itself, by the arithmetic of a level."""
        raise NotImplementedError

    def run_on(self, below: Any, *directions: Any) -> Any:
        with self.lock:
            if self.level is None:
                value = self.value
                if not agree(value, self.begin(below)):
                    refuse_other_value(self.f)
            return self.apply(deepest(below, self.level), *directions)

    def __call__(self, *directions: Any) -> Any:
        return self.run_on(PLAIN, *directions)

    def __tangent_structure__(self) -> Structure:
        values = (self.f, self.args, self.kwargs)
        return Structure(type(self), "field", ENTRIES, values, self.elsewhere)

    def __reduce__(self) -> Any:
        """Its reconstruction from parts, which frameworks store in their own way."""
        own = {name: value for name, value in vars(self).items() if name in OPTIONS}
        return made_again, (type(self), self.f, self.args, self.kwargs, own)

    def elsewhere(self, entries: Any) -> Self:
        """This kind of map at other entries: `f` still has to run there."""
        made = copy(self)
        made.f, made.args, made.kwargs = entries
        made.level = None
        return made


def made_again(cls: type[Kept], f: Any, args: Any, kwargs: Any, own: Any) -> Kept:
    """A map whose function still has to run, and must return an equal value."""
    made = cls(f, args, kwargs)
    made.__dict__.update(own)
    return made


def deepest(level: Any, own: Any) -> Any:
    """The level at which a map of level `own` runs, when `level` calls it.

    A level above the calling one may still be differentiating the entries of the map. A
    level whose forward pass is finished is not.
    """
    level = live(level)
    above = own = live(own)
    while above is not level:
        if above is PLAIN:
            return level
        above = above.below
    return own


def own_arrays(x: Any, memo: dict[int, Any], level: Any) -> Any:
    """A value whose arrays are copies; instances are not copied."""
    if type(x) in INERT or is_number(x) or callable(x):
        return x
    if id(x) not in memo:
        if isinstance(x, np.ndarray):
            memo[id(x)] = level.copied(x)
        else:
            inside = structure(x)
            if inside is None or inside.mutable:
                return x
            values = [own_arrays(value, memo, level) for value in inside.values]
            memo[id(x)] = inside.rebuild(values)
    return memo[id(x)]


def agree(known: Any, found: Any) -> bool:
    """Whether two runs of a function gave equal numbers."""
    if is_number(known) or is_float_array(known):
        return bool(np.array_equal(known, found, equal_nan=True))
    level, other = structure(known), structure(found)
    if level is None or other is None or callable(known):
        return True
    return level.names == other.names and all(map(agree, level.values, other.values))


def refuse_other_value(f: Any) -> NoReturn:
    what = (
        f"The function {name_of(f)}, whose pullback is captured by a function that is "
        "differentiated, must give the same value when it is run again, but gave "
        "another one"
    )
    cure = (
        "Draw its random numbers and read its state outside, and pass them as "
        "arguments; do not write into its result."
    )
    raise refuse(what, cure)
