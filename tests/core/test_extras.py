"""A missing library: its error says how it is installed."""

import pytest

from rules_core.extend import name_extra


@pytest.mark.parametrize(
    ("library", "extra"),
    [("jax", "jax"), ("jaxlib.xla", "jax"), ("torch", "torch"), ("numpy", "numpy")],
)
def test_the_extra(library, extra):
    error = ModuleNotFoundError(f"No module named {library!r}", name=library)
    name_extra(error, "rules_here")
    assert str(error) == (
        f"No module named {library!r}. rules_here needs it: "
        f"pip install 'rules-core[{extra}]'"
    )


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'mine'", name="mine"),
        ImportError("cannot import name 'x' from 'jax'", name="jax"),
    ],
)
def test_other_errors_are_left(error):
    before = str(error)
    name_extra(error, "rules_here")
    assert str(error) == before


@pytest.mark.parametrize(
    ("package", "library"),
    [("rules_jax", "jax"), ("rules_torch", "torch"), ("rules_scipy", "scipy")],
)
def test_each_package(package, library, tmp_path):
    import subprocess
    import sys

    (tmp_path / f"{library}.py").write_text(
        f"raise ModuleNotFoundError('No module named {library}', name='{library}')"
    )
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import {package}"
    command = [sys.executable, "-c", code]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    assert told.strip().endswith(
        f"{package} needs it: pip install 'rules-core[{library}]'"
    )
