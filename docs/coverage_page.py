"""The page docs/reference/coverage.md: python docs/coverage_page.py prints it.

One row for each argument of each public function of the libraries that our packs serve:
its derivative, how each framework reaches the function, up to which order it may be
differentiated, how accurate that is, and where the rule is written. New packs and new
modules of packs appear by themselves.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rules_numpy.coverage
import rules_scipy.coverage
from rules_core._command.coverage import coverage
from rules_core.extend import find_table
from rules_numpy._declare.derivative import DECLARED
from rules_numpy._declare.partials_in_hosts import IN_HOSTS
from rules_scipy._module_coverage import ModuleCoverage
from rules_scipy.special._declare import PARTIALS

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "coverage.md"
GROUP = "rules_core.packs"
# Their functions are known by other names, or are no functions.
LEFT_OUT = {"_operator", "_random", "array_api_compat", "builtins", "random"}
INSIDE = {"numpy": ("numpy.linalg", "numpy.fft")}
# Transforms, of lengths, axes and options.
LINEAR_IN_FIRST = "scipy.fft"
# Declared with their options as static arguments.
ALL_OR_STATIC = "scipy.linalg"
COLUMNS = (
    "function", "argument", "derivative", "NumPy", "JAX", "PyTorch",
    "error, orders 1 and 2", "rule",
)  # fmt: skip

HEAD = """# Coverage

<!-- Made by `make coverage-page`; do not edit. -->

Every public function of NumPy, SciPy and `math` that the packs of this project know,
argument by argument. Type into the field below to filter all tables.
`rules-core coverage MODULE` prints the state of any module, with the packs that you
have installed.

