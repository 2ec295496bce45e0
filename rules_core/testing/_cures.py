"""The remedy for each failed check, in one line."""

from __future__ import annotations

__all__ = ["cure_of"]

_COTANGENTS = "one cotangent per argument, after NoTangent() for the function itself"
_ARRAY_OPS = (
    "compute with array functions and primitives that have rules, from the arguments "
    "themselves"
)

_OF_RULES = {
    "exists": "annotate a rule with the types of this call, or leave annotations out",
    "result": f"return (y, pullback), and {_COTANGENTS}; of an frule (y, dy)",
    "annotations": "annotate with rules_core.Array what is an array, or not at all",
    "implemented": "tangents=(NoTangent(), …) for what shall not be checked",
    "value": "return as y what the function returns, best by calling it",
    "shape": "give each tangent the structure and the shape of its primal; sum over "
    "axes that were broadcast, or use ProjectTo(x)",
    "no-tangent": "NoTangent() for what has no tangent, ZeroTangent() for a zero",
    "dtype": "compute in the dtype of the primal, and take the real part where it is "
    "real; or use ProjectTo(x)",
    "device": "make arrays by array_namespace(x) and on x.device",
    "inputs-unwritten": "work on a copy of the argument",
    "given-unwritten": "work on a copy of dy, and do not pass it to accumulate with "
    "owned=True",
    "output-unwritten": "work on a copy of y",
    "views": "return what the function returns: y = f(x)",
    "cauchy-riemann": "leave out holomorphic=True, and return both partial derivatives",
    "derivative": "correct the formula; if an argument may not move freely, give the "
    "direction to move it in: tangents=(dx, …)",
    "complex-derivative": "correct the formula: a pullback multiplies by the "
    "conjugate of the derivative, an frule by the derivative",
    "linearity": "a formula in which dy occurs once as a factor: no clipping, no "
    "powers, no nonlinear function of it, and no shortcut where it is small",
    "strong-zeros": "mask the partial where it is infinite and dy is zero: "
    "where(isinf(slope) & (dy == 0), 0, slope) * dy",
    "symbolic-zeros": "treat ZeroTangent() like zeros, part by part",
    "repeat": "return new arrays from each call, and keep nothing from one to the next",
    "thunks": "thunk(function) with a function that changes nothing and is not forced",
    "accumulation": "let the in-place half of the thunk add what the other half gives",
    "needs": "leave out only what needs says is not wanted, in the order of arguments",
    "batching": "treat each element by itself: no sums or maxima over the array",
    "second-order": f"{_ARRAY_OPS}; without ignore_derivatives and values kept from "
    "elsewhere",
    "slope-at-zero": "mask the partial, where(isinf(slope) & (dy == 0), 0, slope), "
    "not the product",
    "embedding": "give the rule for numbers the values that it has for arrays",
}
_OF_OTHERS = {
    "adjoint": "correct the one of the two rules whose own derivative check is coarse",
    "shape-rule": "return ShapeDtype(shape, dtype) for each output, in its structure",
    "batch-rule": "return (out, out_batched), flags like the outputs, examples first",
    "complex-point": "leave out holomorphic=True, or correct the formula for complex x",
    "pack.imports": "install what the pack imports, and name its entry point",
    "pack.locations": "define the rule in a file",
    "pack.ambiguities": "define a rule for the types that both take",
    "pack.pickles": "define the rule at the top level of its module",
    "pack.side-rules": "@shape_rule.define(f), or declare it elementwise",
}
_OF_CELLS = (
    "rules by array_namespace(x) and primitives only, which every framework can trace; "
    "host=True for what is NumPy alone"
)


def cure_of(name: str) -> str:
    """The remedy for the failed check `name`; empty for checks of tangents."""
    if name in _OF_OTHERS:
        return _OF_OTHERS[name]
    kind, _, check = name.partition(".")
    if kind in ("rrule", "frule"):
        return _OF_RULES.get(check, "")
    return _OF_CELLS if ": " in name else ""
