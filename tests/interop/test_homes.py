"""A public error says that it lives where users import it from."""

import importlib

import pytest

PACKAGES = [
    "rules_core",
    "rules_core.testing",
    "rules_autodiff",
    "rules_jax",
    "rules_torch",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_errors_live_at_the_front_door(package):
    module = importlib.import_module(package)
    public = [getattr(module, name) for name in module.__all__]
    errors = [x for x in public if isinstance(x, type) and issubclass(x, Exception)]
    assert errors
    assert {error.__module__ for error in errors} == {package}
