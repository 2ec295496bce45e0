"""What is an array, and whose namespace computes."""

import numpy as np
import pytest

import rules_core as rc
from rules_core import Array, ShapeDtype, array_namespace, is_array


def test_numpy():
    assert is_array(np.ones(2))
    assert is_array(np.float32(1))
    assert not is_array(1.0)
    assert not is_array([1.0])
    assert array_namespace(1.0, None, "a").__name__ == "array_api_compat.numpy"
    assert array_namespace(np.ones(1)).__name__ == "array_api_compat.numpy"


def test_array_is_for_annotations_only():
    assert issubclass(np.ndarray, Array)
    assert not issubclass(float, Array)
    with pytest.raises(TypeError, match="Array is for annotations and isinstance"):
        Array()


def test_jax():
    jax = pytest.importorskip("jax")
    x = jax.numpy.ones(2)
    assert is_array(x)
    assert array_namespace(np.ones(1), x, 1.0).__name__ == "jax.numpy"
    seen = []
    jax.jit(lambda x: seen.append((is_array(x), array_namespace(x).__name__)) or x)(x)
    assert seen == [(True, "jax.numpy")]


def test_torch():
    torch = pytest.importorskip("torch")
    x = torch.ones(2)
    assert is_array(x)
    assert is_array(torch.nn.Parameter(x))
    assert array_namespace(x, np.ones(1)).__name__ == "array_api_compat.torch"


def test_strict():
    xp = pytest.importorskip("array_api_strict")
    assert is_array(xp.ones(2))
    assert array_namespace(xp.ones(2)).__name__ == "array_api_strict"


def test_two_hosts():
    jax, torch = pytest.importorskip("jax"), pytest.importorskip("torch")
    with pytest.raises(rc.MixedHostsError) as caught:
        array_namespace(jax.numpy.ones(1), torch.ones(1))
    assert str(caught.value) == (
        "arrays of two frameworks cannot be combined: jax.numpy and "
        "array_api_compat.torch. Convert one of them."
    )


def test_shape_dtype():
    spec = ShapeDtype((2, 3), np.dtype("float32"))
    assert spec.ndim == 2
    assert spec == ShapeDtype((2, 3), np.dtype("float32"))
