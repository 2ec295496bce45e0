"""The front door: JAX's names and argument order."""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff._calls import HANDLERS, Transform
from rules_autodiff._directions import (
    check_differentiable,
    check_direction,
    check_function,
    check_tangents,
)
from rules_autodiff._forward import ForwardRun
from rules_autodiff._inputs import Const, Entrance, without_const
from rules_autodiff._kept import Kept
from rules_autodiff._outputs import as_given
from rules_autodiff._plain import PLAIN
from rules_autodiff._recording import Recording, guarded
from rules_core import NoTangent

__all__ = ["grad", "hvp", "jvp", "linearize", "value_and_grad", "vjp"]

Argnums = int | tuple[int, ...]

# Classes as tuples: `isinstance(x, A | B)` makes a union at each call, which takes as
# long as ten of the questions.
INTEGERS = (int, np.integer)
REALS = (float, np.floating)
SEVERAL = (tuple, list)


class Derived(Transform):
    """A function that the engine made of another, `grad(f)` and its like."""

    def __init__(self, name: str, f: Any, run_on: Callable[..., Any]):
        check_function(f, name)
        self._run_on = run_on
        self._name = name
        functools.update_wrapper(self, f, updated=())

    def run_on(self, below: Any, *args: Any, **kwargs: Any) -> Any:
        return self._run_on(below, *args, **kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run_on(PLAIN, *args, **kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """Bind like a function, so that `grad` works on methods inside classes."""
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        inner = getattr(self.__wrapped__, "__qualname__", repr(self.__wrapped__))
        return f"{self._name}({inner})"

    __wrapped__: Any


def on_plain(run_on: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the front door: called in a run it works on top of that run."""

    @functools.wraps(run_on)
    def call(*args: Any, **kwargs: Any) -> Any:
        return run_on(PLAIN, *args, **kwargs)

    HANDLERS[call] = run_on
    own = inspect.signature(run_on)
    seen = list(own.parameters.values())[1:]  # the level is no argument of the user's
    # `inspect` reads an attribute that functions do not declare.
    call.__signature__ = own.replace(parameters=seen)  # type: ignore[attr-defined]
    return call


def positions(argnums: Argnums, args: Any, name: str) -> tuple[int, ...]:
    """The positions of the arguments to differentiate, counted from the front."""
    if type(argnums) is int and 0 <= argnums < len(args):
        return (argnums,)
    wanted: Any = argnums if isinstance(argnums, SEVERAL) else (argnums,)
    for i in wanted:
        if not isinstance(i, INTEGERS) or not -len(args) <= i < len(args):
            message = (
                f"{name}: argnums must name positional arguments, of which there are "
                f"{len(args)}, but got {argnums!r}. Values go to {name}(f)(x)."
            )
            raise ValueError(message)
    found = tuple([int(i) % len(args) for i in wanted])
    if len(set(found)) < len(found):
        message = f"{name}: argnums must name each argument once, but got {argnums!r}."
        raise ValueError(message)
    return found


def value_and_grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
) -> Derived:
    """The function `args ↦ (f(args), ∇f(args))`.

    Args:
        f: A function with one real number as its result.
        argnums: The position of the argument to differentiate, or a tuple of several.
        has_aux: Whether `f` returns `(value, aux)`, of which `aux` is handed on.

    Raises:
        TypeError: The result is no real number, or an argument has no derivative.

    >>> from rules_autodiff import value_and_grad
    >>> value_and_grad(lambda x, y: x * y * y, argnums=(0, 1))(3.0, 2.0)
    (12.0, (4.0, 12.0))
    """

    def run_on(below: Any, *args: Any, **kwargs: Any) -> Any:
        return both_of(below, f, args, kwargs, argnums, has_aux)

    return Derived("value_and_grad", f, run_on)


def both_of(
    below: Any, f: Any, args: Any, kwargs: Any, argnums: Argnums, has_aux: bool
) -> tuple[Any, Any]:
    """The output of `f` and the gradient of its value."""
    active = positions(argnums, args, "grad")
    for i in active:
        check_differentiable(args[i], i)
    recording = Recording(below, f, args, kwargs, active)
    out, _ = split_aux(recording, has_aux)
    one = seed_of(out, recording)
    value = recording.value()
    cotangents = recording.pull(out, one, below)
    return value, cotangents if isinstance(argnums, SEVERAL) else cotangents[0]


def grad(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
) -> Derived:
    """The gradient `args ↦ ∇f(args)`; with `has_aux` it returns `(∇f, aux)`.

    Args:
        f: A function with one real number as its result.
        argnums: The position of the argument to differentiate, or a tuple of several.
        has_aux: Whether `f` returns `(value, aux)`, of which `aux` is handed on.

    Raises:
        TypeError: The result is no real number, or an argument has no derivative.

    >>> import numpy as np
    >>> from rules_autodiff import grad
    >>> def f(x):
    ...     total = 0.0
    ...     for v in x:
    ...         total += v * v
    ...     return total
    >>> grad(f)(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    def run_on(below: Any, *args: Any, **kwargs: Any) -> Any:
        value, found = both_of(below, f, args, kwargs, argnums, has_aux)
        return (found, value[1]) if has_aux else found

    return Derived("grad", f, run_on)


def split_aux(recording: Recording, has_aux: bool) -> tuple[Any, Any]:
    out = recording.output
    if not has_aux:
        return out, None
    if not isinstance(out, tuple) or len(out) != 2:
        recording.leave()
        message = (
            f"With has_aux the result must be a pair (value, aux), but got {out!r}."
        )
        raise TypeError(message)
    return out


def seed_of(out: Any, recording: Recording) -> Any:
    """The cotangent 1 of a scalar result."""
    if isinstance(out, REALS):
        return type(out)(1.0)
    if isinstance(out, np.ndarray) and out.shape == () and out.dtype.kind == "f":
        return np.ones((), out.dtype)
    if isinstance(out, INTEGERS):
        return 1.0
    recording.leave()
    found = (
        f"an array of shape {out.shape} and dtype {out.dtype}"
        if isinstance(out, np.ndarray)
        else type(out).__name__
    )
    message = (
        f"grad: the function must return one real number, but returned {found}. Use "
        "vjp or jacrev for other results."
    )
    raise TypeError(message)


class VJP(Kept):
    """The pullback of a `vjp`: may be called again, and in any order.

    It keeps the tape, and with it the values that rules have kept, alive. Where the
    program writes into its arguments, a call takes the writes back, as
    the reverse pass does; the next call writes them again before it begins.
    """

    has_aux = False

    def start(self, level: Any) -> Any:
        args = range(len(self.args))
        self.recording = Recording(level, self.f, self.args, self.kwargs, args)
        self.out, _ = split_aux(self.recording, self.has_aux)
        return self.recording.value()

    def apply(self, level: Any, dy: Any) -> Any:
        check_direction(self.out, dy, "pullback: the cotangent of the result")
        return self.recording.pull(self.out, dy, level)

    def __call__(self, dy: Any) -> Any:
        """`(dx1, dx2, …)`, one per primal."""
        return self.run_on(PLAIN, dy)


@on_plain
def vjp(
    _below: Any, f: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> Any:
    """`(y, pullback)` with `y = f(*primals)` and `pullback(dy) = (dx1, dx2, …)`.

    Args:
        f: The function.
        *primals: Its arguments; all are differentiated.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(y, pullback, aux)`.

    >>> from rules_autodiff import vjp
    >>> y, pullback = vjp(lambda x, y: x * y, 3.0, 2.0)
    >>> y, pullback(1.0), pullback(10.0)
    (6.0, (2.0, 3.0), (20.0, 30.0))
    """
    check_function(f, "vjp")
    pullback = VJP(f, primals, {})
    pullback.has_aux = has_aux
    value = pullback.begin(_below)
    return (value[0], pullback, value[1]) if has_aux else (value, pullback)


@on_plain
def jvp(
    _below: Any,
    f: Callable[..., Any],
    primals: Any,
    tangents: Any,
    has_aux: bool = False,
) -> Any:
    """`(y, dy)` with `y = f(*primals)` and `dy = f'(primals) tangents`.

    Args:
        f: The function.
        primals: Its arguments, a tuple or list.
        tangents: One tangent for each; `None` or `NoTangent()` for a constant.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(y, dy, aux)`.

    Raises:
        TypeError: Their numbers differ.

    >>> from rules_autodiff import jvp
    >>> jvp(lambda x, y: x * y, (3.0, 2.0), (1.0, 0.0))
    (6.0, 2.0)
    """
    check_function(f, "jvp")
    check_tangents(primals, tangents, "jvp")
    out, found = forward(_below, f, primals, [tuple(tangents)], has_aux=has_aux)
    if has_aux:
        return out[0], found[0], out[1]
    return out, found[0]


def forward(
    below: Any,
    f: Any,
    primals: Any,
    lanes: list[Any],
    *,
    has_aux: bool = False,
    callables: bool = False,
) -> tuple[Any, list[Any]]:
    """One forward pass with several tuples of tangents: the output and its tangents."""
    run = ForwardRun(below, len(lanes))
    entrance = Entrance(run, callables=callables)
    inner = without_const(primals)
    for i, x in enumerate(primals):
        if isinstance(x, Const):
            continue
        directions = [lane[i] for lane in lanes]
        if all(is_nothing(dx) for dx in directions):
            continue
        inner[i] = entrance.enter(x)
        run.assign(inner[i], [run.canonical(inner[i], dx) for dx in directions])
    out = guarded(run, f, inner, {})
    if run.changed:
        entrance.check_written(run.written_ids)
        entrance.check_alone(run.written_ids, f, primals, inner)
        entrance.write_back(lambda: run.written_ids)
    run.functions.clear()  # their cells hold the run
    main = out[0] if has_aux else out
    found = [
        as_given(main, run.own_tangent(main, lane), below) for lane in range(len(lanes))
    ]
    run.retire()
    return out, found


def is_nothing(dx: Any) -> bool:
    return dx is None or isinstance(dx, NoTangent)


@on_plain
def linearize(
    _below: Any, f: Callable[..., Any], *primals: Any, has_aux: bool = False
) -> Any:
    """`(y, f_jvp)` with `f_jvp(*tangents) = f'(primals) tangents`.

    The function runs once, here: `f_jvp` is the linear map at this run, its tape
    transposed, and costs about as much as two pullbacks. What the function writes is
    taken back, as by `grad`.

    Args:
        f: The function.
        *primals: Its arguments; all are differentiated.
        has_aux: Whether `f` returns `(y, aux)`; the result is `(y, f_jvp, aux)`.

    >>> from rules_autodiff import linearize
    >>> y, f_jvp = linearize(lambda x: x * x, 3.0)
    >>> y, f_jvp(1.0), f_jvp(2.0)
    (9.0, 6.0, 12.0)
    """
    check_function(f, "linearize")
    f_jvp = Linearized(f, primals, {})
    f_jvp.has_aux = has_aux
    value = f_jvp.begin(_below)
    return (value[0], f_jvp, value[1]) if has_aux else (value, f_jvp)


class Linearized(Kept):
    """What `linearize` gives: the adjoint of a pullback, which is linear."""

    has_aux = False

    def start(self, level: Any) -> Any:
        pullback = VJP(self.f, self.args, self.kwargs)
        pullback.has_aux = self.has_aux
        value = pullback.begin(level)
        zero = as_given(pullback.out, None, level)
        self.adjoint = Recording(level, pullback, (zero,), {}, (0,))
        return value

    def apply(self, level: Any, *tangents: Any) -> Any:
        check_tangents(self.args, tangents, "f_jvp")
        (found,) = self.adjoint.pull(self.adjoint.output, tangents, level)
        if self.adjoint.run.changes:  # the arguments as they were
            self.adjoint.again(self.adjoint.output, level)
        return found


@on_plain
def hvp(_below: Any, f: Callable[..., Any], primals: Any, tangents: Any) -> Any:
    """The Hessian of `f` times `tangents`: forward over reverse, `∂²f(primals) v`.

    Args:
        f: A function with one real number as its result.
        primals: Its arguments, a tuple or list.
        tangents: One tangent for each.

    >>> import numpy as np
    >>> from rules_autodiff import hvp
    >>> def f(x):
    ...     return x[0] * x[0] * x[1]
    >>> hvp(f, (np.array([1.0, 2.0]),), (np.array([1.0, 0.0]),))
    array([4., 2.])
    """
    check_function(f, "hvp")
    check_tangents(primals, tangents, "hvp")
    single = len(primals) == 1
    gradient = grad(f, 0 if single else tuple(range(len(primals))))
    return forward(_below, gradient, primals, [tuple(tangents)])[1][0]
