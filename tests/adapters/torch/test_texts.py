"""Every error of the adapter in its whole text: the rule, the argument, the remedy."""

from __future__ import annotations

import re

import pytest
import torch
from torch.func import functionalize, grad, jvp, vmap

import rules_core as rc
import rules_torch
from rules_core import NoTangent
from rules_torch._export.describe import restored
from tests.adapters.torch.misuses import (
    X,
    applied_method,
    applies_itself,
    asks_for_memory,
    bare,
    captures,
    compiles_a_numpy_rule,
    differentiates_a_keyword,
    exports_a_transform,
    generator_beside,
    hides_in_numpy,
    kept_vjp,
    leaf,
    loop,
    operates,
    own_graph,
    penalty,
    product,
    promises,
    pushed,
    pushes_a_keyword,
    reads_outside,
    run_backward,
    with_numpy_rule,
)


def said(info) -> str:
    """The text, with the places of rules left out."""
    return re.sub(r"misuses\.py:\d+", "HERE", str(info.value))


PRODUCT = "rrule product.<locals>.product_rrule for product.<locals>.product at HERE"
DOUBLE = "frule pushed.<locals>.double_frule for pushed.<locals>.double at HERE"
CUBE = "rrule captures.<locals>.cube_rrule for captures.<locals>.cube at HERE"
POWER = "with_numpy_rule.<locals>.power"
CAPTURE = "its pullback must capture tensors in the open, but they are hidden in"
OPEN = (
    "Capture them directly, return Pullback(fn, *residuals), or declare the rule "
    "deterministic=True so that it may run again in the backward pass."
)
IN_NUMPY = "is declared host=True: it runs in NumPy"
KEYWORD = (
    "shifted.<locals>.shifted: the derivative with respect to the keyword-only "
    "argument 'by' is wanted, but rules have no cotangent for keywords. Pass "
    "by.detach(), or "
    "make 'by' a positional argument."
)
PROMISE = (
    "host function promises.<locals>.part: the result must be an array of shape (3,) "
    "and dtype float32, as its declaration promises, but got an array of shape (1,) "
    "and dtype float32. Correct out= or the shape rule, or what the function returns."
)
UNTRACEABLE = "bare.<locals>.sorted_ cannot be compiled by torch:"
TEXTS = {
    "count of cotangents": (
        lambda: run_backward(product(lambda dy: (NoTangent(), dy)), X),
        rc.CotangentCountError,
        f"{PRODUCT}: the pullback must return a tuple of 3 cotangents (one for the "
        "function itself, then one per positional argument), but got 2 of them. Return "
        "NoTangent() for what has no tangent.",
    ),
    "shape of a cotangent": (
        lambda: run_backward(product(lambda dy: (NoTangent(), torch.ones(3), dy)), X),
        rules_torch.CotangentError,
        f"{PRODUCT}: the cotangent of argument 'x' does not fit. the tangent of x must "
        "have shape (2,), or one that (2,) broadcasts to, but got shape (3,). Sum, "
        "broadcast or reshape it in the rule.",
    ),
    "structure of a cotangent": (
        lambda: run_backward(product(lambda dy: (NoTangent(), {"a": dy}, dy)), X),
        rules_torch.CotangentError,
        f"{PRODUCT}: the cotangent of argument 'x' does not fit. the tangent of x must "
        "be an array of shape (2,), but got a dict.",
    ),
    "dtype of a cotangent": (
        lambda: run_backward(product(lambda dy: (NoTangent(), dy.long(), dy)), X),
        rules_torch.CotangentError,
        f"{PRODUCT}: the cotangent of argument 'x' does not fit. It must be "
        "floating or complex, but got torch.int64. Convert it in the rule, or "
        "return ZeroTangent() for zeros.",
    ),
    "structure of a tangent": (
        lambda: jvp(pushed(lambda y, dx: (y, (dx,))), (X,), (X,)),
        rules_torch.CotangentError,
        f"{DOUBLE}: the tangent of the result does not fit. the tangent of the result "
        "must be an array of shape (2,), but got a tuple.",
    ),
    "shape of a tangent": (
        lambda: jvp(pushed(lambda y, dx: (y, dx.repeat(2, 1))), (X,), (X,)),
        rules_torch.CotangentError,
        f"{DOUBLE}: the tangent of the result does not fit. It must have the result's "
        "shape (2,), but got (2, 2).",
    ),
    "result of an frule": (
        lambda: jvp(pushed(lambda y, dx: (y.sum(), dx.sum())), (X,), (X,)),
        rules_torch.ResultShapeError,
        f"{DOUBLE}: it must return the result of pushed.<locals>.double, which "
        "has shape "
        "(2,) here, but got shape (). Return what the function returns.",
    ),
    "no pair": (
        lambda: jvp(pushed(lambda y, dx: y), (X,), (X,)),
        rc.RuleResultError,
        f"{DOUBLE} must return the pair (y, dy), but got one value of type Tensor.",
    ),
    "generator": (
        lambda: captures(lambda x: (x for _ in range(2)))(leaf()),
        rules_torch.UnconvertibleClosureError,
        f"{CUBE}: {CAPTURE} an object of type builtins.generator. {OPEN}",
    ),
    "loop": (
        lambda: captures(loop)(leaf()),
        rules_torch.UnconvertibleClosureError,
        f"{CUBE}: {CAPTURE} an object of type builtins.list that contains itself. "
        f"{OPEN}",
    ),
    "graph of its own": (
        lambda: captures(own_graph)(leaf()),
        rules_torch.UnconvertibleClosureError,
        f"{CUBE}: {CAPTURE} the graph of a derivative that the rule takes by torch "
        f"itself. {OPEN}",
    ),
    "transform that has ended": (
        lambda: kept_vjp()(leaf()),
        rules_torch.UnconvertibleClosureError,
        "rrule kept_vjp.<locals>.kept_rrule for kept_vjp.<locals>.kept at HERE: "
        f"{CAPTURE} a tensor of a torch.func transform that has ended (call "
        f"rrule_via_ad or torch.func.vjp inside the pullback). {OPEN}",
    ),
    "hidden in NumPy": (
        lambda: hides_in_numpy()(leaf()),
        rules_torch.UnconvertibleClosureError,
        "rrule hides_in_numpy.<locals>.power_rrule for "
        "hides_in_numpy.<locals>.power at "
        f"HERE: {CAPTURE} an object of type builtins.list_iterator. {OPEN}",
    ),
    "hidden argument": (
        lambda: generator_beside(leaf()),
        rules_torch.HiddenTensorsError,
        "generator_beside.<locals>.first: argument 'box' of type generator holds "
        "tensors where they cannot be found, so their derivatives would be lost. Pass "
        "the tensors as arguments, or in a tuple, list, dict, dataclass or function.",
    ),
    "read from outside": (
        lambda: reads_outside(leaf()),
        rules_torch.OutsideTensorError,
        "reads_outside.<locals>.scaled: its body reads 'weight' from outside a tensor "
        "of shape () that requires a gradient or has a tangent, but rules have "
        "cotangents for arguments only. Pass the tensor as an argument, or use "
        "ignore_derivatives of it if it is a constant.",
    ),
    "held in a hidden place": (
        lambda: applied_method(leaf()),
        rules_torch.OutsideTensorError,
        "applied_method.<locals>.applied: its argument 'f' holds in a hidden place a "
        "tensor of shape () that requires a gradient or has a tangent, but rules have "
        "cotangents for arguments only. Pass the tensor as an argument, or use "
        "ignore_derivatives of it if it is a constant.",
    ),
    "NumPy rule, forward": (
        lambda: jvp(with_numpy_rule("rrule"), (X,), (X,)),
        rules_torch.HostRuleError,
        f"rrule {POWER}_rrule for {POWER} at HERE {IN_NUMPY} and cannot be transposed, "
        "but forward mode is wanted. Add an frule as well, or write the rule with "
        "primitives and array-API functions.",
    ),
    "NumPy rule, reverse": (
        lambda: run_backward(with_numpy_rule("frule")),
        rules_torch.HostRuleError,
        f"frule {POWER}_frule for {POWER} at HERE {IN_NUMPY} and cannot be transposed, "
        "but reverse mode is wanted. Add an rrule as well, or write the rule with "
        "primitives and array-API functions.",
    ),
    "NumPy rule, second order": (
        lambda: penalty(with_numpy_rule("rrule")),
        rules_torch.SecondDerivativeError,
        f"rrule {POWER}_rrule for {POWER} at HERE {IN_NUMPY}, at first order only, but "
        "a derivative of its result is wanted. Write the rule with primitives and "
        "array-API functions instead.",
    ),
    "NumPy rule, compiled": (
        compiles_a_numpy_rule,
        torch._dynamo.exc.Unsupported,
        f"{POWER} cannot be compiled by torch: its rrule at HERE is declared "
        "host=True. Write the rule with primitives and array-API functions.",
    ),
    "keyword": (differentiates_a_keyword, rules_torch.KeywordDerivativeError, KEYWORD),
    "keyword, forward": (pushes_a_keyword, rules_torch.KeywordDerivativeError, KEYWORD),
    "NumPy in a pullback": (
        lambda: grad(lambda x: asks_for_memory()(x).sum())(X),
        rules_torch.NotGenericError,
        "the pullback of rrule asks_for_memory.<locals>.sine_rrule for "
        "asks_for_memory.<locals>.sine at HERE must compute with array-API functions, "
        "but NumPy, math, float() or if was given a tensor (Can't call numpy() on "
        "Tensor that requires grad). Use array_namespace(x) or a primitive, or declare "
        "it host=True.",
    ),
    "a number in a pullback": (
        lambda: penalty(captures(lambda x: x.detach())),
        rules_torch.LostDerivativeError,
        "rrule captures.<locals>.cube_rrule for captures.<locals>.cube at HERE must "
        "compute with tensors where a derivative of what it computes can be asked for, "
        "but got a constant by detach(); second derivatives would be wrong without an "
        "error. Use array_namespace(x), or ignore_derivatives(x) for what is constant "
        "on purpose.",
    ),
    "transpose of itself": (
        lambda: run_backward(applies_itself()),
        rules_torch.SelfTransposeError,
        "frule applies_itself.<locals>.rolled_frule for applies_itself.<locals>.rolled "
        "at HERE applies applies_itself.<locals>.rolled to the tangent, so that its "
        "transpose, by which reverse mode is derived, would ask for itself without "
        "end. Add an rrule, or declare the function by linear_rule.",
    ),
    "no rule": (
        lambda: run_backward(bare()),
        rc.RuleNotFound,
        "no rrule applies to bare.<locals>.sorted_(Tensor).\n"
        "  the opt-out(any) at HERE declines this call.\n"
        "  bare.<locals>.sorted_ is a host primal without a derived rule: it is opted "
        "out at HERE.",
    ),
    "empty batch": (
        lambda: vmap(bare())(torch.zeros(0, 3)),
        rc.UnsupportedError,
        "bare.<locals>.sorted_: a batch of no examples, which is called one example at "
        "a time, has no result. Define a batch rule with @batch_rule.define, or leave "
        "empty batches out.",
    ),
    "no shapes": (
        lambda: bare()(torch.empty(3, device="meta")),
        rules_torch.UntraceableError,
        f"{UNTRACEABLE} it runs in NumPy, and the shape of its result is not known "
        "beforehand. Register it with @shape_rule.define, or give to_torch(f, out=…).",
    ),
    "impure": (
        lambda: bare(pure=False)(torch.empty(3, device="meta")),
        rules_torch.UntraceableError,
        f"{UNTRACEABLE} it is declared pure=False, and a compiler may repeat or drop "
        "calls. Call it outside of the compiled function.",
    ),
    "promised shape": (
        lambda: operates(promises((3,))),
        rc.PrimitiveError,
        PROMISE,
    ),
    "exported transform": (
        exports_a_transform,
        rules_torch.UntraceableError,
        "product.<locals>.product cannot be compiled by torch: a transform of "
        "torch.func inside a module cannot be exported. Export the module without it, "
        "and transform what is exported.",
    ),
    "functionalize": (
        lambda: functionalize(grad(lambda x: product(None)(x, x).sum()))(X),
        rules_torch.FunctionalizeError,
        "product.<locals>.product: torch.func.functionalize cannot look into functions "
        "that have rules. Call it outside of functionalize, or compile the program by "
        "torch.compile, which keeps the rules.",
    ),
    "functionalize, host": (
        lambda: functionalize(bare())(X),
        rules_torch.FunctionalizeError,
        "bare.<locals>.sorted_: torch.func.functionalize cannot look into functions "
        "that have rules. Call it outside of functionalize, or compile the program by "
        "torch.compile, which keeps the rules.",
    ),
    "module that is missing": (
        lambda: restored("('named','nowhere:f')"),
        rules_torch.UntraceableError,
        "f cannot be compiled by torch: an exported program calls it, and nowhere is "
        "not imported here or has it no more. Import nowhere before the program runs.",
    ),
}


