"""The host matrix, with a host of our own: NumPy with finite differences."""

import numpy as np
import pytest

import rules_core as rc
from rules_core import NoTangent, frule, rrule
from rules_core.testing import (
    Cell,
    CheckFailed,
    Space,
    _hosts as hosts_module,
    check_rule,
    isolated_rules,
)

VECTOR = np.array([0.5, -1.25, 2.0])


def _slope(f, primals, kwargs, tangents):
    """The pushforward by one central difference."""
    h = 1e-6
    space = Space(list(primals))
    move = space.coordinates(list(tangents))
    plus, minus = (space.point(space.origin + sign * h * move) for sign in (1.0, -1.0))
    return (f(*plus, **kwargs) - f(*minus, **kwargs)) / (2 * h)


def _pull(f, primals, kwargs, cotangent):
    """The pullback, by the rule."""
    _, pullback = rrule(f, *primals, **kwargs)
    return rc.normalise(primals, pullback(cotangent)[1:])


def _second(f, primals, kwargs, tangents, cotangent):
    def gradient(*xs):
        return np.concatenate([np.ravel(c) for c in _pull(f, xs, kwargs, cotangent)])

    flat = _slope(gradient, primals, {}, tangents)
    sizes = np.cumsum([np.size(x) for x in primals])[:-1]
    parts = zip(np.split(flat, sizes), primals, strict=True)
    return tuple(part.reshape(np.shape(x)) for part, x in parts)


def _many(run):
    def batched(f, batch, kwargs, *rest):
        examples = zip(batch, *rest, strict=True)
        return [run(f, primals, kwargs, *more) for primals, *more in examples]

    return batched


def _value(f, primals, kwargs):
    return f(*primals, **kwargs)


def _refusing(*_args):
    message = "this host does not compile"
    raise rc.UnsupportedError(message)


CELLS = {
    "call": Cell("call", "value", _value),
    "jvp": Cell("jvp", "jvp", _slope),
    "grad": Cell("grad", "vjp", _pull),
    "hessian": Cell("hessian", "second", _second),
    "map": Cell("map", "batched", _many(_value)),
    "map(grad)": Cell("map(grad)", "batched_vjp", _many(_pull)),
    "jit": Cell("jit", "value", _refusing),
}


@pytest.fixture(autouse=True)
def _toy_host(monkeypatch):
    class Toy:
        @staticmethod
        def cells(level):
            return [
                cell for name, cell in CELLS.items() if level == "full" or name != "jit"
            ]

    monkeypatch.setattr(hosts_module, "adapters", lambda: {"math": "toy:adapter"})
    monkeypatch.setattr(hosts_module, "load_adapter", lambda root: Toy)
    with isolated_rules():
        yield


def define(wrong_when=None):
    @rc.primitive
    def cube(x):
        return x**3

    @rrule.define(cube)
    def cube_rrule(x):
        slope = 3.0 * x**2
        return x**3, lambda dy: (NoTangent(), slope * dy)

    return cube


def statuses(report):
    return {c.name: c.status for c in report if c.name.startswith("math")}


def test_every_cell_of_every_host_is_run():
    report = check_rule(define(), VECTOR, rtol=1e-7)
    names = {f"math: {name}" for name in CELLS if name != "jit"}
    assert statuses(report) == dict.fromkeys(names, "passed")


def test_cells_can_be_left_out(monkeypatch):
    wrong = Cell("call", "value", lambda f, primals, kwargs: 0.0 * primals[0])
    monkeypatch.setitem(CELLS, "call", wrong)
    report = check_rule(define(), VECTOR, rtol=1e-7, skip=("math: call",))
    assert report["math: call"].detail == "left out by skip="
    assert report["math: grad"].status == "passed"


def test_what_a_host_refuses_stands_as_refused():
    report = check_rule(define(), VECTOR, rtol=1e-7, level="full")
    assert report["math: jit"].status == "refused"
    assert report["math: jit"].detail == "this host does not compile"


def test_hosts_can_be_chosen():
    assert statuses(check_rule(define(), VECTOR, hosts=())) == {}
    assert "math: call" in statuses(
        check_rule(define(), VECTOR, rtol=1e-7, hosts=("math",))
    )


def test_hosts_that_are_not_installed_are_not_run(monkeypatch):
    monkeypatch.setattr(
        hosts_module, "adapters", lambda: {"no_such_host": "no:adapter"}
    )
    report = check_rule(define(), VECTOR)
    assert report["no_such_host: all"].detail == "no_such_host is not installed"


