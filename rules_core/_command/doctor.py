"""`rules-core doctor`: what is installed, and what is slow or missing."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from rules_core._base.frameworks import entry_points_of_adapters, load_adapter
from rules_core._base.shown import lines_of_table
from rules_core._dispatch.packs import GROUP, allowed_packs
from rules_core._dispatch.registry import PACKS, rules

__all__ = ["doctor"]

DISTRIBUTION = "rules-core"


def doctor(write: Callable[[str], Any]) -> int:
    """Write the state of an installation; 1 if something must be repaired."""
    problems: list[str] = []
    hints: list[str] = []
    sections: dict[str, Callable[[list[str], list[str]], list[tuple[str, ...]]]] = {
        "Versions": _versions,
        "Frameworks": _frameworks,
        "Rule packs": _packs,
    }
    for title, look in sections.items():
        write(title)
        for line in lines_of_table(look(problems, hints)):
            write(f"  {line}")
    hints.extend(_switches())
    for title, lines in (("To repair", problems), ("To know", hints)):
        if lines:
            write(title)
        for line in lines:
            write(f"  {line}")
    if not problems:
        write("Nothing needs repair.")
    return 1 if problems else 0


def _versions(problems: list[str], hints: list[str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("Python", platform.python_version(), "")]
    for name, lowest, extra in (("rules-core", "", ""), *_requirements()):
        version = _version(name)
        if version is None and extra:
            cure = f"pip install '{DISTRIBUTION}[{extra}]'"
            hints.append(f"{name} is not installed: {cure}")
        elif version is None:
            problems.append(f"{name} is missing: pip install {name}")
        elif _parts(version) < _parts(lowest):
            problems.append(
                f"{name} {version} is too old: pip install '{name}>={lowest}'"
            )
        bound = f"at least {lowest}" if lowest else ""
        rows.append((name, version or "not installed", bound))
    return rows


def _requirements() -> Iterator[tuple[str, str, str]]:
    """Name, lowest version and extra of every library that we rest on."""
    try:
        required = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return
    for line in sorted(set(required)):
        found = re.match(r"([\w.-]+)>=([\w.]+)", line)
        extra = re.search(r"extra == '(\w+)'", line)
        if found and (extra is None or extra[1] == found[1]):
            yield found[1], found[2], extra[1] if extra else ""


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version.partition("+")[0])[:3]))


def _frameworks(problems: list[str], hints: list[str]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    roots: dict[str, str] = {}
    for root, point in entry_points_of_adapters().items():
        roots.setdefault(point.value, root)
    for target, root in roots.items():
        if find_spec(root) is None:
            rows.append((root, "not installed", ""))
            continue
        start = time.perf_counter()
        try:
            load_adapter(root)
        except Exception as error:
            problems.append(f"{target} does not import: {_words(error)}")
            rows.append((root, "broken", ""))
            continue
        took = f"imported in {time.perf_counter() - start:.1f} s"
        rows.append((root, took, _state(root, hints)))
    return rows


def _state(root: str, hints: list[str]) -> str:
    """Settings that change how a framework computes."""
    library = import_module(root)
    if root == "torch":
        has_gpu = library.cuda.is_available()
        return f"{'GPU' if has_gpu else 'CPU'}, {library.get_num_threads()} threads"
    if root == "jax":
        if not library.config.jax_enable_x64:
            hints.append("JAX computes in single precision; double: JAX_ENABLE_X64=1")
        digits = "double" if library.config.jax_enable_x64 else "single"
        return f"{library.default_backend()}, {digits} precision"
    return ""


def _packs(problems: list[str], hints: list[str]) -> list[tuple[str, ...]]:
    points = list(metadata.entry_points(group=GROUP))
    on = allowed_packs(os.environ.get("RULES_CORE_PACKS"), {p.name for p in points})
    modules = dict.fromkeys(point.value for point in points)
    rows: list[tuple[str, ...]] = []
    for module in modules:
        names = sorted(p.name for p in points if p.value == module)
        served = ", ".join(name for name in names if name in on)
        state = _pack(module, served.split(", ")[0], problems) if served else "off"
        rows.append((module, state, f"for {served}" if served else ""))
    return rows


def _pack(module: str, name: str, problems: list[str]) -> str:
    if find_spec(name.partition(".")[0]) is None:
        return f"{name} is not installed"
    start = time.perf_counter()
    try:
        PACKS.load(name)
    except Exception as error:
        problems.append(_words(error))
        return "broken"
    took = time.perf_counter() - start
    root = module.partition(":")[0]
    count = sum(
        rule.module == root or rule.module.startswith(f"{root}.") for rule in rules()
    )
    return f"{count} rules, imported in {took:.1f} s"


def _switches() -> Iterator[str]:
    """Environment variables that make rules slow, or absent."""
    if os.environ.get("RULES_CORE_DEBUG", "0") not in ("", "0"):
        yield "RULES_CORE_DEBUG is set: every rule is checked while it runs, slowly"
    chosen = os.environ.get("RULES_CORE_PACKS")
    if chosen is not None:
        yield f"RULES_CORE_PACKS={chosen} selects the packs"
    if sys.flags.optimize:
        yield "Python runs with -O: assertions of tests do nothing"


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
