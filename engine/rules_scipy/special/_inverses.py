r"""Derivatives of inverse functions from those of the function.

Where $F(\ldots, s, \ldots) = p$ defines $s$, $\partial_p s = 1 / F_s$ and $\partial_q s
= -F_q / F_s$ for every other argument $q$.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rules_core as rc

from ._arrays import where
from ._declare import ufunc

__all__ = ["Partials", "inverse"]

Partials = dict[str, Callable[..., Any]]


def inverse(
    f: Any, form: str, names: str, partials: Partials, *, clipped: bool = False
) -> rc.Primitive:
    """The primitive of an inverse function.

    Args:
        f: The inverse.
        form: The names of its arguments and the one that it solves for: `"a b p -> x"`,
            where `p` is the value of the function.
        names: The names of the arguments of the function: `"a b x"`.
        partials: The function's partials by name, of these arguments.
        clipped: Whether the value is 0 where no positive number solves the equation;
            there it is constant.
    """
    given, solved = form.split(" -> ")
    arguments = given.split()

    def partial_in(name: str) -> Any:
        if name != "p" and name not in partials:
            return f"derivative of {f.__name__} in {name}: {_WHOLE}"

        def partial(y: Any, *args: Any) -> Any:
            values = {**dict(zip(arguments, args, strict=True)), solved: y}
            at = [values[n] for n in names.split()]
            slope = partials[solved](*at)
            found = 1 / slope if name == "p" else -partials[name](*at) / slope
            return where(y < _TINY, 0.0, found) if clipped else found

        return partial

    return ufunc(f, *map(partial_in, arguments))


_TINY = 1e-300
_WHOLE = "it is a whole number; pass it as an int"