def test_functions_that_are_no_primitives_are_not_run():
    def square(x):
        return x * x

    rrule.define(square)(lambda x: (x * x, lambda dy: (NoTangent(), 2 * x * dy)))
    report = check_rule(square, VECTOR)
    assert report["math: all"].status == "not run"
    assert "not a primitive" in report["math: all"].detail


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", [name for name in CELLS if name != "jit"])
def test_a_cell_that_is_wrong_fails_alone(name, monkeypatch):
    right = CELLS[name]

    def doubled(x):
        if isinstance(x, (list, tuple)):
            return type(x)(map(doubled, x))
        return 2.0 * x

    def wrong(*args):
        return doubled(right.run(*args))

    monkeypatch.setitem(CELLS, name, Cell(name, right.kind, wrong))
    with pytest.raises(CheckFailed) as caught:
        check_rule(define(), VECTOR, rtol=1e-7)
    assert [c.name for c in caught.value.report.failed] == [f"math: {name}"]


def test_cells_rest_on_the_checks_in_numpy():
    cube = define()

    @frule.define(cube)
    def cube_frule(tangents, x):
        return x**3, x**2 * tangents[1]

    with pytest.raises(CheckFailed) as caught:
        check_rule(cube, VECTOR)
    report = caught.value.report
    assert report["math: jvp"].detail == "rests on frule.derivative"
    assert report["math: call"].status == "passed"


def test_arguments_without_a_derivative_are_closed_over():
    seen = []

    @rc.primitive
    def power(n, x, v):
        return v * x**n

    @rrule.define(power)
    def power_rrule(n, x, v):
        def power_pullback(dy):
            dv = rc.not_implemented("in v")
            return NoTangent(), NoTangent(), n * v * x ** (n - 1) * dy, dv

        return v * x**n, power_pullback

    def run(f, primals, kwargs, cotangent):
        seen.append(primals)
        assert f(*primals, **kwargs).shape == cotangent.shape
        _, pullback = rrule(power, primals[0], primals[1], 2.0)
        return None, pullback(cotangent)[2]

    toy = [Cell("grad", "vjp", run)]
    hosts_module.load_adapter("math").cells = staticmethod(lambda level: toy)
    report = check_rule(power, 3, VECTOR, 2.0)
    assert report["math: grad"].status == "passed"
    assert [type(x) for x in seen[0]] == [int, np.ndarray]


def test_a_host_in_single_precision_is_judged_by_its_digits(monkeypatch):
    def single(f, primals, kwargs):
        return f(*(x.astype(np.float32) for x in primals), **kwargs)

    monkeypatch.setitem(CELLS, "call", Cell("call", "value", single))
    report = check_rule(define(), VECTOR, rtol=1e-6)
    assert report["math: call"].status == "passed"


def test_a_cotangent_of_another_dtype_is_seen(monkeypatch):
    def widened(*args):
        return tuple(c.astype(np.complex128) for c in _pull(*args))

    monkeypatch.setitem(CELLS, "grad", Cell("grad", "vjp", widened))
    with pytest.raises(CheckFailed, match="x is float64, its cotangent complex128"):
        check_rule(define(), VECTOR, rtol=1e-7)


def test_an_frule_alone_is_compared_with_differences(monkeypatch):
    @rc.primitive
    def cube(x):
        return x**3

    @frule.define(cube)
    def cube_frule(tangents, x):
        return x**3, 3.0 * x**2 * tangents[1]

    def pull(f, primals, kwargs, cotangent):
        return (3.0 * primals[0] ** 2 * cotangent,)

    monkeypatch.setitem(CELLS, "grad", Cell("grad", "vjp", pull))
    report = check_rule(cube, VECTOR, rtol=1e-7)
    assert report["math: grad"].status == report["math: jvp"].status == "passed"
    assert report["math: map(grad)"].detail == "no rrule to compare with"
    assert report["math: hessian"].detail == (
        "no reference: it needs an rrule that can be differenced in float64"
    )
    wrong = Cell("grad", "vjp", lambda *args: (2.0 * pull(*args)[0],))
    monkeypatch.setitem(CELLS, "grad", wrong)
    with pytest.raises(CheckFailed, match=r"failed +math: grad +x\[\d\]: "):
        check_rule(cube, VECTOR, rtol=1e-7)


def test_a_value_of_another_structure_is_seen(monkeypatch):
    pair = Cell("call", "value", lambda f, primals, kwargs: (f(*primals), 1.0))
    monkeypatch.setitem(CELLS, "call", pair)
    with pytest.raises(CheckFailed, match=r"failed +math: call +y: shape \(3,\) expe"):
        check_rule(define(), VECTOR, rtol=1e-7)


def test_nothing_left_to_differentiate_is_not_run():
    @rc.primitive
    def order(v):
        return np.sin(v)

    @rrule.define(order)
    def order_rrule(v):
        return order(v), lambda dy: (NoTangent(), rc.not_implemented("in the order"))

    report = check_rule(order, VECTOR, tangents=(NoTangent(),))
    assert report["math: all"].detail == "no argument is left to differentiate"
