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

# What each optional library carries is left out of collection where it is missing.
CARRIED = {
    "numpy": ["engine/*", "adapters/*", "docs/*", "examples/*", "tests/*", "README.md"],
    "scipy": [
        "engine/rules_scipy*",
        "tests/packs/*scipy*",
        "tests/interop/test_co2*",
        "examples/*",
        "docs/*",
        "README.md",
    ],
    "jax": ["adapters/rules_jax*", "tests/adapters/*jax*", "docs/*", "README.md"],
    "torch": ["adapters/rules_torch*", "tests/adapters/*torch*", "docs/*", "README.md"],
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
