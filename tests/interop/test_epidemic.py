"""The epidemic: gradients, agreement of the hosts, what is known of the outbreak."""

import numpy as np
import pytest

pytest.importorskip("tqdm")

from examples.epidemic import model
from examples.epidemic.fit import START, finite_differences, fit
from examples.epidemic.record import IN_BED, PUPILS

HOSTS = ["jax", "torch"]


def host_of(name):
    if name == "jax":
        from examples.epidemic.fit_jax import JaxHost

        return JaxHost()
    from examples.epidemic.fit_torch import TorchHost

    return TorchHost()


def test_as_many_are_ill_as_the_final_size_leaves():
    """Of the infected, those who are ill are left by who recovered: S falls to S∞."""
    found = model.ill(np.log([1.7, 0.45, 2.0]))
    assert found.shape == IN_BED.shape
    assert found[0] == pytest.approx(2.0)
    # The top of the curve: I = N - (γ/β) N (1 + log(S₀ β / (γ N))).
    share = 0.45 / 1.7
    top = PUPILS * (1 - share * (1 + np.log((PUPILS - 2) / PUPILS / share)))
    assert found.max() <= top
    assert found.max() > 0.97 * top


@pytest.mark.full
@pytest.mark.parametrize("name", HOSTS)
def test_the_gradient_and_the_jacobian_are_those_of_the_model(name):
    host, known = host_of(name), finite_differences(START)
    np.testing.assert_allclose(host.value_and_grad(START)[1], known, rtol=1e-5)
    rest, J = model.residuals(START), host.jacobian(START)
    np.testing.assert_allclose(rest @ J, known, rtol=1e-5)


@pytest.mark.full
def test_both_hosts_find_the_same_epidemic(tmp_path, capsys):
    pytest.importorskip("matplotlib")
    from examples.epidemic.__main__ import report
    from examples.epidemic.plot import draw

    fits = [fit(host_of(name), START) for name in HOSTS]
    assert all(one.norm < 1e-6 for one in fits)
    np.testing.assert_allclose(fits[0].theta, fits[1].theta, atol=1e-7)
    contacts, recovery, _ = np.exp(fits[0].theta)
    assert 1.8 < contacts < 2.05
    assert 0.45 < recovery < 0.52  # about two days in bed, as the doctors reported
    report(fits)
    assert "reproduction number" in capsys.readouterr().out
    draw(fits[0], tmp_path / "epidemic.png")
    assert (tmp_path / "epidemic.png").stat().st_size > 20_000
