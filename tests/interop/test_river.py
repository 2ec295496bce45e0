"""The river demonstration on its first hours: gradients, agreement, a wrong rule."""

from types import FunctionType

import numpy as np
import pytest

pytest.importorskip("tqdm")

import rules_core as rc
from examples.river import model
from examples.river.fit import finite_differences, fit, start_of
from examples.river.record import DECAY, make, truth
from rules_autodiff import derive_rrule
from rules_core.testing import isolated_rules

HOSTS = ["jax", "torch"]


@pytest.fixture(scope="module")
def record():
    """Until after the first spill."""
    return make(9)


def host_of(name, record):
    if name == "jax":
        from examples.river.fit_jax import JaxHost

        return JaxHost(record)
    from examples.river.fit_torch import TorchHost

    return TorchHost(record)


def test_mass_is_conserved_until_it_leaves_or_decays(monkeypatch):
    monkeypatch.setattr(model, "GAUGES", tuple(range(model.CELLS)))
    seen = model.simulate(np.array([1.0, 0.0, 0.0]), 0.0)
    mass = 1e-3 * model.SECTION * model.DX * seen.sum(axis=1)
    np.testing.assert_allclose(mass[1:], 3600.0, rtol=1e-12)


@pytest.mark.parametrize("name", HOSTS)
def test_the_gradient_is_that_of_the_simulation(name, record):
    theta = start_of(record) + np.linspace(-0.3, 0.4, record.hours + 1)
    found = host_of(name, record).value_and_grad(theta)[1]
    known = finite_differences(theta, record)
    np.testing.assert_allclose(found, known, rtol=1e-7, atol=1e-9 * abs(known).max())


@pytest.mark.parametrize("name", HOSTS)
def test_the_jacobian_is_that_of_the_simulation(name, record):
    theta, step = start_of(record), 1e-5
    found = host_of(name, record).jacobian(theta)
    known = []
    for e in step * np.eye(len(theta)):
        ends = [model.simulate(np.exp(t[:-1]), np.exp(t[-1])) for t in (e, -e)]
        known.append(((ends[0] - ends[1]) / record.deviation).ravel() / (2 * step))
    np.testing.assert_allclose(found, np.transpose(known), rtol=1e-6, atol=1e-6)


@pytest.mark.full
def test_both_hosts_find_the_same_release_which_is_the_truth(record):
    fits = [fit(host_of(name, record), start_of(record)) for name in HOSTS]
    assert all(one.norm < 1e-8 for one in fits)
    np.testing.assert_allclose(fits[0].theta, fits[1].theta, atol=1e-8)
    found, spread = fits[0].theta, fits[0].spread
    known = np.log([*truth(record.hours), DECAY])
    assert (abs(found - known) < 4 * spread).all()
    assert np.exp(found[4:7]).sum() == pytest.approx(18.0, rel=0.05)


@pytest.mark.full
def test_the_report_and_the_picture(record, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from examples.river.__main__ import report
    from examples.river.plot import draw

    one = fit(host_of("torch", record), start_of(record))
    report([one, one])
    assert "first spill / t" in capsys.readouterr().out
    draw(record, one, tmp_path / "river.png")
    assert (tmp_path / "river.png").stat().st_size > 20_000


# The same code, to which the rule below does not apply.
UNRULED = FunctionType(model.simulate.__code__, vars(model))


def half_the_gradient(release, decay):
    y, pullback = derive_rrule(UNRULED)(release, decay)

    def half_pullback(dy):
        dself, drelease, ddecay = pullback(dy)
        return dself, drelease / 2, ddecay

    return y, half_pullback


@pytest.mark.parametrize("name", HOSTS)
def test_a_wrong_rule_is_seen(name, record):
    theta = start_of(record)
    known = finite_differences(theta, record)
    with isolated_rules():
        rc.rrule.define(model.simulate, host=True)(half_the_gradient)
        wrong = host_of(name, record).value_and_grad(theta)[1]
    assert abs(wrong - known).max() > 0.1 * abs(known).max()
