"""Pytest for the whole repository: documentation examples are tests too."""

import os
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE
from importlib.util import find_spec

from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

# Before anything imports JAX: finite differences need float64. Tests of single
# precision ask for the fixture `x32`.
os.environ.setdefault("JAX_ENABLE_X64", "1")

FLAGS = ELLIPSIS | NORMALIZE_WHITESPACE

# What each optional library carries is left out of collection where it is missing; what
# is shown to readers uses all of them.
SHOWN = ["docs/*", "examples/*", "tests/interop/test_co2*", "README.md"]
CARRIED = {
    "numpy": ["engine/*", "adapters/*", "tests/*", *SHOWN],
    "scipy": ["engine/rules_scipy*", "tests/packs/*scipy*", *SHOWN],
    "jax": ["adapters/rules_jax*", "tests/adapters/*jax*", *SHOWN],
    "torch": ["adapters/rules_torch*", "tests/adapters/*torch*", *SHOWN],
}

collect_ignore_glob = [
    pattern
    for library, patterns in CARRIED.items()
    if find_spec(library) is None
    for pattern in patterns
]

pytest_collect_file = (
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