| column | meaning |
|---|---|
"""

MEANINGS = {
    "derivative": "*formula*; *difference*: of order twelve, where there is no "
    "formula; *rule*: the page of the module says in which arguments; *constant*: it "
    "has none; *none*: asking for it raises an error; *program*: the engine "
    "differentiates the call itself. Options have no row",
    "NumPy, JAX, PyTorch": "how a call is reached, and the order up to which it may be "
    "differentiated; in JAX and PyTorch call the function of the pack, such as "
    "`rules_scipy.special.kv`; blank for functions of numbers, which frameworks do "
    "not call",
    "traced": "the framework's own operations",
    "native": "compiled JAX programs on a CPU call the compiled loop, without Python",
    "callback, operator": "NumPy computes it, called from JAX's or PyTorch's program",
    "by `to_jax`, `to_torch`": "not a primitive: wrap it, as "
    "`to_jax(f, host=True, out=…)`",
    "error": "the worst relative error found against mpmath ([](scipy-accuracy.md)); "
    "blank where it was not measured",
    "rule": "the module in which it is written, or why there is none",
}


class Row(NamedTuple):
    """One argument of a function."""

    function: str
    argument: str
    derivative: str
    numpy: str = ""
    jax: str = ""
    torch: str = ""
    error: str = ""
    rule: str = ""


def modules() -> dict[str, str]:
    """Modules of libraries, and the packs of ours that serve them."""
    points = metadata.distribution("rules-core").entry_points.select(group=GROUP)
    served = {
        p.name: p.value for p in points if p.name not in LEFT_OUT and "._" not in p.name
    }
    return {
        module: pack
        for name, pack in sorted(served.items(), key=lambda item: _place(item[0]))
        for module in (name, *_below(name, pack))
    }


def _below(name: str, pack: str) -> tuple[str, ...]:
    """The modules inside a module that its pack serves too."""
    known = (known.module.__name__ for known in _known(pack))
    return INSIDE.get(name) or tuple(n for n in known if n.startswith(f"{name}."))


def _known(pack: str) -> tuple[ModuleCoverage, ...]:
    """What a pack of SciPy says of its modules."""
    try:
        found = import_module(f"{pack}.coverage")
    except ModuleNotFoundError:
        return ()
    known = getattr(found, "COVERAGE", ())
    return (known,) if isinstance(known, ModuleCoverage) else known


def _place(name: str) -> tuple[bool, str]:
    return "math" in name, name  # modules of plain numbers last


def reasons(pack: str) -> dict[str, str]:
    """Functions without a rule, by their names alone, and why."""
    older = {
        "rules_numpy": rules_numpy.coverage.MISSING,
        "rules_scipy.special": rules_scipy.coverage.MISSING,
    }
    tables = [older.get(pack, {}), *(known.missing for known in _known(pack))]
    return {
        name.rpartition(".")[2]: why for table in tables for name, why in table.items()
    }


def accuracy() -> dict[str, str]:
    """The measured errors, by function."""
    text = (PAGE.parent / "scipy-accuracy.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| (\S+) \| (\S+) \|", text, re.MULTILINE)
    return {name: f"{first}, {second}" for name, first, second in rows}


def rows_of(module: str, pack: str) -> Iterator[Row]:
    """The rows of a module."""
    own, why = import_module(pack), reasons(pack)
    measured = accuracy() if pack == "rules_scipy.special" else {}
    for name, f, state in _states(module, pack):
        if state == "constant":
            yield Row(name, "all", "constant", rule=_written(f))
        elif state != "covered":
            yield _without(name, why)
        elif find_table(_key(f)) is None:
            through = "by the pack's function"
            place = f"`{pack}.{name}`" if hasattr(own, name) else f"`{pack}`"
            yield Row(name, "", "rule", through, through, through, rule=place)
        else:
            yield from _with_rules(name, f, own, measured.get(name, ""))


def _states(module: str, pack: str) -> Iterator[tuple[str, Any, str]]:
    """Each function of a module, and whether it is covered, constant or missing."""
    for known in _known(pack):
        if known.module.__name__ == module:
            for name, f in sorted(known.public_functions().items()):
                yield name, f, known.state_of(name, f) or "missing"
            return
    owner = import_module(module)
    for entry in coverage(owner):
        found = {entry["reverse"], entry["forward"]} - {None, "no"}
        state = "covered" if "rule" in found else "constant" if found else "missing"
        if entry["name"] != "test":
            yield entry["name"], getattr(owner, entry["name"]), state


def _without(name: str, why: dict[str, str]) -> Row:
    if name in rules_numpy.coverage.FOLLOWED:
        return Row(name, "all", "program", "engine, every order")
    return Row(name, "all", "none", rule=why.get(name, ""))


def _with_rules(name: str, f: Any, own: Any, error: str) -> Iterator[Row]:
    reached, written = _reached(f, getattr(own, name, None)), _written(f)
    for argument, derivative in _arguments(f):
        if derivative == "option":
            continue
        found = reached if derivative in DERIVED else ("",) * 3
        yield Row(name, argument, derivative, *found, error, written)


def _key(f: Any) -> Any:
    return getattr(f, "fun", f)


def _written(f: Any) -> str:
    table = find_table(_key(f))
    rules = (*table.rrule.rules, *table.frule.rules) if table else ()
    places = sorted({rule.where.module for rule in rules if rule.function})
    return f"`{places[0]}`" if places else ""


def _arguments(f: Any) -> list[tuple[str, str]]:
    """The positional arguments of a function, and their derivatives."""
    names = _names(f)
    handle = find_table(_key(f)).primitive
    if handle in PARTIALS:
        partials = PARTIALS[handle]
        kinds = [_kind(partial) for partial in partials]
        return list(zip(_as_many(names, len(kinds)), kinds, strict=True))
    if f in DECLARED:
        active = DECLARED[f][1]
        return [
            (n, "formula" if active is None or i in active else "option")
            for i, n in enumerate(names)
        ]
    if handle and handle.static_argnames:
        constant = handle.static_argnames
        return [(n, "option" if n in constant else "formula") for n in names]
    module = getattr(_key(f), "__module__", None) or ""
    if handle and module.startswith(LINEAR_IN_FIRST):
        return [(names[0], "formula")]
    if handle and (len(names) == 1 or module.startswith(ALL_OR_STATIC)):
        return [(n, "formula") for n in names]
    return [("", "rule")]


def _kind(partial: Any) -> str:
    if partial is None:
        return "option"
    if isinstance(partial, str):
        return "none"
    return "difference" if getattr(partial, "difference", False) else "formula"


def _names(f: Any) -> list[str]:
    if isinstance(_key(f), np.ufunc):
        count = _key(f).nin
        return ["x"] if count == 1 else [f"x{i + 1}" for i in range(count)]
    try:
        parameters = inspect.signature(_key(f)).parameters.values()
    except (TypeError, ValueError):
        return ["x"]
    kinds = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD
    return [p.name for p in parameters if p.kind not in kinds]


def _as_many(names: list[str], count: int) -> list[str]:
    return [names[i] if i < len(names) else f"x{i + 1}" for i in range(count)]


def _reached(f: Any, own: Any) -> tuple[str, str, str]:
    """How NumPy, JAX and PyTorch reach a function, or our own, and the orders."""
    handle = find_table(_key(f)).primitive
    rules = (*find_table(_key(f)).rrule.rules, *find_table(_key(f)).frule.rules)
    first = all(rule.host for rule in rules) and _key(f) not in IN_HOSTS
    order = "order 1" if first else "every order"
    if getattr(_key(f), "__module__", None) in ("math", "cmath"):
        return "direct, every order", "", ""
    if handle is None and callable(own):
        return "direct, every order", "by the pack's function", "by the pack's function"
    if handle is None:
        return "direct, every order", f"by `to_jax`, {order}", f"by `to_torch`, {order}"
    if not handle.host:
        return "direct, every order", f"traced, {order}", f"traced, {order}"
    native = "native" if isinstance(_key(f), np.ufunc) else "callback"
    return "direct, every order", f"{native}, {order}", f"operator, {order}"


def table(rows: list[Row]) -> str:
    """A table that can be filtered."""
    lines = [COLUMNS, ("---",) * len(COLUMNS)]
    lines += [(f"`{r.function}`", _code(r.argument), *r[2:]) for r in rows]
    text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return f":::{{div}} searchable\n{text}\n:::\n"


def _code(name: str) -> str:
    return f"`{name}`" if name else ""


def section(module: str, pack: str) -> str:
    """The numbers of a module, and its table."""
    rows = list(rows_of(module, pack))
    state = {row.function: _state(row, rows) for row in rows}
    count = Counter(state.values())
    words = ", ".join(f"{count[s]} {s}" for s in STATES if count[s])
    return f"## {module}\n\n{len(state)} functions: {words}.\n\n{table(rows)}"


DERIVED = {"formula", "difference", "rule"}
STATES = "with rules", "constant", "followed by the engine", "without a rule"


def _state(row: Row, rows: list[Row]) -> str:
    kinds = {r.derivative for r in rows if r.function == row.function}
    if kinds & DERIVED:
        return "with rules"
    if "constant" in kinds:
        return "constant"
    return "followed by the engine" if "program" in kinds else "without a rule"


def page() -> str:
    """The whole page."""
    parts = [section(module, pack) for module, pack in modules().items()]
    meanings = "".join(f"| {word} | {what} |\n" for word, what in MEANINGS.items())
    return f"{HEAD}{meanings}\n" + "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
