"""Rules of host functions, derived for JAX and PyTorch from the function's own code.

A derived rule is generic, like an author's: it calls the primitive itself and the two
linear maps of its derivative, which are primitives too. It has no state, so frameworks
may repeat, reorder, batch and compile the calls.
"""

import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, final

from rules_autodiff._boundary.array_places import (
    NUMPY,
    arrays_of,
    assembled,
    at,
    each_assembled,
    leaves_of,
)
from rules_autodiff._callbacks.apart import Apart, check_storing, is_under_way
from rules_autodiff._callbacks.config import EngineConfig
from rules_autodiff._lift.lift import lifted
from rules_autodiff._mutating.rule_tables import frule_mutating, rrule_mutating
from rules_autodiff._python.handlers import handler, handler_of
from rules_autodiff._python.lifted_code import is_lifted
from rules_autodiff._python.opaque import OWN, is_opaque, root_of
from rules_core import AbstractZero, NoTangent, Primitive, Pullback

from .pull_and_push import Form, Held, pull_of, push_of

__all__ = ["deriver"]


def derived_rrule(primitive: Primitive) -> Callable[..., Any]:
    """`(y, pullback)` of a host primal, generic."""
    pull = pull_of(primitive.fun)

    def rrule(*args: Any, needs: Any, **kwargs: Any) -> Any:
        y = primitive(*args, **kwargs)
        differentiated = [
            x if need else None for x, need in zip(args, needs, strict=True)
        ]
        paths = tuple(arrays_of(differentiated))
        return y, Pullback(pull_back, pull, paths, hold(primitive, args), kwargs)

    return rrule


def pull_back(pull: Primitive, wanted: Any, args: Any, kwargs: Any, dy: Any) -> Any:
    """The cotangents of a derived rule, one per argument."""
    check_readable(pull.__dict__["of"])
    places = dict(leaves_of(dy, (), {}))  # a seed may be a number
    form = Form(tuple(places), wanted)
    cotangents = pull(form, list(places.values()), args, kwargs)
    return NoTangent(), *each_assembled(
        args, dict(zip(wanted, cotangents, strict=True))
    )


def derived_frule(primitive: Primitive) -> Callable[..., Any]:
    """`(y, dy)` of a host primal, generic."""
    push = push_of(primitive.fun)

    def frule(tangents: Any, *args: Any, needs: Any, **kwargs: Any) -> Any:
        check_readable(primitive.fun)
        y = primitive(*args, **kwargs)
        pairs = zip(args, needs, strict=True)
        moving = arrays_of([x if need else None for x, need in pairs])
        tangent_at = {path: at(tangents[1:], path) for path in moving}
        places = {
            p: dx for p, dx in tangent_at.items() if not isinstance(dx, AbstractZero)
        }
        results = arrays_of(y)
        types = tuple((tuple(leaf.shape), dtype_of(leaf)) for leaf in results.values())
        form = Form(tuple(places), tuple(results), types)
        dys = push(form, list(places.values()), hold(primitive, args), kwargs)
        return y, assembled(y, dict(zip(results, dys, strict=True)))

    return frule


def hold(primitive: Primitive, args: Any) -> Any:
    """The arguments, with static ones hidden from the framework."""
    names = primitive.names or ()
    static = [name in primitive.static_argnames for name in names]
    return tuple([
        Held(x) if i < len(static) and static[i] and is_constant(x) else x
        for i, x in enumerate(args)
    ])  # fmt: skip


def is_constant(x: Any) -> bool:
    """Whether a value contains no array of a framework."""
    return all(isinstance(a, NUMPY) for a in arrays_of(x).values())


def dtype_of(x: Any) -> str:
    """NumPy's name of an array's dtype; bfloat16 is computed in float32."""
    name = str(x.dtype).rpartition(".")[2]
    return "float32" if name == "bfloat16" else name


# Functions with derivable rules


def inner_function(f: Any) -> Any:
    """The Python function that runs when `f` is called."""
    while isinstance(f, functools.partial):
        f = f.func
    if isinstance(f, MethodType):
        return f.__func__
    if isinstance(f, FunctionType | type):
        return f
    call: Any = type(f).__call__
    return call if isinstance(call, FunctionType) else f


def answers(f: Any) -> bool:
    """Whether the engine handles a call of `f` itself."""
    return bool(handler_of(f) or rrule_mutating.has(f) or frule_mutating.has(f))


def is_rule_code(f: FunctionType) -> bool:
    """Whether a rule made a function, which calls those of the user by the engine."""
    return root_of(f) in OWN


def check_readable(f: Any) -> None:
    """Raise the engine's error for a program that it cannot lift, before it runs."""
    function = inner_function(f)
    if isinstance(function, FunctionType) and not answers(function):
        lifted(function)


@final
class EngineDeriver:
    """The entry point of group `rules_core.derivers`."""

    name = "rules_autodiff"
    config = EngineConfig()

    def refusal(self, fun: Callable[..., Any]) -> str | None:
        """The reason why no rule can be derived of a function; None if one can."""
        function = inner_function(fun)
        if answers(function) or not is_opaque(function):
            return None
        return "it is no Python code that rules_autodiff looks into"

    def derive(self, kind: str, primitive: Primitive) -> Callable[..., Any]:
        """The function of the derived rule."""
        make = derived_rrule if kind == "rrule" else derived_frule
        return make(primitive)

    def numpy_function(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function without the runs that wait for it, for C code that calls it."""
        function = inner_function(f)
        if isinstance(function, type):
            function = type(function).__call__  # a metaclass may define it
        if not isinstance(function, FunctionType):
            check_storing(f)
            return f
        if not is_lifted(function) and (
            not is_under_way()
            or answers(function)
            or is_opaque(function)
            or is_rule_code(function)
        ):
            return f
        return Apart(f)


@handler(EngineDeriver.numpy_function)
def handle_numpy_function(run: Any, owner: EngineDeriver, f: Any) -> Any:
    """Rules ask at higher orders: the answer is found by looking at frames."""
    return owner.numpy_function(f)


deriver = EngineDeriver()
