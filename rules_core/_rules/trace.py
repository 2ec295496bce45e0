"""`trace`: which rules ran, in order."""

from __future__ import annotations

from _thread import get_ident  # without importing threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, final

from rules_core._base.errors import MixedHostsError
from rules_core._base.rule_notes import shown_argument
from rules_core._base.shown import escaped, html_of_table, lines_of_table
from rules_core._dispatch.rule import Rule
from rules_core._dispatch.rule_key import describe
from rules_core._primitives.find_host import find_adapter

from .debug_mode import watching
from .in_frameworks import NAMES

__all__ = ["RuleTrace", "TracedCall", "trace"]

HEAD = ("", "framework", "rule", "function", "pack", "place")


@final
@dataclass(frozen=True, slots=True)
class TracedCall:
    """A rule that ran.

    Attributes:
        rule: The `Rule`.
        framework: `"NumPy"`, `"JAX"`, `"PyTorch"`, or the name of another adapter.
        arguments: Its arguments: numbers, dtypes and shapes, or types.
        depth: How many rules were running already, in this thread.
    """

    rule: Rule
    framework: str
    arguments: str
    depth: int

    @property
    def pack(self) -> str:
        """The package in which the rule is written."""
        return self.rule.module.partition(".")[0]

    @property
    def call(self) -> str:
        """The function with its arguments."""
        return f"{self.rule.target}({self.arguments})"


@final
class RuleTrace:
    """The rules that ran: a list of `TracedCall` that shows itself as a table.

    Attributes:
        value: What the function returned.
        calls: The calls of rules, in order.
        title: The function.
    """

    def __init__(self, title: str, value: Any, calls: list[TracedCall]) -> None:
        self.title, self.value, self.calls = title, value, calls

    def __iter__(self) -> Iterator[TracedCall]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, i: int) -> TracedCall:
        return self.calls[i]

    def _rows(self) -> list[tuple[str, ...]]:
        return [
            (
                str(i),
                call.framework,
                "  " * call.depth + f"{call.rule.kind} {call.rule.name}",
                call.call,
                call.pack,
                call.rule.location,
            )
            for i, call in enumerate(self.calls, 1)
        ]

    @property
    def summary(self) -> str:
        """The function, and how many rules ran."""
        if not self.calls:
            return (
                f"{self.title}: no rule ran. Either nothing was differentiated, or "
                "the rules ran when the function was compiled: trace it before."
            )
        count = len(self.calls)
        return f"{self.title}: {count} rule{'s' * (count > 1)} ran"

    def __repr__(self) -> str:
        rows = lines_of_table(self._rows(), HEAD) if self.calls else ()
        return "\n".join((self.summary, *(f"  {line}" for line in rows)))

    def _repr_html_(self) -> str:
        table = html_of_table(self._rows(), HEAD) if self.calls else ""
        return f"<p>{escaped(self.summary)}</p>{table}"

    def to_dot(self) -> str:
        """The trace in Graphviz's language: calls in order, a rule's own inside it."""
        root = f"  0 [label={_quoted(self.title)}];"
        lines = ["digraph trace {", "  node [shape=box];", root]
        parents = [0]
        for i, call in enumerate(self.calls, 1):
            text = f"{i}. {call.call}\n{call.rule.kind} {call.rule.name}\n"
            label = _quoted(f"{text}{call.pack}, {call.framework}")
            del parents[call.depth + 1 :]
            lines += [f"  {i} [label={label}];", f"  {parents[-1]} -> {i};"]
            parents.append(i)
        return "\n".join((*lines, "}"))


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def trace(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> RuleTrace:
    """Call `f` and list, in order, each rule that runs, in every framework.

    Rules run where something is differentiated, so `f` is usually a gradient:
    `trace(jax.grad(loss), x)`. Where a framework compiles, rules run while it does; a
    function that is compiled already shows nothing. `rules_autodiff` differentiates
    arithmetic and elementwise functions of NumPy itself; they are not listed. The list
    is of the whole process while `f` runs.

    Args:
        f: Any function.
        *args: Its arguments.
        **kwargs: Its keyword arguments.

    Returns:
        The trace: it prints as a table, `to_dot()` is a graph, `value` what `f`
        returned.

    >>> from rules_autodiff import grad
    >>> from rules_core import trace
    >>> from scipy.special import kv
    >>> found = trace(grad(lambda x: kv(0.5, x)), 2.0)
    >>> [(call.call, call.pack, call.framework) for call in found]
    [('kv(0.5, 2.0)', 'rules_scipy', 'NumPy')]
    """
    recorder = _Recorder()
    with recorder.recording():
        value = f(*args, **kwargs)
    return RuleTrace(_title(f), value, recorder.calls)


def _title(f: Any) -> str:
    return describe(f) if callable(f) else repr(f)


class _Recorder:
    """The calls of rules while it records."""

    def __init__(self) -> None:
        self.calls: list[TracedCall] = []
        self._depth: dict[int, int] = {}

    @contextmanager
    def recording(self) -> Iterator[None]:
        with watching(self._watched):
            yield

    def _watched(self, rule: Rule) -> Rule:
        function = rule.function
        if function is None:
            return rule

        def traced_rule(*args: Any, **kw: Any) -> Any:
            with self._inside(rule, args):
                return function(*args, **kw)

        traced_rule.__dict__.update(getattr(function, "__dict__", {}))
        return rule.with_function(traced_rule)

    @contextmanager
    def _inside(self, rule: Rule, args: tuple[Any, ...]) -> Iterator[None]:
        thread = get_ident()
        depth = self._depth.get(thread, 0)
        own = args[(rule.config is not None) + (rule.kind == "frule") :]
        shown = ", ".join(map(shown_argument, own))
        self.calls.append(TracedCall(rule, _framework(own), shown, depth))
        self._depth[thread] = depth + 1
        try:
            yield
        finally:
            self._depth[thread] = depth


def _framework(args: tuple[Any, ...]) -> str:
    try:
        adapter = find_adapter(args, {})
    except MixedHostsError:
        return "several"
    return "NumPy" if adapter is None else NAMES.get(adapter.name, adapter.name)
