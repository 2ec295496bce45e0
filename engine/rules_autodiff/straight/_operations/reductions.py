"""Sums, means, extremes, variances and norms, over all axes or some."""

from collections.abc import Callable
from typing import Any

import numpy as np

from rules_autodiff.straight._program.kinds import INT, REAL, Kind, array, is_array
from rules_autodiff.straight._program.written import Call, Written

from .adjoints import pulls_by_adjoint
from .forms import (
    as_method,
    axes_of,
    expanded,
    only,
    reduced_kind,
    settings,
    whole,
    with_nothing,
)
from .table import function, method

__all__: list[str] = []


class Reduction:
    """A reduction of one array, with literal axes.

    Attributes:
        x: The kind of the array.
        axis: The axis argument.
        axes: The reduced axes.
        keepdims: Whether they stay, with length one.
    """

    def __init__(self, call: Call, axes: tuple[int, ...], given: dict[str, Any]):
        self.x, self.axes = call.kinds[0], axes
        self.axis, self.keepdims = given["axis"], given["keepdims"]
        self.given = given

    @property
    def is_whole(self) -> bool:
        """Whether the result is a number."""
        return len(self.axes) == self.x.ndim and not self.keepdims

    @property
    def kind(self) -> Kind:
        return reduced_kind(self.x.ndim, self.axes, self.keepdims, self.x.dtype)

    def wide(self, text: str) -> str:
        """The text of a value of the result's shape, with the reduced axes restored."""
        return expanded(text, self.x.ndim, self.axes, self.keepdims)

    def by_adjoint(self, f: Any) -> tuple[str, ...]:
        """The cotangent by the pack's adjoint."""
        return pulls_by_adjoint(f, (self.x,), axis=self.axis, keepdims=self.keepdims)

    @property
    def count(self) -> str:
        """The text of the number of reduced entries."""
        if len(self.axes) == self.x.ndim:
            return "size_of({s0})"
        return "(" + " * ".join(f"{{s0}}[{axis}]" for axis in self.axes) + ")"

    def reduce(self, ufunc: str, text: str = "{0}") -> str:
        """The call of a ufunc's own method, which bypasses NumPy's Python functions."""
        if self.keepdims:
            return f"{ufunc}({text}, {self.axis!r}, None, None, True)"
        return f"{ufunc}({text}, {self.axis!r})"

    def sum_of(self, text: str) -> str:
        """The sum along the reduced axes, also beside an axis of lanes."""
        keep = ", None, None, True" if self.keepdims else ""
        return f"np_add_reduce({text}, {self.axes!r}{keep})"


Writing = Callable[[Reduction], Written | None]


def reduction(writing: Writing, *places: str, **defaults: Any) -> Any:
    """The operation of a reduction of arrays of float64."""

    def write_reduction(call: Call) -> Written | None:
        x = call.kinds[0]
        if not is_array(x):
            return None
        options = settings(call, places, axis=None, keepdims=False, **defaults)
        axes = options and axes_of(options["axis"], x.ndim)
        if options is None or not axes or type(options["keepdims"]) is not bool:
            return None
        return with_nothing(writing(Reduction(call, axes, options)), call)

    return write_reduction


def write_sum(r: Reduction) -> Written:
    pulls = r.by_adjoint(np.sum)
    pushes, lanes = (r.reduce("np_add_reduce", "{dz}"),), (r.sum_of("{dz}"),)
    text = r.reduce("np_add_reduce")
    return Written(r.kind, text, pulls, pushes=pushes, lanes=lanes)


def write_mean(r: Reduction) -> Written:
    text = None
    if r.is_whole:
        text = "mean_of({0})"
    elif whole(r.axis):
        text = f"mean_along({{0}}, {r.axis!r}, {r.keepdims!r})"
    pushes = (f"{r.reduce('np_add_reduce', '{dz}')} / {r.count}",)
    lanes = (f"{r.sum_of('{dz}')} / {r.count}",)
    pulls = r.by_adjoint(np.mean)
    return Written(r.kind, text, pulls, pushes=pushes, lanes=lanes)


def write_extreme(reduce: str) -> Writing:
    def write_extreme_of(r: Reduction) -> Written:
        wide = r.wide("{dz}"), r.wide("{z}")
        if r.is_whole:
            by_x = "winners({dz}, {0}, {z})"
        else:
            by_x = f"winners_along({wide[0]}, {{0}}, {wide[1]}, {r.axes!r})"
        push = r.sum_of(f"{{dz}} * winners_along(1.0, {{0}}, {wide[1]}, {r.axes!r})")
        return Written(r.kind, r.reduce(reduce), (by_x,), pushes=(push,))

    return write_extreme_of


def write_prod(r: Reduction) -> Written:
    by_x = f"prod_back({r.wide('{dz}')}, {{0}}, {r.wide('{z}')})"
    push = r.sum_of(f"prod_back({{dz}}, {{0}}, {r.wide('{z}')})")
    return Written(r.kind, None, (by_x,), pushes=(push,))


def write_var(r: Reduction) -> Written | None:
    if not whole(r.given["ddof"]):
        return None
    wide = r.wide("{dz}")
    by_x = f"var_back({wide}, {{0}}, {r.axes!r}, {r.given['ddof']})"
    push = r.sum_of(f"var_back({{dz}}, {{0}}, {r.axes!r}, {r.given['ddof']})")
    return Written(r.kind, None, (by_x,), pushes=(push,))


def write_std(r: Reduction) -> Written | None:
    if not whole(r.given["ddof"]):
        return None
    wide = r.wide("{dz}"), r.wide("{z}")
    by_x = f"std_back({wide[0]}, {{0}}, {wide[1]}, {r.axes!r}, {r.given['ddof']})"
    push = r.sum_of(
        f"std_back({{dz}}, {{0}}, {wide[1]}, {r.axes!r}, {r.given['ddof']})"
    )
    return Written(r.kind, None, (by_x,), pushes=(push,))


