"""The project's own tester on every function of the pack."""

import numpy as np
import pytest
import scipy.signal
import scipy.special

from rules_core.testing import check_rule
from rules_scipy import special
from tests.packs.second import left_out

REAL = {
    "gamma": (2.5,),
    "gammaln": (2.5,),
    "digamma": (2.5,),
    "polygamma": (1, 2.5),
    "beta": (2.3, 1.7),
    "betaln": (2.3, 1.7),
    "erf": (0.3,),
    "erfc": (0.3,),
    "erfinv": (0.3,),
    "expit": (0.3,),
    "logit": (0.3,),
    "xlogy": (0.5, 2.0),
    "xlog1py": (0.5, 2.0),
    "zeta": (2, 1.5),
    "jv": (1, 1.5),
    "yv": (1, 1.5),
    "iv": (1, 1.5),
    "kv": (2, 1.5),
    "ive": (1, 1.5),
    "kve": (1, 1.5),
    "gammainc": (1.5, 2.0),
    "gammaincc": (1.5, 2.0),
    "betainc": (2.3, 1.7, 0.4),
    "gammainc_da": (1.5, 2.0),
    "betainc_da": (2.3, 1.7, 0.4),
    "betainc_db": (2.3, 1.7, 0.4),
}
COMPLEX = {"jv": 2, "yv": 2, "iv": 2, "kv": 2, "kve": 2, "ive": 2, "gamma": None,
           "erf": None, "erfc": None}  # fmt: skip


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", REAL)
def test_real(name, request):
    args = [x if isinstance(x, int) else np.array([x, 1.1 * x]) for x in REAL[name]]
    skip = left_out(request)
    report = check_rule(getattr(special, name), *args, hosts=(), skip=skip)
    assert "passed   adjoint" in str(report)


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name, request):
    z = np.array([1 + 2j, -0.5 + 0.3j])
    args = (z,) if COMPLEX[name] is None else (COMPLEX[name], z)
    skip = left_out(request)
    report = check_rule(getattr(special, name), *args, hosts=(), skip=skip)
    assert "passed   adjoint" in str(report)


@pytest.mark.parametrize("options", [(), (0, None, True, False)], ids=str)
def test_logsumexp(options):
    x = np.array([[0.3, -1.0], [2.0, 0.5]])
    check_rule(special.logsumexp, x, *options, level="quick", hosts=())


@pytest.mark.parametrize(
    ("host", "cell"), [("jax", "jvp(vjp)"), ("torch", "backward twice")]
)
def test_in_every_host(host, cell):
    pytest.importorskip(host)
    x = np.array([0.7, 1.5])
    report = check_rule(special.kv, 1, x, level="quick", hosts=(host,))
    assert report[f"{host}: {cell}"].status == "passed"


# Each kind of argument and rule; test_special has each function in each host.
KINDS = ["gamma", "polygamma", "beta", "zeta", "jv", "kve", "betainc", "gammainc_da"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", KINDS)
def test_in_every_host_and_transformation(name):
    args = [x if isinstance(x, int) else np.array([x, 1.1 * x]) for x in REAL[name]]
    check_rule(getattr(special, name), *args, level="full")


INSTANCES = {
    "sph_harm_y": (3, 2, 0.5, 0.3),
    "legendre_p": (3, 0.5),
    "sph_legendre_p_all": (3, 2, 0.5),
}
NUMBERS = {"softmax": 0.5, "log_softmax": 0.5, "logsumexp": 0.5}


@pytest.mark.parametrize("name", INSTANCES)
def test_instances_and_numbers(name):
    f = getattr(scipy.special, name, None)
    if f is None:
        pytest.skip("since SciPy 1.15")
    assert check_rule(f, *INSTANCES[name], hosts=())


@pytest.mark.parametrize("name", NUMBERS)
def test_functions_of_arrays_at_a_number(name):
    assert check_rule(getattr(scipy.special, name), NUMBERS[name], hosts=())


def test_rules_that_call_back_into_ad_at_numbers():
    """They take the tester's dual numbers apart."""
    assert check_rule(scipy.signal.chirp, 0.5, 0.1, 1.0, 0.3, hosts=())
    assert check_rule(scipy.signal.gausspulse, 0.5, 1.2, hosts=())
