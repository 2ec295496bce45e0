"""Points at which derivatives are known, and mpmath's functions to know them from.

Run `python -m tests.packs.scipy.references` from the root of the repository to write
references.json again (about a minute).
"""

import json
from pathlib import Path

import mpmath as mp

TABLE = Path(__file__).with_name("references.json")
DIGITS = 40


def expit(x):
    return 1 / (1 + mp.exp(-x))


def betainc(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def gammainc(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    return mp.gammainc(a, x, regularized=True)


def gammaln(x):
    return mp.log(abs(mp.gamma(x))) if mp.im(x) == 0 else mp.loggamma(x)


def ive(v, x):
    return mp.exp(-abs(mp.re(x))) * mp.besseli(v, x)


def kve(v, x):
    return mp.exp(x) * mp.besselk(v, x)


# name: (function, points, orders to test per argument; 0 for none)
CASES = {
    "gamma": (mp.gamma, [(x,) for x in (0.3, 1, 2.5, 7.25, 20, -0.5, -3.25)], (3,)),
    "gammaln": (gammaln, [(x,) for x in (0.3, 1, 2.5, 30, -0.5, -2.75)], (3,)),
    "digamma": (mp.digamma, [(x,) for x in (0.3, 1, 2.5, 30, -0.5, -2.75)], (3,)),
    "polygamma": (
        mp.polygamma,
        [(n, x) for n in (0, 1, 2, 4) for x in (0.4, 2.5, 10, -1.25)],
        (0, 3),
    ),
    "beta": (mp.beta, [(0.5, 0.25), (2.3, 1.7), (10, 0.3), (1000, 0.5)], (3, 3)),
    "betaln": (
        lambda a, b: mp.log(mp.beta(a, b)),
        [(0.5, 0.25), (2.3, 1.7), (10, 0.3), (1000, 0.5)],
        (3, 3),
    ),
    "erf": (mp.erf, [(x,) for x in (-3, -0.5, 0, 0.7, 2.5)], (3,)),
    "erfc": (mp.erfc, [(x,) for x in (-3, -0.5, 0, 0.7, 2.5, 6)], (3,)),
    "erfinv": (mp.erfinv, [(x,) for x in (-0.9, 0, 0.5, 0.999)], (3,)),
    "expit": (expit, [(x,) for x in (-40, -2, 0, 1, 40)], (3,)),
    "logit": (
        lambda x: mp.log(x / (1 - x)),
        [(x,) for x in (1e-3, 0.3, 0.5, 0.99)],
        (3,),
    ),
    "xlogy": (lambda x, y: x * mp.log(y), [(2, 3), (0, 3), (0.5, 1e-3)], (3, 3)),
    "xlog1py": (lambda x, y: x * mp.log1p(y), [(2, 3), (0, 3), (0.5, 1e-3)], (3, 3)),
    "zeta": (
        mp.zeta,
        [(x, q) for x in (2.5, 1.25, 6) for q in (0.3, 1, 4, 50)],
        (0, 3),
    ),
    "jv": (
        mp.besselj,
        [(v, z) for v in (0, 1, 2.5, -0.5, 10) for z in (0.3, 2, 15)] + [(1, -2)],
        (0, 3),
    ),
    "yv": (
        mp.bessely,
        [(v, z) for v in (0, 1, 2.5, 10) for z in (0.3, 2, 15)],
        (0, 3),
    ),
    "iv": (
        mp.besseli,
        [(v, z) for v in (0, 1, 2.5, -0.5, 10) for z in (0.3, 2, 15)] + [(1, -2)],
        (0, 3),
    ),
    "kv": (
        mp.besselk,
        [(v, z) for v in (0, 1, 2.8, -0.5, 10, 0.4) for z in (1e-3, 0.3, 2, 15)],
        (0, 3),
    ),
    "ive": (
        ive,
        [(v, z) for v in (0, 1, 2.5, -0.5, 10) for z in (0.3, 2, 15)] + [(1, -2)],
        (0, 3),
    ),
    "kve": (
        kve,
        [(v, z) for v in (0, 1, 2.5, -0.5, 10) for z in (0.3, 2, 15)],
        (0, 3),
    ),
    "gammainc": (
        gammainc,
        [(0.5, 0.2), (1, 1), (2, 3), (2.3, 0.1), (30, 25), (400, 420)],
        (1, 3),
    ),
    "gammaincc": (
        gammaincc,
        [(0.5, 0.2), (1, 1), (2, 3), (2.3, 0.1), (30, 25), (400, 420)],
        (1, 3),
    ),
    "betainc": (
        betainc,
        [(2.3, 1.7, 0.4), (0.5, 0.5, 0.2), (0.25, 0.75, 0.6), (30, 4, 0.9),
         (200, 300, 0.41), (1, 1, 0.3)],
        (1, 1, 3),
    ),
}  # fmt: skip

COMPLEX = {
    "gamma": (mp.gamma, [(1 + 2j,), (-1.5 + 0.5j,)], 1),
    "digamma": (mp.digamma, [(1 + 2j,), (-1.5 + 0.5j,)], 0),
    "erf": (mp.erf, [(1 + 2j,), (-0.5 - 1j,)], 3),
    "erfc": (mp.erfc, [(1 + 2j,), (-0.5 - 1j,)], 3),
    "jv": (mp.besselj, [(1, 1 + 2j), (2.5, -1.5 + 0.5j)], 3),
    "yv": (mp.bessely, [(1, 1 + 2j), (2.5, -1.5 + 0.5j)], 3),
    "iv": (mp.besseli, [(1, 1 + 2j), (2.5, -1.5 + 0.5j)], 3),
    "kv": (mp.besselk, [(1, 1 + 2j), (2.5, -1.5 + 0.5j)], 3),
    "kve": (kve, [(1, 1 + 2j), (2.5, -1.5 + 0.5j)], 3),
    "xlogy": (lambda x, y: x * mp.log(y), [(2, 1 + 2j), (0.5, -1.5 + 0.5j)], 3),
}


def derivatives(f, args, argnum, order):
    """The value and the derivatives to an order in one argument."""

    def along(x):
        return f(*args[:argnum], x, *args[argnum + 1 :])

    return [mp.diff(along, args[argnum], n) for n in range(order + 1)]


def parts(z):
    return [float(mp.re(z)), float(mp.im(z))]


def compute():
    mp.mp.dps = DIGITS
    real = {
        name: [
            [
                [float(d) for d in derivatives(f, tuple(map(mp.mpf, p)), i, order)]
                if order
                else None
                for i, order in enumerate(orders)
            ]
            for p in points
        ]
        for name, (f, points, orders) in CASES.items()
    }
    holomorphic = {
        name: [
            [parts(d) for d in derivatives(f, tuple(map(mp.mpmathify, p)), -1 % len(p),
                                           order)]
            for p in points
        ]
        for name, (f, points, order) in COMPLEX.items()
    }  # fmt: skip
    return {"real": real, "complex": holomorphic}


def load():
    return json.loads(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    TABLE.write_text(json.dumps(compute(), indent=0), encoding="utf-8")
