"""What a callback of a solver stores has no derivative: storing it is refused."""

import inspect

import numpy as np
import pytest
import scipy.optimize as so

import rules_core as rc
from rules_autodiff import UnsupportedProgram, grad, jvp
from rules_scipy import optimize

NAMES = ("accept_test", "callback", "take_step")
BOX = [(-1.0, 2.0)]


def square(x, c):
    return (x[0] - c) ** 2 + (x[0] - c) ** 4


def line(c):
    return lambda x: x - c + (x - c) ** 3


def local(name):
    return lambda c, **kw: getattr(so, name)(square, [0.0], args=(c,), **kw)


def in_box(name, **options):
    def call(c, **kw):
        return getattr(so, name)(square, BOX, args=(c,), **options, **kw)

    return call


def basinhopping(c, **kw):
    given = {"args": (c,)}
    return so.basinhopping(square, [0.0], niter=2, minimizer_kwargs=given, rng=1, **kw)


CALLS = {
    "basinhopping": basinhopping,
    "differential_evolution": in_box("differential_evolution", maxiter=3, rng=1),
    "direct": lambda c, **kw: so.direct(lambda x: square(x, c), BOX, maxiter=5, **kw),
    "dual_annealing": in_box("dual_annealing", maxiter=3, rng=1),
    "fmin": local("fmin"),
    "fmin_bfgs": local("fmin_bfgs"),
    "fmin_cg": local("fmin_cg"),
    "fmin_l_bfgs_b": lambda c, **kw: so.fmin_l_bfgs_b(
        square, [0.0], args=(c,), approx_grad=True, **kw
    ),
    "fmin_ncg": lambda c, **kw: so.fmin_ncg(
        square, [0.0], lambda x, c: 2 * (x - c) + 4 * (x - c) ** 3, args=(c,), **kw
    ),
    "fmin_powell": local("fmin_powell"),
    "fmin_tnc": lambda c, **kw: so.fmin_tnc(
        square, [0.0], args=(c,), approx_grad=True, messages=0, **kw
    ),
    "least_squares": lambda c, **kw: so.least_squares(line(c), [0.0], **kw),
    "linprog": lambda c, **kw: so.linprog([c], **kw),
    "minimize": local("minimize"),
    "root": lambda c, **kw: so.root(line(c), [0.0], method="krylov", **kw),
    "shgo": in_box("shgo"),
}
# These call it in C, with an own form, or not at all, and are refused as they are.
OTHERS = {
    "anderson", "broyden1", "broyden2", "diagbroyden", "excitingmixing", "linearmixing",
    "newton_krylov", "quadratic_assignment", "fmin_cobyla", "fmin_slsqp",
    "linprog",
}  # fmt: skip


def test_all_solvers_with_such_an_argument_are_here():
    found = set()
    for name in so.__all__:
        f = getattr(so, name)
        if inspect.isfunction(f) and set(NAMES) & set(inspect.signature(f).parameters):
            found.add(name)
    assert found <= set(CALLS) | OTHERS


def kept(name, c, by):
    seen = []

    def store(*args):
        seen.append(args[0])

    def store_result(intermediate_result):
        seen.append(intermediate_result)

    def store_here(*args, seen=seen):
        seen[:] = [args[0]]

    callbacks = {"store": store, "append": seen.append, "result": store_result,
                 "default": store_here}  # fmt: skip
    CALLS[name](c, callback=callbacks[by])
    return np.sum(seen[-1])


def forwards(f):
    return lambda c: jvp(f, (c,), (1.0,))[1]


FORMS = ["store", "append", "default"]


@pytest.mark.covering(strength=1)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@pytest.mark.parametrize("by", FORMS)
@pytest.mark.parametrize("name", sorted(set(CALLS) - OTHERS))
def test_storing_is_refused(name, by, mode):
    def program(c):
        return kept(name, c, by)

    slope = grad(program) if mode == "reverse" else forwards(program)
    with pytest.raises(UnsupportedProgram, match="must not write"):
        slope(0.7)


@pytest.mark.parametrize("option", ["accept_test", "take_step"])
def test_other_functions_of_basinhopping(option):
    def stepped(c):
        seen = []

        def store(*args, **named):
            seen.append(args or named)
            return args[0] if option == "take_step" else True

        basinhopping(c, **{option: store})
        return seen[-1]

    with pytest.raises(UnsupportedProgram, match="must not write"):
        grad(lambda c: np.sum(stepped(c)))(0.7)


def test_results_by_name_are_refused():
    with pytest.raises(UnsupportedProgram, match="must not write"):
        grad(lambda c: kept("minimize", c, "result").x[0])(0.7)


def test_other_callbacks_are_called(capsys):
    def show(intermediate_result):
        print("at", intermediate_result.fun)

    slope = grad(lambda c: CALLS["minimize"](c, callback=show).x[0])(0.7)
    np.testing.assert_allclose(slope, 1.0)
    assert capsys.readouterr().out.startswith("at")


@pytest.mark.parametrize("framework", ["jax", "torch"])
@pytest.mark.parametrize("callback", [print, [].append], ids=["print", "append"])
def test_in_frameworks_callbacks_are_refused(framework, callback, capsys):
    module = pytest.importorskip(framework)
    own = module.numpy if framework == "jax" else module
    slope = module.grad if framework == "jax" else module.func.grad

    def value(c, **kw):
        found = optimize.minimize(lambda x: ((x - c) ** 2).sum(), own.zeros(1), **kw)
        return found.x.sum()

    c = own.asarray(0.7)
    np.testing.assert_allclose(slope(value)(c), 1.0, rtol=1e-4)
    np.testing.assert_allclose(value(c, callback=callback), 0.7, rtol=1e-4)
    with pytest.raises(rc.UnsupportedError, match="callback gets NumPy arrays"):
        slope(lambda c: value(c, callback=callback))(c)


def test_without_a_derivative_callbacks_and_functions_store():
    seen, asked = [], []

    def asking(x):
        asked.append(x)
        return x - 0.7

    optimize.minimize(square, np.zeros(1), args=(0.7,), callback=seen.append)
    np.testing.assert_allclose(seen[-1], 0.7, rtol=1e-5)
    optimize.brentq(asking, 0.0, 1.0)
    assert asked
