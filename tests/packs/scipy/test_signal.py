"""scipy.signal: every function over its options, in every framework and order."""

import jax
import jax.numpy as jnp
import jax.scipy.signal
import numpy as np
import pytest
import scipy.signal as sp
import torch

import rules_core as rc
from rules_autodiff import grad, jvp
from rules_core.testing import check_rule
from rules_scipy import signal
from tests.covering import in_turn

from .frameworks import HOSTS, differences, directions, loss_of, opened
from .signal_cases import CASES, LONG, SOS, A, B, X

pytestmark = [
    pytest.mark.filterwarnings("ignore:This window is not suitable"),
    pytest.mark.filterwarnings("ignore:NOLA condition failed"),
    pytest.mark.filterwarnings("ignore:Input data is complex"),
    pytest.mark.filterwarnings("ignore:kernel_size exceeds"),
]


def ours(f):
    """The primitive of a function of SciPy."""
    names = {**vars(signal.windows), **vars(signal)}
    return names[f.__name__]


def moves_of(f, arrays):
    """Directions in which SciPy accepts sections: coefficients that are fixed stay."""
    moves = directions(arrays)
    if f in (sp.sosfilt, sp.sosfiltfilt, sp.freqz_sos):
        moves[0] = moves[0] * (arrays[0] != 0) * (np.arange(6) != 3)
    if f in (sp.firwin2, sp.firls):  # the edges of frequencies, and gains of zero
        moves[-1] = moves[-1] * (arrays[-1] != 0)
        if len(arrays) == 2:
            ends = arrays[0][[0, -1]]
            moves[0] = moves[0] * ~np.isin(arrays[0], ends)
    if f in (sp.zpk2tf, sp.zpk2sos):
        moves = [paired(x, dx) for x, dx in zip(arrays, moves, strict=True)]
    return moves


def paired(x, dx):
    """A direction in which numbers and their conjugates stay pairs.

    SciPy returns real coefficients as long as they are.
    """
    gaps = abs(np.conj(x)[..., None] - x)
    if np.ndim(x) == 0 or np.max(np.min(gaps, 1)) > 0:
        return dx
    return (dx + np.conj(dx[np.argmin(gaps, 1)])) / 2


def compare(f, args, options, host, modes):
    arrays, form = opened(args)
    moves, own = moves_of(f, arrays), HOSTS[host]()
    plain = loss_of(f, form, options, np.asarray)
    known = differences(plain, arrays, moves)[len(modes) - 1]
    along = loss_of(ours(f), form, options, own.array)
    for mode in modes:
        along = (own.forward if mode == "f" else own.reverse)(along, moves)
    got = own.run(along, arrays)
    assert np.isclose(got, known, rtol=2e-4, atol=2e-5 * (1 + abs(known)))


# SciPy's of a filter that is moved for a difference.
@pytest.mark.filterwarnings("ignore:h does not appear to by symmetric:RuntimeWarning")
@pytest.mark.covering(every=240)
@pytest.mark.parametrize("mode", ["f", "r"])
@pytest.mark.parametrize("name", CASES)
def test_options(name, mode):
    compare(*CASES[name], "engine", mode)


# One call of each function
ONE = {f.__name__: (f, args, kw) for f, args, kw in reversed(CASES.values())}
PLACES = in_turn([*ONE], [*HOSTS], ("f", "r", "rr", "fr", "rf"))


@pytest.mark.covering(every=50)
@pytest.mark.parametrize(("name", "host", "modes"), PLACES)
def test_in_frameworks(name, host, modes):
    compare(*ONE[name], host, modes)


@pytest.mark.parametrize("mode", ["f", "r"])
def test_one_call_of_each_function(mode):
    for case in ONE.values():
        compare(*case, "engine", mode)


@pytest.mark.covering(every=20)
@pytest.mark.parametrize("name", CASES)
def test_values_are_scipys(name):
    """Also where a derivative is computed."""
    f, args, options = CASES[name]
    y, _ = rc.rrule(f, *args, **options)
    known = f(*args, **options)
    pairs = zip(y, known, strict=True) if isinstance(known, tuple) else [(y, known)]
    for got, expected in pairs:
        np.testing.assert_array_equal(got, expected)


# The tester, on a call of each kind

