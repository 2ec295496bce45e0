"""The errors of derivatives against mpmath, and the page that lists the worst.

`python -m tests.packs.scipy.accuracy` prints docs/reference/scipy-accuracy.md.
"""

import sys
import warnings

import numpy as np

import rules_core as rc
from rules_autodiff import jvp
from rules_scipy import special

from .special_references import load


def number(x):
    return complex(*x) if isinstance(x, list) else x


def derivatives(name, point, i):
    """First and second derivatives in one argument, a tuple of outputs each.

    None for an order that is not implemented.
    """
    f = getattr(special, name)

    def along(x):
        args = [np.float64(y) if isinstance(y, float) else y for y in point]
        return f(*args[:i], x, *args[i + 1 :])

    def slope(x):
        return jvp(along, (x,), (np.float64(1.0),))[1]

    def bend(x):
        return jvp(slope, (x,), (np.float64(1.0),))[1]

    return [attempt(order, np.float64(point[i])) for order in (slope, bend)]


def attempt(order, x):
    try:
        y = order(x)
    except rc.DerivativeNotImplemented:
        return None
    return tuple(y) if isinstance(y, (tuple, rc.Tangent)) else (y,)


def errors(name, row):
    """Relative to the derivative or to that of one order less, whichever is larger."""
    point, i, known = row
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        got = derivatives(name, point, i)
    for order, values in enumerate(got, start=1):
        if values is None:
            yield None
            continue
        worst = 0.0
        for k, less in enumerate(known[order - 1]):
            exact = number(known[order][k])
            scale = max(abs(exact), abs(number(less)))
            scale = scale if scale > 1e-18 else 0.0  # mpmath's own zeros
            if values[k] == exact:  # infinities too
                continue
            error = abs(values[k] - exact) / scale if scale else abs(values[k])
            worst = max(worst, float(np.nan_to_num(error, nan=np.inf)))
        yield worst


def worst(name):
    """The worst first and second errors of a function, and their places."""
    found = [(-1.0, None), (-1.0, None)]
    for row in load()[name]:
        for order, error in enumerate(errors(name, row)):
            if error is not None and error > found[order][0]:
                found[order] = error, (row[0], row[1])
    return found


HEAD = """# Accuracy of the SciPy pack

<!-- Made by `python -m tests.packs.scipy.accuracy`; do not edit. -->

The worst errors of first and second derivatives, in every argument, against mpmath at
thirty digits: at ordinary arguments, and near zeros and edges, at large and tiny ones
(`tests/packs/scipy/special_points.py`). They are relative to the derivative, or to that
of one order less if it is larger. A dash: not implemented.

| function | first | second | worst at |
|---|---|---|---|
"""


def page():
    rows = []
    for name in sorted(load()):
        (first, place), (second, _) = worst(name)
        where = "" if place is None else f"`{tuple(place[0])}`, argument {place[1] + 1}"
        rows.append(f"| `{name}` | {shown(first)} | {shown(second)} | {where} |\n")
    return HEAD + "".join(rows)


def shown(error):
    return "–" if error < 0 else f"{error:.0e}"


if __name__ == "__main__":
    sys.stdout.write(page())
