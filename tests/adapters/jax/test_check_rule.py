"""`check_rule` runs JAX's whole matrix on rules of every form, and it can fail."""

import jax
import numpy as np
import pytest

import rules_core as rc
from rules_autodiff import EngineConfig
from rules_core import NoTangent
from rules_core.testing import CheckFailed, check_rule
from tests.interop.callbacks import fixed_point, map_

X = np.array([0.3, 0.7])
SECOND = ("jvp(vjp)", "jit(jvp(vjp))", "vjp(jvp)", "vjp(vjp)", "jvp(jvp)")


def cells(f, *args, level="full", **options):
    """Outcomes by cell, of a check that everything else passes."""
    report = check_rule(f, *args, hosts=("jax",), level=level, **options)
    return {
        check.name.removeprefix("jax: "): check
        for check in report
        if check.name.startswith("jax")
    }


def passed(found, count=20):
    assert len(found) == count
    assert {check.status for check in found.values()} == {"passed"}, found


def sine(rules, **flags):
    """sin with rules in terms of itself and of its cosine."""

    @rc.primitive(**flags)
    def sin(x):
        return rc.array_namespace(x).sin(x)

    @rc.primitive(**flags)
    def cos(x):
        return rc.array_namespace(x).cos(x)

    def define(f, slope):
        if "f" in rules:
            rc.frule.define(f)(lambda tangents, x: (f(x), slope(x) * tangents[1]))
        if "r" in rules:
            conj = lambda x: rc.array_namespace(x).conj(slope(x))
            rc.rrule.define(f)(lambda x: (f(x), lambda dy: (NoTangent(), dy * conj(x))))

    define(sin, cos)
    define(cos, lambda x: -sin(x))
    return sin


@pytest.mark.covering(every=4)
@pytest.mark.parametrize("rules", ["fr", "r", "f"])
@pytest.mark.parametrize("flags", [{}, {"host": True, "elementwise": True}], ids=str)
def test_generic_and_host(rules, flags):
    found = cells(sine(rules, **flags), X)
    if rules == "f":  # the tester compares with the rrule
        compared = (*SECOND, "vmap(vjp)", "jit(vmap(vjp))")
        assert {found.pop(name).status for name in compared} == {"not run"}
        passed(found, 13)
    else:
        passed(found)


def test_complex_numbers():
    passed(cells(sine("fr"), X + 0.4j))


def test_several_results_and_pytrees():
    @rc.primitive
    def mix(d, pair, n):
        xp = rc.array_namespace(d["x"])
        u, v = pair
        return {"y": d["x"] ** n * u, "z": (xp.sum(v * v), xp.floor(u) > 0)}

    @rc.rrule.define(mix)
    def mix_rrule(d, pair, n):
        u, v = pair

        def mix_pullback(dy):
            dz, _ = dy["z"]
            dx = n * d["x"] ** (n - 1) * u * dy["y"]
            return NoTangent(), {"x": dx}, (d["x"] ** n * dy["y"], 2 * v * dz), None

        return mix(d, pair, n), mix_pullback

    passed(cells(mix, {"x": X}, (X + 1, X - 1), 3))


def test_a_host_function_with_shape_and_batch_rule():
    @rc.primitive(host=True)
    def gram(A):
        return A.T @ A

    @rc.shape_rule.define(gram)
    def gram_shape(A):
        return rc.ShapeDtype((A.shape[1], A.shape[1]), A.dtype)

    @rc.batch_rule.define(gram)
    def gram_batch(size, in_batched, A):
        return A.swapaxes(1, 2) @ A, True

    @rc.rrule.define(gram)
    def gram_rrule(A):
        return gram(A), lambda dy: (NoTangent(), A @ (dy + dy.T))

    passed(cells(gram, np.array([[0.1, 0.4], [1.3, -0.2], [0.5, 0.5]])))


def test_a_numpy_only_rule_is_refused_at_second_order():
    @rc.primitive(host=True, elementwise=True)
    def sin(x):
        return np.sin(x)

    @rc.rrule.define(sin, host=True)
    def sin_rrule(x):
        return np.sin(x), lambda dy: (NoTangent(), dy * np.cos(x))

    @rc.frule.define(sin, host=True)
    def sin_frule(tangents, x):
        return np.sin(x), np.cos(x) * tangents[1]

    found = cells(sin, X)
    refused = {name for name, check in found.items() if check.status == "refused"}
    assert refused == set(SECOND)
    assert {check.status for check in found.values()} == {"passed", "refused"}


def contraction(theta, x):
    xp = rc.array_namespace(x)
    return xp.tanh(theta["a"] * x + theta["b"]) / 2


def square_of_sine(x):
    return rc.array_namespace(x).sin(x) ** 2


@pytest.mark.nightly
def test_rules_that_call_back():
    theta = {"a": np.array(0.6), "b": X}
    config = EngineConfig()
    passed(cells(fixed_point, contraction, theta, np.zeros(2), config=config))
    passed(cells(map_, square_of_sine, [X, X + 1], config=config))


def failing(f):
    with pytest.raises(CheckFailed) as caught:
        check_rule(f, X, hosts=("jax",), level="full")
    return {check.name.removeprefix("jax: ") for check in caught.value.report.failed}


def held(slope):
    """Right in value, and without a derivative of its own in JAX."""
    return jax.lax.stop_gradient(slope) if isinstance(slope, jax.Array) else slope


def cube(frule_slope, rrule_slope):
    @rc.primitive
    def cube(x):
        return x * x * x

    @rc.frule.define(cube)
    def cube_frule(tangents, x):
        return cube(x), frule_slope(3 * x * x) * tangents[1]

    @rc.rrule.define(cube)
    def cube_rrule(x):
        slope = rrule_slope(3 * x * x)
        return cube(x), lambda dy: (NoTangent(), dy * slope)

    return cube


def same(slope):
    return slope


def test_second_order_of_each_rule_has_its_own_cells():
    assert failing(cube(held, same)) == {"vjp(jvp)", "jvp(jvp)"}
    assert failing(cube(same, held)) == {"jvp(vjp)", "jit(jvp(vjp))", "vjp(vjp)"}


def test_what_is_wrong_where_jax_stages_is_found():
    def doubled(slope):
        staged = type(slope).__name__ == "DynamicJaxprTracer"
        return 2 * slope if staged else slope

    wrong = failing(cube(same, doubled))
    assert {"vjp(scan)", "jit(vjp)"} <= wrong
    assert not wrong & {"eager", "jvp", "vjp", "jvp(vjp)", "vmap", "linearize"}