TESTED = {
    "convolve": (signal.convolve, X[:4], X[4:7]),
    "correlate": (signal.correlate, X[:4] + 1j, X[4:7], "same"),
    "lfilter": (signal.lfilter, B, A, X[:5], -1, X[:3]),
    "resample": (signal.resample, X[:5], 7),
    "savgol_filter": (signal.savgol_filter, X, 5, 2),
    "hilbert": (signal.hilbert, X[:5]),
    "kaiser": (signal.windows.kaiser, 5, np.asarray(2.5)),
    "freqz": (signal.freqz, B, A, 4),
}


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("name", TESTED)
def test_rules_pass_the_tester(name):
    f, *args = TESTED[name]
    check_rule(f, *args, hosts=(), rtol=1e-5)


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate", "fftconvolve"])
def test_as_jax_has_it(name, mode):
    """Gradients, jitted, and of a batch."""
    f, theirs = getattr(signal, name), getattr(jax.scipy.signal, name)

    def slope(f):
        return jax.grad(lambda x, h: (f(x, h, mode) ** 3).sum(), (0, 1))

    found, expected = jax.jit(slope(f))(X, B), slope(theirs)(X, B)
    for got, known in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, known, rtol=1e-9, atol=1e-11)
    batch = np.stack([X, 2 * X])
    got = jax.vmap(lambda x: f(x, B, mode))(batch)
    known = jax.vmap(lambda x: theirs(x, jnp.asarray(B), mode))(batch)
    np.testing.assert_allclose(got, known, rtol=1e-9, atol=1e-11)


def test_a_compiled_filter():
    f = torch.compile(
        lambda a, x: (signal.lfilter(B, a, x) ** 2).sum(),
        backend="aot_eager",
        fullgraph=True,
    )
    a = torch.tensor(A, requires_grad=True)
    f(a, torch.tensor(X)).backward()
    slope = grad(lambda a: np.sum(sp.lfilter(B, a, X) ** 2))(A)
    np.testing.assert_allclose(a.grad, slope, rtol=1e-9)


def test_coefficients_of_batches():
    """Also where only the coefficients are batched."""
    batch = np.stack([A, 2 * A + 0.1])
    loss = jax.grad(lambda a: (signal.lfilter(B, a, X) ** 2).sum())
    found = jax.jit(jax.vmap(loss))(batch)
    expected = np.stack([loss(a) for a in batch])
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.covering(every=2, start=0)
@pytest.mark.parametrize("f", [jax.jit, lambda f: f])
def test_edges_that_depend_on_zeros(f):
    """The default edges of sosfiltfilt count them, in traced code too."""
    got = f(jax.grad(lambda x: (signal.sosfiltfilt(SOS, x) ** 2).sum()))(LONG)
    expected = grad(lambda x: np.sum(sp.sosfiltfilt(SOS, x) ** 2))(LONG)
    np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore:(invalid|divide)")
def test_a_multiple_root_has_no_derivative():
    slope = grad(lambda b: np.sum(np.real(sp.tf2zpk(b, A)[0]) ** 2))
    assert np.isnan(slope(np.array([1.0, 2.0, 1.0]))).all()


