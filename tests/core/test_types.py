"""Type checkers find each mistake in a user's file, and nothing where it is right."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [str(ROOT / folder) for folder in ("", "engine", "adapters")]

DEFINITIONS = """\
from collections.abc import Callable
from typing import Any, assert_type

import rules_core as rc
from rules_autodiff import grad, value_and_grad
from rules_jax import to_jax
from rules_torch import to_torch


@rc.primitive
def scale(x: float, factor: float = 2.0) -> float:
    return factor * x


@rc.primitive(host=True)
def repeat(text: str, /, *, times: int) -> str:
    return text * times


class Model:
    @rc.primitive
    def apply(self, x: float, power: int = 2) -> float:
        return x**power


def loss(x: float, y: float) -> float:
    return scale(x) * y


"""
RIGHT = """\
assert_type(scale(1.0, factor=3.0), float)
assert_type(repeat("a", times=2), str)
assert_type(Model().apply(1.0, power=3), float)
assert_type(Model.apply(Model(), 1.0), float)
assert_type(scale.fun(1.0), float)
assert_type(to_jax(scale)(1.0), float)
assert_type(to_torch(scale, host=True)(1.0, factor=1.0), float)
assert_type(rc.as_primitive(loss)(1.0, y=2.0), float)
assert_type(rc.ignore_derivatives(1.0), float)
assert_type(rc.ignore_derivatives(lambda: "a"), str)
assert_type(value_and_grad(loss)(1.0, y=2.0)[0], float)
grad(loss, argnums=(0, 1))(1.0, 2.0)
y, pullback = rc.rrule.require(scale, 1.0)
y, dy = rc.frule.require((rc.NoTangent(), 1.0, 0.0), scale, 1.0, 2.0)
pair = rc.rrule(scale, 1.0)
if pair is not None:
    y, pullback = pair
bare: rc.Primitive = scale


@rc.rrule.define(scale)
def scale_rrule(x: float, factor: float) -> tuple[float, Callable[[float], Any]]:
    def scale_pullback(dy: float) -> dict[str, float]:
        return {"x": factor * dy, "factor": x * dy}

    return scale(x, factor), scale_pullback


assert_type(scale_rrule(1.0, 2.0)[0], float)
"""
WRONG = """\
scale("a")
scale(1.0, facto=2.0)
scale(1.0).upper()
repeat(text="a", times=2)
Model().apply("a")
Model().apply(1.0, pwer=3)
to_jax(scale)("a")
to_torch(scale)(1.0, 2.0, 3.0)
grad(loss)(1.0)
value_and_grad(loss)(1.0, "b")
value_and_grad(loss)(1.0, 2.0)[0].upper()
y, pullback = rc.rrule(scale, 1.0)
rc.primitive(loss, elementwize=True)
rc.primitive(3)
rc.ignore_derivatives(1.0).upper()
scale.fun("a")
"""
HEAD = DEFINITIONS.count("\n")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("typed")
    (folder / "right.py").write_text(DEFINITIONS + RIGHT)
    (folder / "wrong.py").write_text(DEFINITIONS + WRONG)
    return folder


def mypy(folder):
    """Errors by file and line; what mypy has read is kept for the next run."""
    lines = ["[mypy]", "strict = True", f"mypy_path = {':'.join(SOURCES)}"]
    lines.append(f"cache_dir = {ROOT / '.pytest_cache' / 'mypy'}")
    for library in ("jax", "torch", "numpy", "scipy"):
        lines += [f"[mypy-{library}.*]", "follow_imports = skip"]
        lines.append("ignore_missing_imports = True")
    (folder / "mypy.ini").write_text("\n".join(lines))
    command = ["-m", "mypy", "--config-file", "mypy.ini", "right.py", "wrong.py"]
    told = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.stdout, told.stderr
    return re.findall(r"^(\w+)\.py:(\d+): error", told.stdout, re.MULTILINE)


def pyright(folder):
    settings = {
        "extraPaths": SOURCES,
        "typeCheckingMode": "strict",
        "reportUnusedImport": False,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    told = subprocess.run(
        [sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(folder)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    found = json.loads(told.stdout)["generalDiagnostics"]
    return [
        (Path(error["file"]).stem, error["range"]["start"]["line"] + 1)
        for error in found
        if error["severity"] == "error"
    ]


@pytest.mark.covering(every=2, start=1)
@pytest.mark.parametrize("check", [mypy, pyright])
def test_each_mistake_is_found_and_nothing_else(files, check):
    pytest.importorskip({"pyright": "basedpyright"}.get(check.__name__, "mypy"))
    found = {(name, int(line) - HEAD) for name, line in check(files)}
    count = WRONG.count("\n")
    assert {line for name, line in found if name == "wrong"} == {*range(1, count + 1)}
    assert {line for name, line in found if name == "right"} == set()
