"""Rooms of the packages: what CONTRIBUTING says of them, and what each says itself."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
PACKAGES = {
    path.parent.name: path.parent
    for path in (
        ROOT / "rules_core/__init__.py",
        *ROOT.glob("*/rules_*/__init__.py"),
    )
}
LAYERED = [
    contract for contract in CONTRACTS["contracts"] if contract["type"] == "layers"
]


def jobs() -> list[list[str]]:
    """The rows of the table "Where do I go?"."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    table = text.split("## Where do I go?")[1].split("\n\n")[1]
    return [row.strip("|").split("|") for row in table.splitlines()[2:]]


@pytest.mark.parametrize("row", jobs(), ids=lambda row: row[0].strip())
def test_each_job_has_a_room_and_something_that_notices(row):
    _, room, notices = row
    for cell in (room, notices):
        paths = [path for path in re.findall(r"`([^`\s]+)`", cell) if "/" in path]
        assert paths
        assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_each_room_says_what_it_is_for(package):
    silent = [
        str(path.relative_to(ROOT))
        for path in PACKAGES[package].rglob("__init__.py")
        if not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []


def test_the_layers_of_every_package_with_rooms_are_exhaustive():
    inside = {
        contract["containers"][0]: contract["exhaustive"]
        for contract in LAYERED
        if "containers" in contract
    }
    rooms = {
        name for name, folder in PACKAGES.items() if any(folder.glob("_*/__init__.py"))
    }
    assert rooms <= set(inside)
    assert all(inside.values())


def test_no_contract_inside_a_package_has_exceptions():
    assert [c["name"] for c in LAYERED if c.get("ignore_imports")] == []


def test_the_same_job_has_the_same_room_in_both_adapters():
    jax, torch = (
        {
            path.name
            for path in PACKAGES[name].iterdir()
            if not path.name.startswith("__")
        }
        for name in ("rules_jax", "rules_torch")
    )
    common = {"_adapter.py", "_cells.py", "_compat.py", "_config.py", "_errors.py"}
    assert common | {"_host", "_rules", "_values"} <= jax & torch


def test_the_page_of_the_second_front_door_names_what_it_has():
    from rules_core import extend

    page = (ROOT / "docs/reference/extend.md").read_text()
    assert [name for name in extend.__all__ if f"`{name}" not in page] == []