def of_whole_numbers(operation: Any, kind: Kind, dtypes: str) -> Any:
    """A reduction of all entries of integer or boolean arrays gives a number."""

    def write_of_whole_numbers(call: Call) -> Written | None:
        if only(call) and (call.kinds[0].dtype or "-") in dtypes:
            return Written(kind, None, (None,))
        written: Written | None = operation(call)
        return written

    return write_of_whole_numbers


SUM = of_whole_numbers(reduction(write_sum, "axis"), INT, "l?")
MEAN = of_whole_numbers(reduction(write_mean, "axis"), REAL, "l?")
MAX = of_whole_numbers(reduction(write_extreme("np_maximum_reduce"), "axis"), INT, "l")
MIN = of_whole_numbers(reduction(write_extreme("np_minimum_reduce"), "axis"), INT, "l")
PROD = reduction(write_prod, "axis")
for _names, _functions, _operation in (
    ("sum", (np.sum,), SUM),
    ("mean", (np.mean,), MEAN),
    ("max", (np.max, np.amax), MAX),
    ("min", (np.min, np.amin), MIN),
    ("prod", (np.prod,), PROD),
    ("var", (np.var,), reduction(write_var, "axis", ddof=0)),
    ("std", (np.std,), reduction(write_std, "axis", ddof=0)),
):
    method(_names)(function(*_functions)(_operation))


@function(np.cumsum)
@method("cumsum")
def write_cumsum(call: Call) -> Written | None:
    """Backward: a cumulative sum from the end."""
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=None) if is_array(x) else None
    if options is None:
        return None
    axis = options["axis"]
    if axis is None:
        pushes, lanes = (
            ("{dz}.cumsum()",),
            ("{dz}.reshape((*{sz}, {dz}.shape[-1])).cumsum(0)",),
        )
        pulls = pulls_by_adjoint(np.cumsum, (x,))
        flat = Written(array(1), None, pulls, pushes=pushes, lanes=lanes)
        return with_nothing(flat, call)
    if not whole(axis) or not -x.ndim <= axis < x.ndim:
        return None
    pulls = pulls_by_adjoint(np.cumsum, (x,), axis)
    pushes = (f"{{dz}}.cumsum({axis % x.ndim})",)
    return with_nothing(Written(x, None, pulls, pushes=pushes), call)


@function(np.cumprod)
@method("cumprod")
def write_cumprod(call: Call) -> Written | None:
    """Backwards a cumulative sum of products, as long as no entry is zero."""
    x = call.kinds[0]
    options = settings(call, ("axis",), axis=None) if is_array(x) else None
    if options is None or x.ndim != 1 or options["axis"] not in (None, 0, -1):
        return None
    pulls, push = ("cumprod_back({dz}, {0}, {z})",), "cumprod_forward({dz}, {0}, {z})"
    return with_nothing(Written(x, None, pulls, pushes=(push,)), call)


@function(np.linalg.norm)
def write_norm(call: Call) -> Written | None:
    """The root of the sum of squares, with derivative zero at zero."""
    x = call.kinds[0]
    if not is_array(x):
        return None
    options = settings(call, ("ord", "axis"), ord=None, axis=None, keepdims=False)
    if (
        options is None
        or type(options["keepdims"]) is not bool
        or options["axis"] == ()
    ):
        return None
    axis, keepdims, order = options["axis"], options["keepdims"], options["ord"]
    whole_axes, along = tuple(range(x.ndim)), "np_add_reduce({dz} * {0}"
    push = f"{along}, {whole_axes!r}) / sign_or_one({{z}})"
    if axis is None and not keepdims:
        if x.ndim == 1 and order == 1 and whole(order):
            signs = "np_add_reduce({dz} * np_sign({0}), (0,))"
            pulls = ("np_sign({0}) * {dz}",)
            return with_nothing(Written(REAL, None, pulls, pushes=(signs,)), call)
        if order == "fro" and x.ndim == 2:
            by_x = "{0} * ({dz} / ({z} or 1.0))"
            return with_nothing(Written(REAL, None, (by_x,), pushes=(push,)), call)
        if order is None or (order == 2 and whole(order) and x.ndim == 1):
            text = "norm_of({0})" if order is None else None
            by_x = "{0} * ({dz} / ({z} or 1.0))"
            return with_nothing(Written(REAL, text, (by_x,), pushes=(push,)), call)
        return None
    # Of a row of two axes the order 2 is that of singular values.
    if not whole(axis) or not (order is None or (order == 2 and whole(order))):
        return None
    axes = axes_of(axis, x.ndim)
    if axes is None:
        return None
    wide = [expanded(t, x.ndim, axes, keepdims) for t in ("{dz}", "{z}")]
    if x.ndim == 1 and not keepdims:
        by_x = "{0} * ({dz} / ({z} or 1.0))"
    else:
        by_x = f"{{0}} * ({wide[0]} / nonzero({wide[1]}))"
    keep = ", None, None, True" if keepdims else ""
    push = f"{along}, {axes!r}{keep}) / nonzero({{z}})"
    kind = reduced_kind(x.ndim, axes, keepdims, "d")
    return with_nothing(Written(kind, None, (by_x,), pushes=(push,)), call)


@function(np.trace)
@method("trace")
def write_trace(call: Call) -> Written | None:
    """The sum of the diagonal of a matrix."""
    supported = as_method(call) and len(call.kinds) == 1 and not call.options
    if not supported or call.kinds[0] != array(2):
        return None
    pulls = ("trace_back({dz}, {s0})",)
    return Written(REAL, None, pulls, pushes=("{dz}.trace()",))
