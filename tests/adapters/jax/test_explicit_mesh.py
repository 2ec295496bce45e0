"""Explicit meshes over eight simulated devices: numbers, and shardings in types."""

import pytest

from tests.adapters.jax.devices import found_on_devices, wanted

VALUES = ("eager", "jit", "beside", "broadcast", "scan", "cond", "vmap")
REVERSE = ("grad", "eager grad", "grad(cond)", "vmap(grad)")
SCALES = dict.fromkeys(VALUES, 1) | {"jvp": 2} | dict.fromkeys(REVERSE, 3)
MATRIX = ("jit", "eager", "grad", "grad(scan)")

NAMES = {
    "test_elementwise": "{kind} {case}",
    "test_a_host_function_that_is_not_elementwise": "matrix {case}",
}


@pytest.fixture(scope="module")
def found(request):
    return found_on_devices("explicit_mesh", wanted(request, NAMES))


@pytest.mark.covering(every=5)  # test_sharding has the devices without a mesh
@pytest.mark.parametrize("kind", ["generic", "host", "numpy rules"])
@pytest.mark.parametrize("case", SCALES)
def test_elementwise(found, kind, case):
    """The rules are 2 and 3 times too large: the ratio tells which of them ran."""
    same_types, ratios = found[f"{kind} {case}"]
    assert ratios == pytest.approx([SCALES[case]] * len(ratios))
    assert same_types


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("case", MATRIX)
def test_a_host_function_that_is_not_elementwise(found, case):
    """Its result is whole on every device; cotangents have the argument's sharding."""
    same_types, ratios = found[f"matrix {case}"]
    assert ratios == pytest.approx([1] * len(ratios))
    assert same_types
