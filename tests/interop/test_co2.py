"""The CO2 demonstration on a thinned record: gradients, agreement, and a wrong rule."""

import numpy as np
import pytest
import scipy.special

import rules_core as rc
from examples.co2 import model
from examples.co2.fit import START, finite_differences, fit
from examples.co2.record import Record, load

pytest.importorskip("tqdm")
HOSTS = ["jax", "torch"]


@pytest.fixture(scope="module")
def thin():
    """Every seventh month: 75 observations that cover all seasons."""
    record = load()
    return Record(record.month[::7], record.co2[::7], record.start)


def host_of(name, record):
    if name == "jax":
        from examples.co2.fit_jax import JaxHost

        return JaxHost(record)
    from examples.co2.fit_torch import TorchHost

    return TorchHost(record)


def half_the_slope():
    """`kv` with half of its derivative."""

    def half_kv(v, z):
        return scipy.special.kv(v, z)

    def half_kv_partials(y, v, z):
        below, above = handle(v - 1, z), handle(v + 1, z)
        return rc.not_implemented("derivative in the order"), -(below + above) / 4

    handle = rc.primitive(half_kv, host=True, elementwise=True)
    rc.scalar_rule(handle, half_kv_partials)
    return handle


def test_the_record_is_what_its_source_says():
    record = load()
    assert len(record.month) == 521
    assert record.month[0] == 0
    assert record.month[-1] == 12 * 43 + 9  # March 1958 to December 2001
    assert record.co2[0] == 316.1
    assert (np.diff(record.month) >= 1).all()


@pytest.mark.parametrize("order", [0.4, 1.3, 2.8])
def test_the_kernel_is_one_at_distance_zero(order):
    at = model.matern(order, np.array([0.0, 1e-9, 3.0]), 2.0)
    assert at[0] == 1
    assert abs(at[1] - 1) < 1e-6
    assert 0 < at[2] < 1


def test_half_integer_orders_are_elementary():
    r = np.linspace(0, 5, 11)
    assert np.allclose(model.matern(0.5, r, 2.0), np.exp(-r / 2))


@pytest.mark.parametrize("name", HOSTS)
def test_the_gradient_equals_finite_differences(name, thin):
    _, gradient = host_of(name, thin).value_and_grad(START)
    known = finite_differences(START, thin)
    assert np.abs(gradient - known).max() < 1e-8 * np.abs(known).max()


def test_the_hessian_equals_differences_of_gradients(thin):
    host, step = host_of("torch", thin), 1e-4
    hessian = host.hessian(START)
    for i, shift in enumerate(step * np.eye(len(START))):
        ahead, behind = (host.value_and_grad(START + s * shift)[1] for s in (1, -1))
        difference = (ahead - behind) / (2 * step)
        assert np.allclose(hessian[i], difference, rtol=1e-5, atol=1e-4)


@pytest.mark.full
def test_both_hosts_find_the_same_optimum(thin):
    jax, torch = (host_of(name, thin) for name in HOSTS)
    found = [host.minimise(START, lambda value: None) for host in (jax, torch)]
    losses = [torch.value_and_grad(theta)[0] for theta in found]
    assert abs(losses[0] - losses[1]) < 1e-6
    # The noise is next to nothing in so few points, and the likelihood flat in it.
    assert np.abs(found[0] - found[1])[:-1].max() < 1e-3


@pytest.mark.full
def test_newton_s_steps_make_the_gradient_vanish(thin):
    result = fit(host_of("torch", thin))
    assert result.norm < 1e-6
    assert result.norm <= result.rough


@pytest.mark.full
@pytest.mark.parametrize("name", HOSTS)
def test_a_wrong_rule_breaks_the_fit(name, thin, monkeypatch):
    right = host_of("torch", thin)
    best, _ = right.value_and_grad(right.minimise(START, lambda value: None))
    monkeypatch.setattr(model, "kv", half_the_slope())
    wrong = host_of(name, thin)
    value, gradient = wrong.value_and_grad(START)
    found = wrong.minimise(START, lambda value: None)
    monkeypatch.undo()
    true_value, true_gradient = right.value_and_grad(START)
    assert value == pytest.approx(true_value)
    assert np.abs(gradient - true_gradient).max() > 0.1 * np.abs(true_gradient).max()
    reached, slope = right.value_and_grad(found)
    assert reached > best + 0.1
    assert np.abs(slope).max() > 0.1


@pytest.mark.full
def test_the_report_and_the_picture(thin, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from examples._common.report import verdict
    from examples.co2.__main__ import report
    from examples.co2.plot import draw

    one = fit(host_of("torch", thin))
    report([one, one])
    assert verdict([one, one]) == 0
    told = capsys.readouterr().out
    assert "trend: length / years" in told
    assert "The optima agree" in told
    draw(thin, one.theta, tmp_path / "co2.png")
    assert (tmp_path / "co2.png").stat().st_size > 20_000
