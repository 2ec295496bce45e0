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
    "layout": "np.ascontiguousarray before memory is read as it lies, and no order='K'",
    "thunks": "thunk(function) with a function that changes nothing and is not forced",
    "accumulation": "let the in-place half of the thunk add what the other half gives",
    "needs": "leave out only what needs says is not wanted, in the order of arguments",
    "batching": "treat each element by itself: no sums or maxima over the array",
    "second-order": f"{_ARRAY_OPS}; without ignore_derivatives and values kept from "
    "elsewhere",
    "slope-at-zero": "mask the partial, where(isinf(slope) & (dy == 0), 0, slope), "
    "not the product",
    "value-slope": "return f(*args) as the value: without ignore_derivatives, and not "
    "a value kept from elsewhere",
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
_OF_ADAPTERS = {
    "adapter.owns": "return issubclass(cls, <the framework's array class>)",
    "adapter.cells": "yield one Cell for each combination, each with its own name",
    "adapter.arrays": "return issubclass(cls, <the framework's array class>) in owns",
    "value": "call primitive.fun on the arrays, and return its result in arrays",
    "derivative": "attach the rule's pullback to the tape, with the cotangents in the "
    "order of the arguments",
    "rules": "resolve the rules before the framework differentiates the body",
    "programs": "add up the cotangents of an array that is used twice",
    "own-derivatives": "call primitive.fun on the framework's arrays without a rule",
    "constants": "leave what the Opener calls static as it is",
    "numpy-arrays": "convert arrays of NumPy of every dtype and layout; only floating "
    "arrays that are tracked are wanted",
    "names": "args, kwargs = primitive.bind(args, kwargs) first",
    "defaults": "args, kwargs = primitive.bind(args, kwargs) first",
    "keywords": "fill keywords by FlatCall.fill as well as arguments",
    "keyword-derivative": "raise UnsupportedError where FlatCall.keyword(wanted)",
    "instances": "pass before=len(found.args) - len(call.parts) to FlatCall.needs",
    "thunks": "read what rules return by read_tangent, or unthunk it",
    "containers": "open arguments by FlatCall.of, and read cotangents by read_tangent",
    "container-forms": "read what a pullback returns by read_tangent",
    "constants-inside": "read what a pullback returns by read_tangent",
    "dicts": "read entries by their keys, as build_tangent and unflatten do",
    "results": "give the pullback build_tangent(layout, cotangents) of all results",
    "result-containers": "flatten and unflatten the result as the layout of all its "
    "containers",
    "one-result": "zeros_like(y) for a result without cotangent",
    "symbolic-zeros": "ZeroTangent() for a result without cotangent, if "
    "rule.symbolic_zeros",
    "integers": "NoTangent() for results that are no floating arrays, and no cotangent "
    "for such arguments: is_smooth(value) in wanted, seeds and outputs",
    "needs": "pass FlatCall.needs(wanted, before) to run",
    "zeros": "None of read_tangent is a zero: add nothing for it",
    "projection": "materialise(x, dx, path) of each cotangent sums over broadcast axes",
    "scalars": "NumPy's scalars and numbers are arrays without axes, in arguments and "
    "in results",
    "numpy-numbers": "track results that are Python numbers, as arrays without axes",
    "empty": "track arrays without entries like others",
    "precision": "keep the dtype of each array: results, cotangents and tangents",
    "half-precision": "track every floating dtype, or raise UnsupportedError",
    "complex": "track complex arrays; a cotangent is not conjugated, unless the "
    "framework's own are: then once on the way in and once on the way out",
    "shape": "let errors of materialise reach the caller",
    "tangent-shape": "compare the shape of a tangent with that of its primal",
    "count": "read cotangents by FlatCall.cotangents: it counts them",
    "structure": "let errors of read_tangent reach the caller",
    "no-tangent": "pass rule= to read_tangent",
    "not-implemented": "let errors of read_tangent reach the caller; wanted says which",
    "host-function": "call primitive.fun of primitive.host on arrays of NumPy",
    "host-rule": "run rules with rule.host on arrays of NumPy",
    "no-rule": "raise RuleNotFound if primitive.host and no rule applies",
    "numpy-results": "convert results of every layout: copy what the framework cannot "
    "share",
    "stop-gradient": "return the array without its history",
    "returned-argument": "make a new array of the framework for each result",
    "repeated-result": "one output for each place in the result, not for each array",
    "shared-leaves": "one input for each place in the arguments, not for each array",
    "unwritten": "x + dx, not x += dx: the caller's cotangent is not yours; or "
    "accumulate(x, dx, owned=True) on a copy",
    "shared-cotangents": "x + dx, not x += dx: a rule may return one array twice",
    "kept-cotangents": "x + dx, not x += dx: the author of a rule may keep the array",
    "other-values": "keep nothing that depends on values, shapes or dtypes by the "
    "function alone",
    "other-constants": "keys of what is kept have the class and value of each constant",
    "other-containers": "keys of what is kept have the layouts of the arguments",
    "other-functions": "keys of what is kept have the primitive itself, not its name",
    "captured": "raise an error if a cell of primitive.cells holds a tracked array",
    "rule-changes": "keep no rule beyond a call, or compare rules_core.extend.CHANGES",
    "mixed-programs": "keep layouts and pullbacks with each call",
    "errors": "let errors of rules reach the caller, and put state back in finally",
    "threads": "keep the state of a call in the call, or in a ContextVar",
    "second": "pass the framework's arrays to rules without host=True, so that it "
    "differentiates them again; or yield no cell of kind second",
    "second-rules": "call adapter.call for the primitives in a rule's body, too",
    "second-containers": "differentiate the parts of cotangents in containers, too",
    "batches": "batch what is batched alone; use primitive.batch_rule for host=True",
    "batched-derivatives": "batch cotangents with their values",
}
_OF_CELLS = (
    "rules by array_namespace(x) and primitives only, which every framework can trace; "
    "host=True for what is NumPy alone"
)


def cure_of(name: str) -> str:
    """The remedy for the failed check `name`; empty for checks of tangents."""
    if name in _OF_OTHERS or name in _OF_ADAPTERS:
        return _OF_OTHERS.get(name) or _OF_ADAPTERS[name]
    kind, _, check = name.partition(".")
    if kind in ("rrule", "frule"):
        return _OF_RULES.get(check, "")
    return _OF_CELLS if ": " in name else ""
