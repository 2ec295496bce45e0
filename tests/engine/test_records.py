"""Structured arrays: fields carry derivatives, whole records are refused."""

import copy
from typing import Any

import numpy as np
import pytest

from rules_autodiff.testing import check_program
from tests.engine.refusing import assert_refused

X = np.array([0.3, -1.2, 2.0, 0.7, 1.1, -0.4])
PAIR = [("p", float), ("q", complex)]
MIXED = [("p", float), ("n", int), ("b", bool), ("v", float, (2,))]


where: Any = np.where  # whose stubs do not know records


def pairs(x):
    a = np.zeros((2, 3), PAIR)
    a["p"] = x.reshape(2, 3)
    a["q"] = a["p"] * 1j
    return a


def of_records(x):
    total = 0.0
    for row in pairs(x):
        for record in row:
            total += record["p"]
    return total


def swapped(x):
    a = pairs(x)
    a[[0, 1]] = a[[1, 0]]
    return a["p"].sum()


def assigned(x):
    a = pairs(x)
    a[0] = a[1]
    return a["p"].sum()


def copied_into(x):
    a = pairs(x)
    b = np.empty_like(a)
    np.copyto(b, a)
    return b["p"].sum()


def made_of_numbers(x):
    return np.array([(x[0], 1j * x[1])], PAIR)["p"].sum()


REFUSED = {
    "copy": lambda x: pairs(x).copy()["p"].sum(),
    "np.copy": lambda x: np.copy(pairs(x))["p"].sum(),
    "np.array": lambda x: np.array(pairs(x))["p"].sum(),
    "copy.copy": lambda x: copy.copy(pairs(x))["p"].sum(),
    "copy.deepcopy": lambda x: copy.deepcopy(pairs(x))["p"].sum(),
    "flatten": lambda x: pairs(x).flatten()["p"].sum(),
    "other order": lambda x: pairs(x).T.reshape(-1)["p"].sum(),
    "astype": lambda x: pairs(x).astype(PAIR)["p"].sum(),
    "fancy index": lambda x: pairs(x)[[0, 1, 0]]["p"].sum(),
    "mask": lambda x: pairs(x)[pairs(x)["p"] > 0]["p"].sum(),
    "record": lambda x: pairs(x)[0, 1]["p"].sum(),
    "item": lambda x: pairs(x).item(1)[0],
    "tolist": lambda x: pairs(x).tolist()[0][1][0],
    "take": lambda x: pairs(x).take([1, 2])["p"].sum(),
    "concatenate": lambda x: np.concatenate([pairs(x), pairs(x)])["p"].sum(),
    "where": lambda x: where(pairs(x)["p"] > 0, pairs(x), pairs(x)[::-1])["p"].sum(),
    "stack": lambda x: np.stack([pairs(x), pairs(x)])["p"].sum(),
    "sort": lambda x: np.sort(pairs(x), axis=1, order="p")["p"].sum(),
    "records": of_records,
    "swapped": swapped,
    "assigned": assigned,
    "copied into": copied_into,
    "made of numbers": made_of_numbers,
}


@pytest.mark.parametrize("name", REFUSED)
def test_records_are_refused(name):
    """A record is read, copied or written as a whole: nothing would follow it."""
    assert_refused(REFUSED[name], X, "field of a structured array, but the record")


def views_of_fields(x):
    a = pairs(x)
    a[1:]["p"] *= 2.0
    a["p"][0, 1:] += a["q"].imag[1, :2]
    flat = a.reshape(-1)[::-1]
    return (flat["p"] ** 2 * flat["q"].imag).sum() + a.T["p"][0] @ x[:2]


def fields_of_other_kinds(x):
    a = np.zeros(3, MIXED)
    a["p"] = x[:3]
    a["n"] = 2
    a["n"][1] = 5
    a["b"] = x[3:] > 0
    a["p"][a["b"]] *= 3
    a["n"][a["b"]] += 1
    a["v"][:, 0] = x[3:]
    a["v"][1] = x[0] * x[1]
    counts = a["n"].copy()
    return (a["p"] * a["n"] * counts + a["n"] * 2.0 + a["v"].sum(1) ** 2).sum()


@pytest.mark.parametrize("f", [views_of_fields, fields_of_other_kinds])
def test_fields(f):
    check_program(f, X, second=True)