REFUSED = {
    "smooth": lambda x: sp.upfirdn(B, x, mode="smooth"),
    "detrend": lambda x: sp.welch(x, nperseg=8, detrend=lambda y: y - 1)[1],
    "iirfilter": lambda x: sp.iirfilter(2, x[0] ** 2 / 9, 1, 40, "low", ftype="ellip")[
        0
    ],
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_derivative_is_refused(name):
    with pytest.raises(rc.UnsupportedError, match="derivative of"):
        grad(lambda x: np.sum(REFUSED[name](x)))(LONG)


def test_options_are_refused():
    with pytest.raises(
        rc.DerivativeNotImplemented, match="scipy.signal.welch in an opt"
    ):
        grad(lambda fs: np.sum(sp.welch(LONG, fs, nperseg=8)[1]))(2.0)


@pytest.mark.parametrize("kind", ["linear", "constant"])
def test_a_signal_to_be_overwritten_is_refused(kind):
    """It is read again after the call."""

    def f(x):
        y = 1.0 * x
        sp.detrend(y, type=kind, overwrite_data=True)
        return np.sum(y)

    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(rc.UnsupportedError, match="overwrite_data"):
            derivative(X)


@pytest.mark.covering(every=4, start=2)
@pytest.mark.parametrize("ripples", [(1, 40), (1.0, 40.0)])
@pytest.mark.parametrize("kind", ["cheby1", "cheby2"])
def test_ripples_may_be_whole_numbers(kind, ripples):
    def loss(w, module):
        return (module.iirfilter(2, w, *ripples, "low", ftype=kind)[0] ** 2).sum()

    known = (loss(0.3 + 1e-6, sp) - loss(0.3 - 1e-6, sp)) / 2e-6
    w = torch.tensor(0.3, dtype=torch.float64, requires_grad=True)
    loss(w, signal).backward()
    for found in (grad(loss)(0.3, sp), jax.grad(loss)(0.3, signal), w.grad):
        np.testing.assert_allclose(found, known, rtol=1e-6)


LISTS = {
    "cont2discrete": (sp.cont2discrete, lambda b, a: (((b, a), 0.4), 1)),
    "lsim": (sp.lsim, lambda b, a: (((b, a), np.ones(5), np.arange(5.0)), 1)),
    "dlsim": (sp.dlsim, lambda b, a: (((b, a, 0.4), np.ones(5)), 1)),
    "group_delay": (sp.group_delay, lambda b, a: (((b, a), 4), 1)),
}


@pytest.mark.parametrize("moved", [0, 1])
@pytest.mark.parametrize("name", LISTS)
def test_lists_in_a_system(name, moved):
    """As arrays: what is constant, and what moves in a list."""
    f, arguments = LISTS[name]

    def loss(x, read):
        parts = [read([0.4, 0.2]), read([1.0, 0.5, 0.2])]
        parts[moved] = read([x, 0.3, 0.2 * x])
        args, place = arguments(*parts)
        return np.sum(f(*args)[place] ** 2)

    known = grad(lambda x: loss(x, np.array))(0.9)
    np.testing.assert_allclose(grad(lambda x: loss(x, list))(0.9), known, rtol=1e-9)
    _, dy = jvp(lambda x: loss(x, list), (0.9,), (1.0,))
    np.testing.assert_allclose(dy, known, rtol=1e-9)


def test_sections_in_a_list():
    sections = [[1.0, 0.0, 0.0, 1.0, 0.2, 0.1]]
    found = jax.grad(lambda x: (signal.sosfilt(sections, x) ** 2).sum())(X)
    known = grad(lambda x: np.sum(sp.sosfilt(sections, x) ** 2))(X)
    np.testing.assert_allclose(found, known, rtol=1e-9)


SPACED = 0.5 * np.arange(X.size)
CONSTANTS = {
    "ellip": lambda module, x: module.ellip(2, 1.0, 40.0, x[0] / 9 + 0.2)[0],
    "savgol_filter": lambda module, x: module.savgol_filter(x, 5, 2),
    "lsim": lambda module, x: module.lsim((x[:2], x[:3]), X, SPACED)[1],
    "output": lambda module, x: module.lti(x[:2], x[:3]).output(X, SPACED)[1],
    "impulse": lambda module, x: module.impulse((x[:2], x[:3]), T=SPACED)[1],
}


@pytest.mark.parametrize("transform", ["eager", "grad", "jacfwd", "grad of grad"])
@pytest.mark.parametrize("name", CONSTANTS)
def test_arrays_of_constants_in_torch(name, transform):
    """Also in transforms of torch.func, where a constant has no memory to be read."""

    def loss(module, x):
        return (CONSTANTS[name](module, x) ** 2).sum()

    def plain(x):
        return loss(sp, x)

    def ours(x):
        return loss(signal, x)

    x = torch.tensor(X, requires_grad=transform == "eager")
    if transform == "eager":
        ours(x).backward()
        found = x.grad
    elif transform == "grad of grad":
        found = torch.func.grad(lambda x: torch.func.grad(ours)(x).sum())(x)
    else:
        found = getattr(torch.func, transform)(ours)(x)
    slope = grad(plain)
    known = grad(lambda x: slope(x).sum())(X) if "of" in transform else slope(X)
    np.testing.assert_allclose(found, known, rtol=1e-7)


HILLY = np.array([0.0, 1.0, 0.4, 2.0, 1.7, 1.1, 1.4, 0.3, 0.9, 0.1])
PROPERTIES = ("peak_heights", "left_thresholds", "right_thresholds", "prominences",
              "widths", "width_heights", "left_ips", "right_ips")  # fmt: skip


def properties(x, find=sp.find_peaks):
    found = find(x, height=0.5, threshold=0.0, prominence=0.2, width=0.1)
    return [found[1][name] for name in PROPERTIES]


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_of_peaks(name):
    """At fixed positions; in JAX and PyTorch where the signal has numbers."""
    which, move = PROPERTIES.index(name), np.cos(np.arange(10.0))
    up, down = [properties(HILLY + h * move)[which] for h in (1e-6, -1e-6)]
    _, found = jvp(lambda x: properties(x)[which], (HILLY,), (move,))
    np.testing.assert_allclose(found, (up - down) / 2e-6, rtol=1e-6, atol=1e-8)
    x = torch.tensor(HILLY, requires_grad=True)
    (properties(x, signal.find_peaks)[which] ** 2).sum().backward()
    slope = grad(lambda x: np.sum(properties(x)[which] ** 2))(HILLY)
    np.testing.assert_allclose(x.grad, slope, rtol=1e-9, atol=1e-12)


def test_peaks_of_a_list():
    def heights(*x):
        return np.sum(properties(list(x))[0] ** 2)

    slopes = grad(heights, tuple(range(10)))(*HILLY.tolist())
    expected = grad(lambda x: np.sum(properties(x)[0] ** 2))(HILLY)
    np.testing.assert_array_equal(slopes, expected)


OF = {"numpy": np.asarray, "torch": torch.tensor, "jax": jax.numpy.asarray}


# SciPy warns of the zeros at the head of the numerator, which D = 0 brings.
@pytest.mark.filterwarnings("ignore::scipy.signal.BadCoefficients")
@pytest.mark.parametrize("of", OF.values(), ids=OF)
def test_a_state_space_without_feedthrough(of):
    A, b, c, w = of([[0.0, 1.0], [-2.0, -0.5]]), np.eye(2)[:, 1:], np.eye(2)[:1], [0.3]
    three, four = (
        signal.StateSpace(A, b, c, *d).freqresp(w) for d in ((), (np.zeros((1, 1)),))
    )
    np.testing.assert_array_equal(three[1], four[1])
    known = sp.StateSpace(np.asarray(A), b, c).freqresp(w)[1]
    np.testing.assert_allclose(three[1], known, rtol=1e-6)


def test_peaks_in_traced_code_are_refused():
    with pytest.raises(rc.UnsupportedError, match="peak_prominences"):
        jax.jit(lambda x: signal.find_peaks(x, height=0)[1]["peak_heights"])(HILLY)


SMOOTH = np.array([1.0, 3.0, 2.0])
NAMES = {
    "sepfir2d": (sp.sepfir2d, np.outer(X, X), SMOOTH, SMOOTH),
    "sosfreqz": (sp.sosfreqz, SOS, 5),
}


@pytest.mark.parametrize("name", NAMES)
def test_functions_in_c_and_aliases(name):
    f, x, *rest = NAMES[name]

    def loss(x, f):
        y = f(x, *rest)
        return np.sum(np.abs(y[1] if isinstance(y, tuple) else y) ** 2)

    move = np.sin(np.arange(x.size)).reshape(x.shape) * (x != 0)
    if name == "sosfreqz":  # coefficients that must be one
        move[:, 3] = 0
    known = (loss(x + 1e-6 * move, f) - loss(x - 1e-6 * move, f)) / 2e-6
    for own in (f, getattr(signal, name)):
        found = np.sum(grad(lambda x, own=own: loss(x, own))(x) * move)
        assert np.isclose(found, known, rtol=1e-6)


@pytest.mark.filterwarnings("ignore:(invalid|divide)")
def test_a_multiple_pole_has_no_derivative():
    a = np.poly([0.5, 0.5, -0.3])
    for f in (sp.residue, sp.residuez):
        assert np.isnan(grad(lambda b, f=f: np.sum(np.abs(f(b, a)[0])))(B)).all()
    for f in (sp.invres, sp.invresz):
        slope = grad(lambda p, f=f: np.sum(f(B, p, [1.0])[0] ** 2))
        assert np.isnan(slope(np.array([0.5, 0.5, -0.3]))).all()


@pytest.mark.parametrize("name", ["step", "impulse", "freqresp", "bode"])
def test_the_grid_that_scipy_chooses(name):
    """Times move with the poles, which is an error; rounded frequencies stay."""

    def loss(a):
        found = getattr(sp, name)((np.array([1.0]), np.array([1.0, a, 1.0])))
        return np.sum(np.abs(found[1]) ** 2)

    if name in ("step", "impulse"):
        with pytest.raises(rc.UnsupportedError, match=f"signal.{name} .* as T"):
            grad(loss)(0.7)
        return
    known = (loss(0.7 + 1e-6) - loss(0.7 - 1e-6)) / 2e-6
    assert np.isclose(grad(loss)(0.7), known, rtol=1e-6)


TIMES, ANGLES = [0.5, 1.0, 1.5, 2.0], [0.3, 1.1, 2.0]
OBJECTS = {
    "lti": lambda m, x: m.lti([1.0, x[0]], [1.0, x[1], 2.0]).step(T=TIMES)[1],
    "impulse": lambda m, x: m.TransferFunction([x[0]], [1.0, x[1]]).impulse(T=TIMES)[1],
    "zeros": lambda m, x: m.ZerosPolesGain([x[0]], [-x[1], -2.0], 1.5).bode(ANGLES)[1],
    "space": lambda m, x: (
        m.StateSpace(x[:4].reshape(2, 2), x[:2, None], x[None, :2], [[0.0]])
        .output([1.0] * 4, TIMES)[1]
    ),
    "dlti": lambda m, x: m.dlti([x[0]], [1.0, x[1] / 4], dt=0.1).step(n=4)[1][0],
    "discrete": lambda m, x: m.TransferFunction([x[0]], [1.0, x[1] / 4], dt=0.1).bode(
        ANGLES
    )[1],
    "to_discrete": lambda m, x: (
        m.StateSpace(x[:4].reshape(2, 2), x[:2, None], x[None, :2], [[0.0]])
        .to_discrete(0.2).impulse(n=4)[1][0]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OBJECTS)
def test_systems_as_objects(name):
    x, move = np.array([1.2, 0.7, -0.4, 0.3]), np.array([0.3, -0.5, 0.2, 0.4])

    def loss(x):
        return np.sum(OBJECTS[name](sp, x) ** 2)

    known = (loss(x + 1e-6 * move) - loss(x - 1e-6 * move)) / 2e-6
    np.testing.assert_allclose(grad(loss)(x) @ move, known, rtol=1e-6)
    np.testing.assert_allclose(jvp(loss, (x,), (move,))[1], known, rtol=1e-6)


def test_what_an_object_has_not_is_refused():
    with pytest.raises(rc.UnsupportedError, match="to_zpk"):
        grad(lambda x: sp.lti([1.0], [1.0, x]).to_zpk().gain)(2.0)


@pytest.mark.parametrize("f", ["step", "impulse", "lsim", "dlsim"])
def test_precisions_that_differ_in_torch(f):
    """A numerator in single precision, others in double."""
    x = torch.tensor([1.0], requires_grad=True)
    system = (x, np.array([1.0, 0.4, 1.0]))
    arguments = {
        "step": (system, None, TIMES), "impulse": (system, None, TIMES),
        "lsim": (system, np.ones(4), TIMES, np.ones(2)),
        "dlsim": ((*system, 0.1), np.ones(4)),
    }  # fmt: skip
    (getattr(signal, f)(*arguments[f])[1] ** 2).sum().backward()
    assert x.grad.dtype == torch.float32
    assert torch.isfinite(x.grad).all()


def test_times_are_constants_in_forward_mode():
    """As an array, which may not move: also not from a direction of zero."""
    system, times = (np.ones(1), np.array([1.0, 0.5, 1.0])), np.linspace(0.0, 2.0, 5)

    def of_system(den):
        return np.sum(sp.lsim((np.ones(1), den), times, times)[1])

    def of_times(t):
        return np.sum(sp.lsim(system, np.ones(5), t)[1])

    slope = grad(of_system)(system[1])
    np.testing.assert_allclose(jvp(of_system, (system[1],), (system[1],))[1],
                               slope @ system[1], rtol=1e-9)  # fmt: skip
    with pytest.raises(rc.DerivativeNotImplemented, match="lsim in an option"):
        jvp(lambda h: jvp(of_times, (times,), (h * times,))[1], (0.0,), (1.0,))
