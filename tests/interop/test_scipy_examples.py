"""The examples of SciPy's functions: their gradients, and their reports."""

from importlib import import_module

import jax
import numpy as np
import pytest
import torch

from examples.conductivity import model as conductivity
from examples.registration import model as registration
from examples.spectrum import model as spectrum
from examples.weighting import model as weighting
from rules_autodiff import grad

jax.config.update("jax_enable_x64", True)


def by_torch(loss):
    def slope(x):
        leaf = torch.tensor(x, requires_grad=True)
        loss(leaf).backward()
        return leaf.grad.numpy()

    return slope


FLAME = spectrum.logarithms(spectrum.TRUE)
SLOPES = {
    "conductivity": (grad(conductivity.loss), conductivity.loss, conductivity.TRUE),
    "weighting": (jax.grad(weighting.loss), weighting.loss, weighting.START),
    "registration": (by_torch(registration.loss), registration.loss, registration.TRUE),
    "spectrum": (grad(spectrum.loss), spectrum.loss, FLAME),
}


@pytest.mark.parametrize("name", SLOPES)
def test_gradients_are_those_of_the_loss(name):
    slope, loss, at = SLOPES[name]
    at = at + 0.01 * np.sin(np.arange(at.size))
    move, h = np.cos(np.arange(at.size)), 1e-5
    known = (loss(at + h * move) - loss(at - h * move)) / (2 * h)
    np.testing.assert_allclose(slope(at) @ move, known, rtol=1e-5)


def test_the_digital_filter_is_the_standards_at_low_frequencies():
    tones = weighting.TONES
    error = np.asarray(weighting.levels(weighting.START)) - weighting.gain(tones)
    assert np.abs(error[tones < 1000]).max() < 0.02


def test_the_flame_is_as_wide_as_its_atoms_are_fast():
    """The standard deviation, in units of the wavelength."""
    width, _ = spectrum.widths(2200.0)
    speed = np.sqrt(8.314462618 * 2200.0 / 0.02298977)
    assert width / 588_995.095 == pytest.approx(speed / 299_792_458.0, rel=1e-6)


STEPS = {"conductivity": (120,)}


@pytest.mark.nightly
@pytest.mark.parametrize("name", SLOPES)
def test_the_example_runs(name, tmp_path):
    run = import_module(f"examples.{name}.__main__").run
    assert run(tmp_path / f"{name}.png", *STEPS.get(name, ())) == 0
