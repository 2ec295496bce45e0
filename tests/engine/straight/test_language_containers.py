"""Containers: as arguments that are differentiated, as constants, and made inside."""

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jacrev, vjp
from rules_core import NoTangent
from tests.engine.straight.programs import check_refused, check_written

RNG = np.random.default_rng(5)
X = np.array([0.5, -1.0, 2.0])


def draw(*shape):
    return RNG.standard_normal(shape)


PAIRS = [(draw(4, 3), draw(4)), (draw(2, 4), draw(2))]
NAMED = {"w": draw(4, 3), "b": draw(4), "out": {"w": draw(4), "scale": 1.5}}


def network(params, x):
    for w, b in params:
        x = np.tanh(w @ x + b)
    return np.sum(x)


def network_by_index(params, x):
    h = np.tanh(params[0][0] @ x + params[0][1])
    return np.sum(params[-1][0] @ h + params[1][1])


def network_but_last(params, x):
    *hidden, (w, b) = params
    for v, c in hidden:
        x = np.tanh(v @ x + c)
    return np.sum((w @ x + b) ** 2)


def network_of_slices(params, x):
    for w, b in params[:-1]:
        x = np.tanh(w @ x + b)
    for w, b in params[1:]:
        x = w @ x + b
    return np.sum(x)


def layer(x, params):
    w, b = params
    return np.tanh(w @ x + b)


def network_of_calls(params, x):
    for i, part in enumerate(params):
        x = (i + 1.0) * layer(x, part)
    return np.sum(x)


def network_reversed(params, x):
    total = 0.0
    for w, _ in reversed(params):
        total = total + np.sum(w * w) * np.sum(x)
    return total


@pytest.mark.parametrize(
    "f",
    [
        network, network_by_index, network_but_last, network_of_slices,
        network_of_calls, network_reversed,
    ],
)  # fmt: skip
@pytest.mark.parametrize("form", [list, tuple])
def test_networks(f, form):
    check_written(f, form(PAIRS), X)


def by_keys(p, x):
    h = np.tanh(p["w"] @ x + p["b"])
    return p["out"]["w"] @ h * p["out"]["scale"]


def penalty(p, x):
    total = 0.0
    for key in ("w", "b"):
        total += np.sum(p[key] ** 2)
    return total * np.sum(x)


def over_items(p, x):
    total = 0.0
    inner = {"w": p["w"], "b": p["b"]}
    for key, value in inner.items():
        total = total + np.sum(value) * (2.0 if key == "w" else 3.0)
    for value in inner.values():
        total = total + np.sum(value * value)
    return total + len(inner) * np.sum(x)


def over_keys(p, x):
    inner = {"w": p["w"], "b": p["b"]}
    return sum(np.sum(inner[key]) for key in inner) + np.sum(x)


@pytest.mark.parametrize("f", [by_keys, penalty, over_items, over_keys])
def test_dicts(f):
    check_written(f, NAMED, X)


def of_numbers(params):
    (a, b), c, d = params
    return a * b * c + d


def test_constants_in_containers():
    check_written(of_numbers, [(1.5, 2), 0.5, 3.0])
    found = grad(of_numbers, tier="straight")([(1.5, 2), 0.5, np.float64(3.0)])
    assert found == [(1.0, NoTangent()), 3.0, 1.0]
    assert type(found[2]) is np.float64


def test_containers_that_are_not_differentiated():
    check_written(lambda x, p: by_keys(p, x), X, NAMED, by=(0,))
    check_written(lambda x: network(PAIRS, x), X)
    check_written(lambda x: by_keys(NAMED, x), X)


def made_inside(x):
    state = {"x": x, "v": [2.0 * x, x * x]}
    pair = state["v"] + [state["x"]]
    a, b, c = pair
    powers = [1.0] * 2 + [x]
    return a * b * c + len(pair) * powers[-1] + np.array(pair)[1] + sum(pair)


def test_containers_that_are_made_inside():
    check_written(made_inside, 1.5)


def test_pullbacks_of_containers():
    own, pull = vjp(network, PAIRS, X, tier="straight")
    other, tape = vjp(network, PAIRS, X, tier="tape")
    assert own == pytest.approx(other)
    for _ in range(2):
        by_params, by_x = pull(2.0)
        expected, expected_x = tape(2.0)
        np.testing.assert_allclose(by_x, expected_x)
        for (w, b), (v, c) in zip(by_params, expected, strict=True):
            np.testing.assert_allclose(w, v)
            np.testing.assert_allclose(b, c)


def test_a_result_that_is_an_entry_is_not_handed_out():
    own, pull = vjp(lambda p: p["a"], {"a": X}, tier="straight")
    assert own is not X
    ((found),) = pull(np.ones(3))
    np.testing.assert_array_equal(found["a"], np.ones(3))


def test_cotangents_are_no_part_of_each_other():
    gradient = grad(lambda p: np.sum(p[0][0] + p[0][1]) + p[1], tier="straight")
    (one, other), total = gradient(((X, X), 1.0))
    assert total == 1.0
    assert not np.shares_memory(one, other)


def test_the_form_of_a_container_makes_its_own_code(tapes):
    def program(p):
        return p[0] * p[-1]

    gradient = grad(program, tier="straight")
    assert gradient([2.0, 3.0]) == [3.0, 2.0]
    assert gradient((2.0, 3.0)) == (3.0, 2.0)
    assert gradient([2.0, 1.0, 3.0]) == [3.0, 0.0, 2.0]
    assert gradient([2.0]) == [4.0]
    assert tapes == []


def test_jacobians_by_containers_are_the_tapes():
    found = jacrev(lambda p: p["a"] * X)({"a": 2.0})
    np.testing.assert_allclose(found["a"], X)


def endless():
    held = [1.0]
    held.append(held)
    return held


def test_a_list_that_holds_itself():
    with pytest.raises(UnsupportedProgram, match="without end"):
        grad(lambda p: p[0] * 1.0, tier="straight")(endless())


def written_to(p):
    p[0] = 3.0 * p[1]
    return p[0]


def written_inside(p):
    q = {"a": p[0]}
    q["a"] = 2.0 * p[0]
    return q["a"]


@pytest.mark.parametrize(
    ("f", "p", "reason"),
    [
        (written_to, [1.0, 2.0], "may be seen by another way"),
        (written_inside, [1.0, 2.0], "may be seen by another way"),
        (lambda p: p[0], [float(i) for i in range(65)], "more than 64 entries"),
        (lambda p: p["a"], {"a": 1.0, 2.5: 3.0}, "is of a kind that"),
        (lambda p: p[int(p[0])], [1.0, 2.0], "named by a literal"),
    ],
)
def test_what_is_refused(f, p, reason):
    check_refused(f, p, reason=reason)
