"""Errors of the PyTorch adapter: each names the rule, the function and the cure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import rules_core as rc
from rules_core.extend import note_rule

__all__ = [
    "CotangentError",
    "LostDerivativeError",
    "FunctionalizeError",
    "HiddenTensorsError",
    "HostRuleError",
    "KeywordDerivativeError",
    "REFUSES",
    "NotGenericError",
    "NotLinearError",
    "OutsideTensorError",
    "ResultShapeError",
    "SecondDerivativeError",
    "UnconvertibleClosureError",
    "UntraceableError",
    "SelfTransposeError",
    "blame_not_generic",
    "blame_rule",
    "untraceable",
]


class CotangentError(rc.RulesCoreError, TypeError):
    """A rule gave a tangent or cotangent that does not fit its primal."""

    __module__ = "rules_torch"

    def __init__(self, rule: Any, what: str, cause: object) -> None:
        super().__init__(f"{rule.label}: the {what} does not fit. {cause}")


class LostDerivativeError(rc.UnsupportedError):
    """A rule cuts a tensor from its derivative where that can be asked for."""

    __module__ = "rules_torch"

    def __init__(self, rule: Any, how: str) -> None:
        what = getattr(rule, "lost", "second derivatives")
        super().__init__(
            f"{rule.label} must compute with tensors where a derivative of what "
            f"it computes can be asked for, but got a constant by {how}; {what} "
            "would be wrong without an error. Use array_namespace(x), or "
            "ignore_derivatives(x) for what is constant on purpose."
        )


class HiddenTensorsError(rc.UnsupportedError):
    """An argument holds tensors where they cannot be found."""

    __module__ = "rules_torch"

    def __init__(self, kind: str, target: str = "", name: str = "") -> None:
        self.kind = kind
        subject = f"{target}: argument {name!r}" if target else "an argument"
        super().__init__(
            f"{subject} of type {kind} holds tensors where they cannot be found, so "
            "their derivatives would be lost. Pass the tensors as arguments, or in a "
            "tuple, list, dict, dataclass or function."
        )


class OutsideTensorError(HiddenTensorsError):
    """A function with rules depends on a tensor that is none of its arguments."""

    __module__ = "rules_torch"

    def __init__(self, target: str, who: str, tensor: Any, name: str) -> None:
        self.kind = "Tensor"
        shape = "" if tensor is None else f" of shape {tuple(tensor.shape)}"
        how = f"reads {name!r} from outside" if name else "holds in a hidden place"
        rc.UnsupportedError.__init__(
            self,
            f"{target}: {who} {how} a tensor{shape} that requires a gradient or has a "
            "tangent, but rules have cotangents for arguments only. Pass the tensor as "
            "an argument, or use ignore_derivatives of it if it is a constant.",
        )


class ResultShapeError(rc.RulesCoreError, TypeError):
    """A rule returned a result that is not like its function's."""

    __module__ = "rules_torch"

    def __init__(
        self, rule: Any, expected: str, got: str, *, blamed: bool = False
    ) -> None:
        thus = ", so that its cotangents do not fit either" if blamed else ""
        super().__init__(
            f"{rule.label}: it must return the result of {rule.target}, which "
            f"has {expected} here, but got {got}{thus}. Return what the function "
            "returns."
        )


class KeywordDerivativeError(rc.UnsupportedError):
    """A derivative with respect to a keyword-only argument is wanted."""

    __module__ = "rules_torch"

    def __init__(self, target: str, name: str) -> None:
        super().__init__(
            f"{target}: the derivative with respect to the keyword-only argument "
            f"{name!r} is wanted, but rules have no cotangent for keywords. Pass "
            f"{name}.detach(), or make {name!r} a positional argument."
        )


class UnconvertibleClosureError(rc.UnsupportedError):
    """A pullback captures tensors where PyTorch cannot be given them."""

    __module__ = "rules_torch"

    def __init__(self, rule: Any, obstacle: str) -> None:
        super().__init__(
            f"{rule.label}: its pullback must capture tensors in the open, but "
            f"they are hidden in {obstacle}. Capture them directly, return "
            "Pullback(fn, *residuals), or declare the rule deterministic=True so that "
            "it may run again in the backward pass."
        )


class SecondDerivativeError(rc.UnsupportedError):
    """A derivative through a NumPy-only rule is wanted."""

    __module__ = "rules_torch"

    def __init__(self, rule: Any) -> None:
        super().__init__(
            f"{rule.label} is declared host=True: it runs in NumPy, at first "
            "order only, but a derivative of its result is wanted. Write the rule with "
            "primitives and array-API functions instead."
        )


class HostRuleError(rc.UnsupportedError):
    """A NumPy-only rule cannot serve the other mode."""

    __module__ = "rules_torch"

    def __init__(self, rule: Any) -> None:
        forward = rule.kind == "rrule"
        mode, cure = ("forward", "frule") if forward else ("reverse", "rrule")
        super().__init__(
            f"{rule.label} is declared host=True: it runs in NumPy and cannot be "
            f"transposed, but {mode} mode is wanted. Add an {cure} as well, or write "
            "the rule with primitives and array-API functions."
        )


