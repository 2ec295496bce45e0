"""Eight simulated devices: numbers, shardings and which rule ran."""

import pytest

from tests.adapters.jax.devices import found_on_devices, wanted

VALUES = ("shard_map", "jit(shard_map)")
FORWARD = ("jvp", "jvp(shard_map)")
REVERSE = (
    "jit",
    "grad(shard_map)",
    "jit(grad(shard_map))",
    "checkpoint",
    "check_vma=False",
    "shard_map(grad)",
    "jit(shard_map(grad))",
    "psum",
    "pmap",
    "vmap(axis_name)",
)


NAMES = {"test_numbers": "{kind} {case}", "test_sharding_is_kept": "kept"}


@pytest.fixture(scope="module")
def found(request):
    return found_on_devices("sharded", wanted(request, NAMES))


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("kind", ["generic", "host", "numpy rules"])
@pytest.mark.parametrize(
    ("case", "scale"),
    [(c, 1) for c in VALUES] + [(c, 2) for c in FORWARD] + [(c, 3) for c in REVERSE],
)
def test_numbers(found, kind, case, scale):
    assert found[f"{kind} {case}"] == pytest.approx(
        [scale] * len(found[f"{kind} {case}"])
    )


def test_sharding_is_kept(found):
    sharding, gathers = found["kept"]
    assert "'d'" in sharding
    assert gathers == 0
