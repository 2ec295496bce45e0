"""The one module that touches private names of torch.

PyTorch has no public way to ask which transforms are active, or to keep a nested
forward-mode derivative; every such name is looked up here, once, and
`tests/adapters/torch/test_compat.py` checks what each of them is relied on for.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial, reduce
from typing import Any

import torch
from torch import Tensor

import rules_core as rc

__all__ = [
    "Levels", "NESTED_FORWARD", "NO_FUNCTIONALIZE", "add_batch_dim",
    "add_older_batch_dim", "apply_function", "autocast_active", "batch_levels",
    "batched_at", "below_autograd", "call_function", "compiling_backward",
    "data_dependent",
    "fake_mode", "forward_ad", "forward_mode_active", "frame_callback",
    "functorch_active", "has_saving_hooks", "has_tangent", "is_batched", "is_dead",
    "is_fake", "is_legacy_batched", "is_of_parameter", "is_pushing_at", "is_symbol",
    "is_traced", "is_view", "is_view_without_history", "is_wrapped",
    "keep_out_of_graphs", "lacks_data", "leaving_the_graph", "let_go", "lowered_to",
    "noting_down", "noting_down_programs", "older_vmap_active", "outside_of_transforms",
    "owns_its_memory",
    "root", "run_as_it_is", "scripting", "set_forward_enabled", "strip_tangent",
    "take_older_batch_dim", "tangent_here", "tracing_or_transforming",
    "unwrap_dead", "unwrapped", "was_written_to", "will_execute", "with_memory",
    "with_tangent_of", "without_saving_hooks", "without_wrappers", "wrapper_level",
]  # fmt: skip

# How the error begins with which torch refuses a second forward-mode level.
NESTED_FORWARD = "Nested forward mode AD is not supported"

# What torch says where `torch.func.functionalize` meets an autograd.Function.
NO_FUNCTIONALIZE = "Functionalize rule for custom_function_call"


def _find(path: str) -> Any:
    """A private name of torch, by its path below `torch`.

    Raises:
        rc.UnsupportedError: This version of torch does not have it.
    """
    try:
        return reduce(getattr, path.split("."), torch)
    except AttributeError:
        message = (
            f"rules_torch needs torch.{path}, which torch {torch.__version__} does not "
            "have. Install a version that rules-core is tested with (torch 2.13)."
        )
        raise rc.UnsupportedError(message) from None


autocast_active: Callable[[], bool] = _find("_C._is_any_autocast_enabled")
functorch_active: Callable[[], bool] = _find("_C._are_functorch_transforms_active")
unwrap_dead: Callable[[Tensor], Tensor] = _find("_C._functorch.unwrap_if_dead")
is_wrapped: Callable[[Tensor], bool] = _find(
    "_C._functorch.is_functorch_wrapped_tensor"
)
is_batched: Callable[[Tensor], bool] = _find("_C._functorch.is_batchedtensor")
is_legacy_batched: Callable[[Tensor], bool] = _find(
    "_C._functorch.is_legacy_batchedtensor"
)
set_forward_enabled: Callable[[bool], AbstractContextManager[None]] = _find(
    "autograd.forward_ad._set_fwd_grad_enabled"
)
call_function: Callable[..., Any] = _find(
    "_functorch.autograd_function.custom_function_call"
)
add_batch_dim: Callable[[Tensor, int, int], Tensor] = _find(
    "_C._functorch._add_batch_dim"
)

_deeper: Callable[[], int] = _find("_C._vmapmode_increment_nesting")
_back: Callable[[], int] = _find("_C._vmapmode_decrement_nesting")
_add_older: Callable[[Tensor, int, int], Tensor] = _find("_add_batch_dim")
_take_older: Callable[[Tensor, int, int, int], Tensor] = _find("_remove_batch_dim")
# What Dynamo does with each frame that runs: None where it is not at work.
frame_callback: Callable[[], Any] = _find(
    "_C._dynamo.eval_frame.get_eval_frame_callback"
)
_frames = _find("_C._dynamo.eval_frame")
_top_hooks: Callable[[bool], Any] = _find(
    "_C._autograd._top_saved_tensors_default_hooks"
)
_pop_hooks: Callable[[], None] = _find("_C._autograd._pop_saved_tensors_default_hooks")
_push_hooks: Callable[..., None] = _find(
    "_C._autograd._push_saved_tensors_default_hooks"
)
_compiler = _find("compiler")
_dispatch = _find("utils._python_dispatch")
forward_ad = _find("autograd.forward_ad")
_find("compiler._is_exporting_flag")
_find("utils._python_dispatch._is_in_torch_dispatch_mode")
scripting: Callable[[], bool] = _find("_C._is_tracing")
_get_mode: Callable[[Any], Any] = _find("_C._get_dispatch_mode")
_PROXY = _find("_C._TorchDispatchModeKey.PROXY")
_compilation: Callable[[], Any] = _find("_guards.TracingContext.try_get")
_Proxy: type = _find("fx.proxy.Proxy")
_find("autograd.forward_ad._current_level")
_forward_enabled: Callable[[], bool] = _find("_C._is_fwd_grad_enabled")
_stack: Callable[[], list[Any] | None] = _find("_C._functorch.get_interpreter_stack")
unwrapped: Callable[[Tensor], Tensor] = _find("_C._functorch.get_unwrapped")
_batch_dim: Callable[[Tensor], int] = _find("_C._functorch.maybe_get_bdim")
wrapper_level: Callable[[Tensor], int] = _find("_C._functorch.maybe_get_level")
_unpack_dual: Callable[..., tuple[Tensor, Tensor | None]] = _find("_VF._unpack_dual")
below_autograd: Callable[[], AbstractContextManager[None]] = _find(
    "_C._AutoDispatchBelowAutograd"
)
_users: Callable[[int], int] = _find("_C._storage_Use_Count")
_will_execute: Callable[[Any], bool] = _find("_C._will_engine_execute_node")
_Kind = _find("_C._functorch.TransformType")
_GRAD, _JVP = _Kind.Grad.value, _Kind.Jvp.value  # comparing these takes less time
_pop: Callable[[], AbstractContextManager[Any]] = _find(
    "_functorch.pyfunctorch.temporarily_pop_interpreter_stack"
)
outside_of_transforms: Callable[[], AbstractContextManager[Any]] = _find(
    "_functorch.pyfunctorch.temporarily_clear_interpreter_stack"
)
_fake: type = _find("_subclasses.fake_tensor.FakeTensor")
_fake_mode = _find("_subclasses.fake_tensor.FakeTensorMode")
data_dependent = (
    _find("_subclasses.fake_tensor.DataDependentOutputException"),
    _find("_subclasses.fake_tensor.DynamicOutputShapeException"),
)
_functional: type = _find("_subclasses.functional_tensor.FunctionalTensor")


class Levels:
    """The transforms of torch.func that are active.

    Attributes:
        reverse: Levels of `grad` and `vjp`.
        forward: Levels of `jvp`.
        order: Levels of both, outermost first.
    """

    __slots__ = ("forward", "order", "reverse")

    def __init__(self) -> None:
        self.reverse, self.forward = set[int](), set[int]()
        self.order: list[int] = []
        for interpreter in _stack() or ():  # outermost first
            kind = interpreter.key().value
            if kind in (_GRAD, _JVP):
                level = interpreter.level()
                self.order.append(level)
                (self.reverse if kind == _GRAD else self.forward).add(level)

    def tracking(self, x: Tensor) -> tuple[bool, bool]:
        """Whether `x` may be wanted in reverse mode, and in forward mode.

        A tensor takes part in forward mode if it is wrapped for it, in reverse mode if
        its wrapper requires a gradient too: `torch.func.grad` wraps all arguments.
        Below all wrappers plain autograd counts.
        """
        levels, reverse = set(), False
        while is_wrapped(x):
            level = wrapper_level(x)
            levels.add(level)
            reverse = reverse or (level in self.reverse and x.requires_grad)
            x = unwrapped(x)
        reverse = reverse or (
            x.requires_grad and (bool(self.reverse) or torch.is_grad_enabled())
        )
        forward = not levels.isdisjoint(self.forward) or (
            forward_mode_active() and (self._may_be_dual(levels) or has_tangent(x))
        )
        return reverse, forward

    def _may_be_dual(self, levels: set[int]) -> bool:
        """Whether a wrapper may have got a tangent inside `grad`, as in `linearize`."""
        return not self.forward and not levels.isdisjoint(self.reverse)


def is_pushing_at(level: int) -> bool:
    """Whether a transform is active that is a `jvp` of this level."""
    found = [t for t in _stack() or () if t.level() == level]
    return bool(found) and found[0].key().value == _JVP


@contextmanager
def lowered_to(level: int) -> Iterator[None]:
    """Without the transforms that are further in than a level."""
    with ExitStack() as popped:
        while (stack := _stack()) and stack[-1].level() > level:
            popped.enter_context(_pop())
        yield


def tangent_here(x: Tensor) -> bool:
    """Whether `x` has a tangent at the innermost level."""
    return not is_legacy_batched(x) and _unpack_dual(x, level=0)[1] is not None


def batch_levels(tensors: Sequence[Tensor]) -> dict[int, int]:
    """The levels of vmap at which any of the tensors is batched, and their sizes."""
    sizes: dict[int, int] = {}
    for tensor in tensors:
        x = tensor
        while is_wrapped(x):
            inner = unwrapped(x)
            if is_batched(x):
                sizes[wrapper_level(x)] = inner.shape[_batch_dim(x)]
            x = inner
    return sizes


def batched_at(x: Tensor, sizes: dict[int, int]) -> Tensor:
    """`x` with a batch axis at every level named, repeated where it had none."""
    if not sizes:
        return x
    top = max(sizes)
    is_top = is_batched(x) and wrapper_level(x) == top
    if is_top and len(sizes) == 1:
        return x
    below = {level: size for level, size in sizes.items() if level != top}
    if is_top:
        inner = unwrapped(x)
        fuller = batched_at(inner, below)
        return x if fuller is inner else add_batch_dim(fuller, _batch_dim(x), top)
    inner = batched_at(x, below)
    return add_batch_dim(inner.expand(sizes[top], *inner.shape), 0, top)


# Whether the older vmap is running here.
older_vmap_active: Callable[[], bool] = partial(
    _find("_C._dispatch_tls_is_dispatch_key_included"),
    _find("_C._dispatch_key_parse")("VmapMode"),
)


def _older_level() -> int:
    """The level of the older vmap that is running; torch only tells by changing it."""
    level = _deeper() - 1
    _back()
    return level


def take_older_batch_dim(x: Tensor) -> tuple[Tensor, int | None]:
    """`x` without the batch of the older vmap, and where that is now."""
    if not is_legacy_batched(x):
        return x, None
    return _take_older(x, _older_level(), 1, 0), 0


def add_older_batch_dim(x: Tensor) -> Tensor:
    """`x`, whose first axis is a batch, as a tensor of the older vmap."""
    return _add_older(x, 0, _older_level())


def is_dead(x: Tensor) -> bool:
    """Whether `x` is the wrapper of a torch.func transform that has ended."""
    return unwrap_dead(x) is not x


def is_view(x: Tensor) -> bool:
    """Whether `x` is a view of another tensor."""
    return bool(x._is_view())


def let_go(x: Tensor) -> Tensor:
    """`x` as another object, unless it is a view, or is written down.

    Torch writes the history of what a Function returns into the object itself, which
    the function that made it may keep: as a constant, or for its next call.
    """
    if x._is_view() or torch.compiler.is_compiling() or noting_down():
        return x
    return x.detach()


def is_view_without_history(x: Tensor) -> bool:
    """Whether `x` is a view, made inside a Function, of something differentiable.

    It says that it requires a gradient, and has no history that could give one.
    """
    return x.requires_grad and x._is_view() and x.grad_fn is None


def compiling_backward() -> bool:
    """Whether compiled autograd traces, or runs, the backward pass of eager code."""
    module: Any = sys.modules.get("torch._dynamo.compiled_autograd")
    return bool(getattr(module, "in_compiled_autograd_region", False))


def forward_mode_active() -> bool:
    """Whether forward-mode tangents are being propagated here."""
    return forward_ad._current_level >= 0 and _forward_enabled()


def tracing_or_transforming() -> bool:
    """Whether a call may mean more than computing; asked at every call, so in one."""
    return (
        functorch_active()
        or forward_ad._current_level >= 0
        or _compiler._is_exporting_flag
        or _dispatch._is_in_torch_dispatch_mode
        or scripting()
    )


def noting_down() -> bool:
    """Whether `make_fx` or `torch.jit.trace` writes down what operators are called."""
    return scripting() or _get_mode(_PROXY) is not None


def noting_down_programs() -> bool:
    """Whether what is written down is a user's program, and not a compiler's graph.

    A compiler has met derivatives before; a program is differentiated later.
    """
    return noting_down() and _compilation() is None


def has_tangent(x: Tensor) -> bool:
    """Whether `x` carries a tangent of `torch.autograd.forward_ad`.

    A tensor of the older vmap (`is_grads_batched`) is itself a tangent, and cannot be
    asked.
    """
    if is_legacy_batched(x):
        return False
    if functorch_active():  # whose transforms answer for tensors of their own levels
        with outside_of_transforms():
            return _unpack_dual(x, level=0)[1] is not None
    return _unpack_dual(x, level=0)[1] is not None


def strip_tangent(x: Tensor) -> Tensor:
    """`x` without the tangent of the innermost forward-mode level.

    Inside the `jvp` of a Function the saved tensors still carry that tangent; torch
    has no batching rule for unpacking, so batched tensors are taken apart by hand.
    """
    if is_batched(x):
        inner = strip_tangent(unwrapped(x))
        return add_batch_dim(inner, _batch_dim(x), wrapper_level(x))
    return _unpack_dual(x, level=0)[0]


def with_memory(x: Tensor) -> Tensor:
    """`x`, with memory of its own if it is one of torch's zeros without any.

    A view of such zeros, made into an array with `numpy(force=True)`, ends the process.
    """
    return x.clone() if x._is_zerotensor() else x


def is_of_parameter(x: Tensor) -> bool:
    """Whether `x` is a parameter or a view of one."""
    return isinstance(x._base if x._is_view() else x, torch.nn.Parameter)


def owns_its_memory(x: Tensor) -> bool:
    """Whether no other tensor, array or process shares the memory of `x`.

    Memory that torch did not allocate, as that of a NumPy array, cannot be resized.
    """
    storage = x.untyped_storage()  # the tensor and this object use it
    users = _users(storage._cdata)
    return bool(users == 2 and storage.resizable())


def root(x: Tensor) -> Tensor:
    """The tensor that `x` is a view of, or `x`."""
    return x if x._base is None else x._base


def was_written_to(x: Tensor) -> bool:
    """Whether a fresh tensor, or a view of it, has been written to since."""
    return bool(x._version > 0)


def with_tangent_of(x: Tensor, other: Tensor) -> Tensor:
    """`x` with the forward-mode tangent of another tensor, if it has none itself."""
    if not forward_mode_active() or not has_tangent(other) or has_tangent(x):
        return x
    return forward_ad.make_dual(x, _unpack_dual(other, level=0)[1])


def will_execute(node: Any) -> bool:
    """Whether the backward pass that is running will execute `node`.

    torch raises for a leaf that `autograd.grad` asks for, which is a yes.
    """
    if node is None:
        return False
    try:
        return _will_execute(node)
    except RuntimeError:
        return True


def is_fake(x: Tensor) -> bool:
    """Whether `x` has no data because a compiler is tracing."""
    return isinstance(x, (_fake, _functional)) or x.is_meta


def is_symbol(cls: type) -> bool:
    """Whether `torch.fx.symbolic_trace` calls functions with instances of a class."""
    return issubclass(cls, _Proxy)


def lacks_data(x: Tensor) -> bool:
    """Whether `x` is fake below all wrappers of torch.func."""
    return is_fake(without_wrappers(x))


def without_wrappers(x: Tensor) -> Tensor:
    """The tensor below all wrappers of torch.func."""
    while is_wrapped(x):
        x = unwrapped(x)
    return x


def is_traced(x: Tensor) -> bool:
    """Whether Dynamo asks for shapes with `x`, and nothing notes down operations."""
    if not isinstance(without_wrappers(x), _fake):
        return False
    return _find("fx.experimental.proxy_tensor.get_proxy_mode")() is None


def has_saving_hooks() -> bool:
    """Whether hooks are given the tensors that are saved, as by a checkpoint."""
    return _top_hooks(False) is not None


@contextmanager
def without_saving_hooks() -> Iterator[None]:
    """Without the hooks that see saved tensors, which torch.func refuses.

    Those of a checkpoint are met where a rule is transposed inside of it. What the
    transposition saves is kept as it is.
    """
    hooks = []
    while (pair := _top_hooks(True)) is not None:
        hooks.append(pair)
        _pop_hooks()
    try:
        yield
    finally:
        for pair in reversed(hooks):
            _push_hooks(*pair)


def fake_mode() -> AbstractContextManager[Any]:
    """Tensors made in it have no data; those from outside may take part."""
    return _fake_mode(allow_non_fake_inputs=True)


def keep_out_of_graphs(function: Any, reason: str) -> None:
    """Do what `torch.compiler.disable` does, without importing all of Dynamo."""
    function._torchdynamo_disable = True
    function._torchdynamo_disable_msg = reason


def run_as_it_is(function: Any) -> None:
    """Let Dynamo compile neither the frames of a function nor what they call.

    It looks at every frame below one that it gave up. Costs nothing where it is not at
    work, and compiled functions that are called in there stay compiled.
    """
    skip = _frames._FrameAction.SKIP
    _frames.set_code_exec_strategy(
        function.__code__, _frames._FrameExecStrategy(skip, skip)
    )


def leaving_the_graph(message: str) -> Exception:
    """The error at which Dynamo leaves its graph; with `fullgraph=True` it is raised.

    For functions that Dynamo is running, so all of it has been imported.
    """
    return _find("_dynamo.exc.Unsupported")(message)


def _unbound(cls: Any) -> Callable[..., Any]:
    return super(torch.autograd.Function, cls).apply


def apply_function(cls: type) -> Callable[..., Any]:
    """`cls.apply` below the Python layer, for calls with positional arguments only.

    The public `apply` binds the signature of `forward` at every call, which costs more
    than the rest of the call together, and unwraps dead wrappers, which the caller
    of this one has to do.
    """
    return _unbound(cls)
