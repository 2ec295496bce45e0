"""The example of a calibration: its gradients, and its report."""

import numpy as np
import pytest

from examples.calibration.__main__ import SIGNAL, run, spread
from examples.calibration.frameworks import in_jax, in_torch
from examples.calibration.model import NOISE, SIGNALS, dose_of
from rules_autodiff import grad


@pytest.mark.full
def test_the_dose_moves_with_the_standards():
    def dose(signals):
        return dose_of(SIGNAL, signals, NOISE)[0]

    step = 2e-3 * np.cos(np.arange(16.0))
    expected = (dose(SIGNALS + step) - dose(SIGNALS - step)) / 2.0
    assert grad(dose)(SIGNALS) @ step == pytest.approx(expected, rel=2e-4)


def test_the_error_is_proportional_to_all_noise():
    """Euler's theorem: weights that are all scaled leave the curve as it is."""
    assert grad(spread)(NOISE) @ NOISE == pytest.approx(spread(NOISE), rel=1e-5)


@pytest.mark.full
@pytest.mark.parametrize("gradient", [in_jax, in_torch])
def test_frameworks_have_the_gradient_of_the_plain_program(gradient):
    np.testing.assert_allclose(gradient(SIGNAL), grad(spread)(NOISE), atol=1e-5)


@pytest.mark.nightly
def test_the_example_runs(tmp_path):
    assert run(tmp_path / "calibration.png") == 0
