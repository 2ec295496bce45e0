"""Pytest for the whole repository: documentation examples are tests too."""

import os
from collections.abc import Iterable
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

# Before anything imports JAX: finite differences need float64. Tests of single
# precision ask for the fixture `x32`.
os.environ.setdefault("JAX_ENABLE_X64", "1")

# What JAX compiled in an earlier run is used again; RULES_COLD=1 compiles it all.
CACHE = {
    "JAX_COMPILATION_CACHE_DIR": str(Path(__file__).parent / ".pytest_cache" / "jax"),
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
}
if "RULES_COLD" not in os.environ:
    for name, value in CACHE.items():
        os.environ.setdefault(name, value)

# What runs every day, in slices, and for how long.
pytest_plugins = [
    "pytester",
    "rules_core.testing.pytest_plugin",
    "tests.covering",
    "tests.slices",
    "tests.budget",
    "tests.repeats",
    "tests.waiting",
    "tests.warm",
]

FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE

# What each optional library carries is left out of collection where it is missing; what
# is shown to readers uses all of them.
DEMOS = ["tests/interop/test_co2*", "tests/interop/test_river*"]
SHOWN = ["docs/*", "examples/*", "tests/pages/*", *DEMOS, "README.md"]
CARRIED = {
    "numpy": ["engine/*", "adapters/*", "tests/*", *SHOWN],
    "scipy": ["engine/rules_scipy*", "tests/packs/*scipy*", *SHOWN],
    "jax": ["adapters/rules_jax*", "tests/adapters/*jax*", *SHOWN],
    "torch": ["adapters/rules_torch*", "tests/adapters/*torch*", *SHOWN],
}

MISSING = [library for library in CARRIED if find_spec(library) is None]
LEFT_OUT = sorted({pattern for library in MISSING for pattern in CARRIED[library]})

collect_ignore_glob = LEFT_OUT

collect_examples = (
    Sybil(
        [PythonCodeBlockParser(doctest_optionflags=FLAGS), SkipParser()],
        pattern="*.md",
    )
    + Sybil(
        [DocTestParser(FLAGS)],
        pattern="*.py",
        excludes=["tests/**", "conftest.py", "docs/conf.py", "examples/**"],
    )
).pytest()


class LeftOut(pytest.File):
    """A file that `testpaths` names, so that it is collected whatever is installed."""

    def collect(self) -> Iterable[pytest.Item]:
        """Skip it."""
        pytest.skip(f"needs {', '.join(MISSING)}", allow_module_level=True)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> Any:
    """Examples in documentation and docstrings, where what they show is installed."""
    if file_path.name in LEFT_OUT:
        return LeftOut.from_parent(parent, path=file_path)
    if file_path.suffix == ".py" and b">>>" not in file_path.read_bytes():
        return None  # to read it as a program takes longer
    return collect_examples(file_path, parent)


def pytest_report_header() -> list[str]:
    """Say what a run without an optional library does not look at."""
    if not MISSING:
        return []
    return [f"not installed: {', '.join(MISSING)}", f"left out: {', '.join(LEFT_OUT)}"]