class NotLinearError(rc.UnsupportedError):
    """A mode is derived from a rule that is not linear."""

    __module__ = "rules_torch"

    def __init__(self, rule: Any) -> None:
        reverse = rule.kind == "frule"
        part = "a tangent" if reverse else "a pullback"
        other = "an rrule" if reverse else "an frule"
        super().__init__(
            f"{rule.label} must have {part} that is linear, for the other mode "
            "is derived from it, but its derivative is another map. Define "
            f"{other} for {rule.target} too, also where the rule is linear but "
            "computes in less precision than its tensors have."
        )


class SelfTransposeError(rc.UnsupportedError):
    """Reverse mode is to be derived from an frule that applies its own function."""

    __module__ = "rules_torch"

    def __init__(self, rule: Any) -> None:
        super().__init__(
            f"{rule.label} applies {rule.target} to the tangent, so that its "
            "transpose, by which reverse mode is derived, would ask for itself without "
            "end. Add an rrule, or declare the function by linear_rule."
        )


class NotGenericError(rc.UnsupportedError):
    """A generic rule or body computes with NumPy or `math` on tensors."""

    __module__ = "rules_torch"

    def __init__(self, what: str, said: str) -> None:
        super().__init__(
            f"{what} must compute with array-API functions, but NumPy, math, float() "
            f"or if was given a tensor ({said}). Use array_namespace(x) or a "
            "primitive, or declare it host=True."
        )


# What torch says where NumPy, `math` or `float` ask a tensor for its memory or value.
_ASKED = (
    "Can't call numpy() on Tensor",
    "Cannot access data pointer of Tensor",
    "calling .item() on a Tensor",
    "only one element tensors can be converted to Python scalars",
    "only length-1 arrays can be converted to Python scalars",
    "only 0-dimensional arrays can be converted to Python scalars",
    "a Tensor with 2 elements cannot be converted to Scalar",
    "elements cannot be converted to Scalar",
    "Cannot access storage of",
    "to use a Tensor in some data-dependent control flow",
    "loop of ufunc does not support argument 0 of type Tensor",
)


def blame_not_generic(what: str, error: Exception) -> None:
    """Raise in place of torch's error where a rule or a body is not generic.

    Raises:
        NotGenericError: NumPy or `math` was given a tensor.
    """
    text = str(error)
    if isinstance(error, rc.RulesCoreError) or not any(said in text for said in _ASKED):
        return
    raise NotGenericError(what, text.partition(". ")[0].rstrip(".")) from error


def blame_rule(
    rule: Any, error: Exception, args: Sequence[Any] = (), part: str = ""
) -> None:
    """Name the rule in an exception of its code: in a note, or in place of torch's.

    Raises:
        NotGenericError: NumPy or `math` was given a tensor.
    """
    if isinstance(error, (RuntimeError, TypeError, ValueError)):
        blame_not_generic(f"{part}{rule.label}", error)
    note_rule(error, rule, args, part)


class FunctionalizeError(rc.UnsupportedError):
    """`torch.func.functionalize` meets a function with rules."""

    __module__ = "rules_torch"

    def __init__(self, target: str) -> None:
        super().__init__(
            f"{target}: torch.func.functionalize cannot look into functions that have "
            "rules. Call it outside of functionalize, or compile the program by "
            "torch.compile, which keeps the rules."
        )


# Dynamo keeps the text of an error that it meets, and not its class.
REFUSES = "cannot be compiled by torch"


class UntraceableError(rc.UnsupportedError):
    """A compiler meets a host function that it cannot compile."""

    __module__ = "rules_torch"

    def __init__(self, target: str, why: str, cure: str) -> None:
        super().__init__(f"{target} {REFUSES}: {why}. {cure}")


_LOOKS = (
    "its body or a rule of it makes a Python number or a branch of a tensor's values",
    "Use array_namespace(x).where(…) there, or declare the primitive host=True.",
)
# What torch says where a body or a rule does what a compiler cannot follow, and why.
_REASONS = {
    "data-dependent expression": _LOOKS,
    "aten._local_scalar_dense": _LOOKS,
    "convert all Tensors to FakeTensors": (
        "its body or a rule of it reads a tensor that is none of its arguments",
        "Pass the tensor as an argument, or make it there by array_namespace(x).",
    ),
    ".numpy() is not supported for tensor subclasses": (
        "its body or a rule of it asks for the memory of a tensor",
        "Declare the primitive host=True, or call array-API functions in its rules.",
    ),
}


def untraceable(target: str, said: str) -> UntraceableError | None:
    """The error in place of what torch says where it compiles; None for other texts."""
    for text, (why, cure) in _REASONS.items():
        if text in said:
            return UntraceableError(target, why, cure)
    return None
