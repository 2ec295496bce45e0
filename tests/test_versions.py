"""The lower bounds that users install by are those that `make versions` runs."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]
BOUND = re.compile(r"([\w-]+)>=([\d.]+)$")


def declared():
    """Lower bounds, by the name of the package."""
    extras = PROJECT["optional-dependencies"].values()
    words = [*PROJECT["dependencies"], *(word for extra in extras for word in extra)]
    return dict(match.groups() for word in words if (match := BOUND.match(word)))


def pinned():
    """What the environment of the lowest versions installs."""
    lines = (ROOT / "constraints-lowest.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split("==") for line in lines if not line.startswith("#"))


def test_lowest_versions_are_the_lower_bounds():
    bounds, pins = declared(), pinned()
    assert bounds.keys() == pins.keys() - {"jaxlib"}
    for name, bound in bounds.items():
        short = pins[name].removesuffix(".0")
        assert bound.removesuffix(".0") == short, (name, bound, pins[name])


def test_the_smoke_names_tests_that_exist():
    named = re.findall(r"tests/[\w/.]+", (ROOT / ".ci/versions").read_text())
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []
