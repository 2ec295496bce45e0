"""How the handler of native calls is built, and wheels without it."""

import shutil

import pytest

import hatch_build
from tests.adapters.jax.devices import ROOT

pytestmark = pytest.mark.skipif(
    hatch_build.compiler() is None, reason="installed without a C compiler"
)


def source(root):
    (root / hatch_build.FOLDER).mkdir(parents=True)
    shutil.copy(ROOT / hatch_build.FOLDER / "handler.c", root / hatch_build.FOLDER)
    return root


def test_the_handler_compiles_without_warnings(tmp_path, monkeypatch):
    strict = [*hatch_build.FLAGS, "-Wall", "-Wextra", "-Werror"]
    monkeypatch.setattr(hatch_build, "FLAGS", strict)
    assert hatch_build.build(source(tmp_path)).exists()


@pytest.mark.parametrize(
    "settings", [{"CC": "false"}, {"CC": "", "PATH": ""}, {"RULES_JAX_NATIVE": "0"}]
)
def test_without_a_compiler_the_wheel_is_pure(tmp_path, monkeypatch, settings):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert hatch_build.build(source(tmp_path)) is None
    assert [x.name for x in (tmp_path / hatch_build.FOLDER).iterdir()] == ["handler.c"]
