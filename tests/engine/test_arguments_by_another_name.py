"""A container that is an argument, and is written to by another name.

The program has a copy of it, which the other name does not reach.
"""

import copy
from types import SimpleNamespace

import numpy as np
import pytest

from rules_autodiff import UnsupportedProgram, grad, jacfwd, vjp

HELD = {
    "list": [1.0, 2.0],
    "dict": {"a": 1.0, "b": 2.0},
    "arrays": [np.ones(2), 2.0 * np.ones(2)],
    "instance": SimpleNamespace(a=1.0, b=2.0),
    "dict of an instance": SimpleNamespace(a=1.0, b=2.0),
    "nested": [[1.0, 2.0], [3.0]],
    "appended": [1.0, 2.0],
}


def of_list(x):
    HELD["list"][0] = 3.0 * x[1]
    return x[0] * x[1] + HELD["list"][0]


def of_dict(x):
    HELD["dict"]["a"] = 3.0 * x["b"]
    return x["a"] * x["b"]


def of_arrays(x):
    HELD["arrays"][0] = 3.0 * x[1]
    return np.sum(x[0] * x[1])


def of_instance(x):
    HELD["instance"].a = 3.0 * x.b
    return x.a * x.b


def of_its_dict(x):
    vars(HELD["dict of an instance"])["a"] = 3.0 * x.b
    return x.a * x.b


def of_nested(x):
    HELD["nested"][0][0] = 2.0 * x[1][0]
    return x[0][0] * x[1][0]


def of_appended(x):
    HELD["appended"].append(x[0])
    return x[-1] * x[1]


PROGRAMS = (
    of_list, of_dict, of_arrays, of_instance, of_its_dict, of_nested, of_appended,
)  # fmt: skip
BY_ANOTHER_NAME = dict(zip(HELD, PROGRAMS, strict=True))


@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize(
    "derivative",
    [grad, lambda f: grad(f, tier="tape"), lambda f: lambda x: vjp(f, x), jacfwd],
    ids=["grad", "tape", "vjp", "jacfwd"],
)
def test_a_container_written_to_by_another_name_is_refused(
    name, derivative, monkeypatch
):
    monkeypatch.setitem(HELD, name, copy.deepcopy(HELD[name]))
    with pytest.raises(UnsupportedProgram, match="written to by another name"):
        derivative(BY_ANOTHER_NAME[name])(HELD[name])


def test_a_namespace_may_be_written_to():
    def program(x):
        x.a = 3.0 * x.b
        return x.a * x.b

    found = grad(program)(SimpleNamespace(a=1.0, b=2.0))
    assert (found.a, found.b) == (0.0, 12.0)