@pytest.mark.covering(every=3)
@pytest.mark.filterwarnings("ignore")  # torch's own compiler stack warns about itself
@pytest.mark.parametrize("name", TEXTS)
def test_whole_texts(name):
    run, cls, text = TEXTS[name]
    with pytest.raises(cls) as info:
        run()
    assert said(info).partition("\n\nfrom user code")[0] == text


def test_a_derivative_that_is_not_implemented_names_the_argument():
    unknown = rc.not_implemented("nobody knows")
    with pytest.raises(rc.DerivativeNotImplemented) as info:
        run_backward(product(lambda dy: (NoTangent(), unknown, dy)), X)
    assert said(info).startswith(
        f"this derivative is not implemented ({PRODUCT}, argument 'x'): nobody knows. "
        "Declared in "
    )
    with pytest.raises(rc.DerivativeNotImplemented) as info:
        jvp(pushed(lambda y, dx: (y, unknown)), (X,), (X,))
    assert said(info).startswith(
        f"this derivative is not implemented ({DOUBLE}): nobody knows. Declared in "
    )


def test_every_error_of_the_package_has_its_text_here_or_beside():
    """What is public and an error is in the table, or in the module named."""
    elsewhere = {"CotangentError": "test_shapes", "ResultShapeError": "test_shapes"}
    elsewhere["NotLinearError"] = "test_linear"
    tested = {cls.__name__ for _, cls, _ in TEXTS.values()} | set(elsewhere)
    public = {name for name in rules_torch.__all__ if name.endswith("Error")}
    assert public <= tested
