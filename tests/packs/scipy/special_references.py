"""mpmath's functions for those of the pack, and the derivatives that they give.

Run `python -m tests.packs.scipy.special_references` from the root of the repository to
write special_references.json again (half an hour), with names of functions for these
alone.
"""

import json
import sys
from pathlib import Path

import mpmath as mp

from .special_points import AWKWARD, POINTS

TABLE = Path(__file__).with_name("special_references.json")
DIGITS = 30


def gauss(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def ndtri(p):
    # mpmath's erfinv loses digits in the tails.
    start = mp.mpf(float_ndtri(float(p)))
    return mp.findroot(lambda x: mp.log(mp.ncdf(x) / p), start)


def float_ndtri(p):
    import scipy.special

    return float(scipy.special.ndtri(p))


def solved(name, f):
    """The inverse of `f`, from SciPy's value."""

    def inverse(*args):
        import scipy.special

        start = getattr(scipy.special, name)(*map(float, args))
        return mp.findroot(lambda x: f(x, *args), mp.mpf(float(start)))

    return inverse


def gammainc(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    return mp.gammainc(a, x, regularized=True)


def betainc(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


def betaincc(a, b, x):
    return mp.betainc(a, b, x, 1, regularized=True)


def stdtr(v, t):
    tail = betainc(v / 2, mp.mpf(0.5), v / (v + t * t)) / 2
    return tail if t < 0 else 1 - tail


def fdtr(m, n, x):
    return betainc(m / 2, n / 2, m * x / (n + m * x))


def rf(x, y, z):
    return mp.elliprf(x, y, z)


def poisson_mean(term, nc):
    total, weight, j = mp.mpf(0), mp.exp(-nc / 2), 0
    while True:
        part = weight * term(j)
        total += part
        j += 1
        weight *= nc / (2 * j)
        if j > nc and abs(part) < mp.eps * abs(total) / 1000:
            return total


def chndtr(x, v, nc):
    return poisson_mean(lambda j: gammainc(v / 2 + j, x / 2), nc)


def ncfdtr(m, n, nc, f):
    return poisson_mean(lambda j: betainc(m / 2 + j, n / 2, m * f / (n + m * f)), nc)


def nctdtr(v, nc, t):
    def density(s):
        size = v * mp.log(v / 2) / 2 - mp.loggamma(v / 2) + mp.log(2)
        return mp.ncdf(t * s - nc) * mp.exp(size + (v - 1) * mp.log(s) - v * s * s / 2)

    return mp.quad(density, [0, 0.01, 0.2, 0.6, 1, 1.5, 2, 3, 5, 10])


def kolmogorov(x):
    return 2 * mp.nsum(
        lambda k: (-1) ** (k - 1) * mp.exp(-2 * (k * x) ** 2), [1, mp.inf]
    )


def owens_t(h, a):
    def height(x):
        return mp.exp(-h * h * (1 + x * x) / 2) / (1 + x * x)

    return mp.quad(height, mp.linspace(0, a, 9)) / (2 * mp.pi)


def wofz(z):
    return mp.exp(-z * z) * mp.erfc(-1j * z)


def voigt(x, sigma, gamma):
    z = (x + 1j * gamma) / (sigma * mp.sqrt(2))
    return mp.re(wofz(z)) / (sigma * mp.sqrt(2 * mp.pi))


def boxcox(x, p):
    return mp.log(x) if p == 0 else mp.expm1(p * mp.log(x)) / p


def boxcox1p(x, p):
    return boxcox(1 + x, p)


def bessel_step(f, n):
    return lambda v, z: mp.diff(lambda t: f(v, t), z, n)


def spherical(f, sign):
    factor = 1 if sign != "k" else mp.mpf(1)

    def function(n, z, derivative):
        def plain(t):
            return factor * mp.sqrt(mp.pi / (2 * t)) * f(n + mp.mpf(0.5), t)

        return mp.diff(plain, z) if derivative else plain(z)

    return function


def struve_integral(x):
    return mp.quad(lambda t: mp.struveh(0, t), mp.linspace(0, x, 5))


def jacobi(n, a, b, x):
    factor = mp.gamma(n + a + 1) / (mp.gamma(n + 1) * mp.gamma(a + 1))
    return factor * mp.hyp2f1(-n, n + a + b + 1, a + 1, (1 - x) / 2)


def gegenbauer(n, a, x):
    factor = mp.gamma(n + 2 * a) / (mp.gamma(n + 1) * mp.gamma(2 * a))
    return factor * mp.hyp2f1(-n, n + 2 * a, a + mp.mpf(0.5), (1 - x) / 2)


def laguerre(n, a, x):
    factor = mp.gamma(n + a + 1) / (mp.gamma(n + 1) * mp.gamma(a + 1))
    return factor * mp.hyp1f1(-n, a + 1, x)


def sh_jacobi(n, p, q, x):
    scale = mp.gamma(2 * n + p) / (mp.gamma(n + 1) * mp.gamma(n + p))
    return jacobi(n, p - q, q - 1, 2 * x - 1) / scale


def chebyt(n, x):
    return mp.hyp2f1(-n, n, mp.mpf(0.5), (1 - x) / 2)


def chebyu(n, x):
    return gegenbauer(n, mp.mpf(1), x)


def legendre(n, x):
    return mp.hyp2f1(-n, n + 1, 1, (1 - x) / 2)


def lpmv(m, v, x):
    return mp.legenp(v, m, x)


def wright(a, b, x):
    return mp.nsum(lambda k: x**k / mp.factorial(k) * mp.rgamma(a * k + b), [0, mp.inf])


def hyper_zeta(x, q):
    return mp.zeta(x, q)


def tukey(x, p):
    import scipy.special

    start = float(scipy.special.tklmbda(float(x), float(p)))
    return mp.findroot(lambda u: (u**p - (1 - u) ** p) / p - x, mp.mpf(start))


def dilogarithm(x):
    if 0 < x < HALF:
        return mp.pi**2 / 6 - mp.log(x) * mp.log(1 - x) - mp.polylog(2, x)
    return mp.re(mp.polylog(2, 1 - x))


def airy_scale(z):
    return mp.mpf(2) / 3 * z * mp.sqrt(z)


DEGREE = mp.pi / 180
HALF = mp.mpf(0.5)

FUNCTIONS = {
    "cbrt": lambda x: mp.sign(x) * abs(x) ** (mp.mpf(1) / 3),
    "exp2": lambda x: mp.mpf(2) ** x,
    "exp10": lambda x: mp.mpf(10) ** x,
    "expm1": mp.expm1,
    "log1p": mp.log1p,
    "exprel": lambda x: mp.expm1(x) / x if x else mp.mpf(1),
    "cosm1": lambda x: mp.cos(x) - 1,
    "sindg": lambda x: mp.sin(mp.pi * x / 180),
    "cosdg": lambda x: mp.cos(mp.pi * x / 180),
    "tandg": lambda x: mp.tan(mp.pi * x / 180),
    "cotdg": lambda x: mp.cot(mp.pi * x / 180),
    "entr": lambda x: -x * mp.log(x),
    "log_expit": lambda x: -mp.log1p(mp.exp(-x)),
    "expit": lambda x: 1 / (1 + mp.exp(-x)),
    "logit": lambda x: mp.log(x / (1 - x)),
    "softplus": lambda x: mp.log1p(mp.exp(x)),
    "gamma": mp.gamma,
    "gammaln": lambda x: mp.log(abs(mp.gamma(x))),
    "loggamma": mp.loggamma,
    "digamma": mp.digamma,
    "rgamma": mp.rgamma,
    "polygamma": mp.polygamma,
    "beta": mp.beta,
    "betaln": lambda a, b: mp.log(mp.beta(a, b)),
    "binom": mp.binomial,
    "poch": mp.rf,
    "multigammaln": lambda a, d: sum(mp.loggamma(a - HALF * j) for j in range(d)),
    "erf": mp.erf,
    "erfc": mp.erfc,
    "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x),
    "erfi": mp.erfi,
    "dawsn": lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x),
    "wofz": wofz,
    "erfinv": solved("erfinv", lambda x, p: mp.erf(x) - p),
    "erfcinv": solved("erfcinv", lambda x, p: mp.log(mp.erfc(x) / p)),
    "ndtr": mp.ncdf,
    "log_ndtr": lambda x: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2),
    "ndtri": solved("ndtri", lambda x, p: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2 / p)),
    "ndtri_exp": solved(
        "ndtri_exp", lambda x, y: mp.log(mp.erfc(-x / mp.sqrt(2)) / 2) - y
    ),
    "fresnel": lambda x: (mp.fresnels(x), mp.fresnelc(x)),
    "voigt_profile": voigt,
    "owens_t": owens_t,
    "exp1": mp.e1,
    "expi": mp.ei,
    "expn": mp.expint,
    "sici": lambda x: (mp.si(x), mp.ci(x)),
    "shichi": lambda x: (mp.shi(x), mp.chi(x)),
    "spence": dilogarithm,
    "j0": lambda x: mp.besselj(0, x),
    "j1": lambda x: mp.besselj(1, x),
    "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x),
    "i0": lambda x: mp.besseli(0, x),
    "i1": lambda x: mp.besseli(1, x),
    "k0": lambda x: mp.besselk(0, x),
    "k1": lambda x: mp.besselk(1, x),
    "i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x),
    "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x),
    "k0e": lambda x: mp.exp(x) * mp.besselk(0, x),
    "k1e": lambda x: mp.exp(x) * mp.besselk(1, x),
    "jv": mp.besselj,
    "yv": mp.bessely,
    "iv": mp.besseli,
    "kv": mp.besselk,
    "jve": mp.besselj,
    "yve": mp.bessely,
    "ive": lambda v, x: mp.exp(-x) * mp.besseli(v, x),
    "kve": lambda v, x: mp.exp(x) * mp.besselk(v, x),
    "hankel1": mp.hankel1,
    "hankel2": mp.hankel2,
    "hankel1e": lambda v, x: mp.exp(-1j * x) * mp.hankel1(v, x),
    "hankel2e": lambda v, x: mp.exp(1j * x) * mp.hankel2(v, x),
    "jn": mp.besselj,
    "yn": mp.bessely,
    "kn": mp.besselk,
    "airy": lambda x: (mp.airyai(x), mp.airyai(x, derivative=1), mp.airybi(x),
                       mp.airybi(x, derivative=1)),
    "airye": lambda x: (
        mp.exp(airy_scale(x)) * mp.airyai(x),
        mp.exp(airy_scale(x)) * mp.airyai(x, derivative=1),
        mp.exp(-airy_scale(x)) * mp.airybi(x),
        mp.exp(-airy_scale(x)) * mp.airybi(x, derivative=1),
    ),
    "spherical_jn": spherical(mp.besselj, "j"),
    "spherical_yn": spherical(mp.bessely, "y"),
    "spherical_in": spherical(mp.besseli, "i"),
    "spherical_kn": spherical(mp.besselk, "k"),
    "ber": lambda x: mp.ber(0, x),
    "bei": lambda x: mp.bei(0, x),
    "ker": lambda x: mp.ker(0, x),
    "kei": lambda x: mp.kei(0, x),
    "struve": mp.struveh,
    "modstruve": mp.struvel,
    "itstruve0": struve_integral,
    "pbdv": lambda v, x: (mp.pcfd(v, x), mp.diff(lambda t: mp.pcfd(v, t), x)),
    "hyp0f1": mp.hyp0f1,
    "hyp1f1": mp.hyp1f1,
    "hyp2f1": mp.hyp2f1,
    "hyperu": mp.hyperu,
    "wright_bessel": wright,
    "log_wright_bessel": lambda *args: mp.log(wright(*args)),
    "besselpoly": lambda a, p, v: mp.quad(
        lambda t: t**p * mp.besselj(v, 2 * a * t), [0, HALF, 1]
    ),
    "ellipk": mp.ellipk,
    "ellipe": mp.ellipe,
    "ellipkm1": lambda p: mp.ellipk(1 - p),
    "ellipkinc": mp.ellipf,
    "ellipeinc": mp.ellipe,
    "elliprf": mp.elliprf,
    "elliprd": mp.elliprd,
    "elliprg": mp.elliprg,
    "elliprj": mp.elliprj,
    "elliprc": mp.elliprc,
    "ellipj": lambda u, m: tuple(
        mp.ellipfun(kind, u, m=m) for kind in ("sn", "cn", "dn")
    ),
    "agm": mp.agm,
    "lambertw": lambda z, k, tol: mp.lambertw(z, k),
    "wrightomega": lambda z: mp.re(mp.lambertw(mp.exp(z)))
    if z < 100
    else mp.findroot(lambda w: w + mp.log(w) - z, z - mp.log(z)),
    "zeta": mp.zeta,
    "zetac": lambda x: mp.zeta(x) - 1,
    "kolmogorov": kolmogorov,
    "powm1": lambda x, p: x**p - 1,
    "boxcox": boxcox,
    "boxcox1p": boxcox1p,
    "inv_boxcox": lambda y, p: (1 + p * y) ** (1 / p),
    "inv_boxcox1p": lambda y, p: (1 + p * y) ** (1 / p) - 1,
    "rel_entr": lambda x, y: x * mp.log(x / y),
    "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
    "xlogy": lambda x, y: x * mp.log(y),
    "xlog1py": lambda x, y: x * mp.log1p(y),
    "pseudo_huber": lambda d, r: d * d * (mp.sqrt(1 + (r / d) ** 2) - 1),
    "tklmbda": tukey,
    "eval_legendre": legendre,
    "eval_chebyt": chebyt,
    "eval_chebyu": chebyu,
    "eval_chebyc": lambda n, x: 2 * chebyt(n, x / 2),
    "eval_chebys": lambda n, x: chebyu(n, x / 2),
    "eval_gegenbauer": gegenbauer,
    "eval_jacobi": jacobi,
    "eval_sh_jacobi": sh_jacobi,
    "eval_laguerre": lambda n, x: laguerre(n, mp.mpf(0), x),
    "eval_genlaguerre": laguerre,
    "eval_hermite": mp.hermite,
    "lpmv": lpmv,
    "gammainc": gammainc,
    "gammaincc": gammaincc,
    "gammaincinv": solved("gammaincinv", lambda x, a, p: mp.log(gammainc(a, x) / p)),
    "gammainccinv": solved(
        "gammainccinv", lambda x, a, p: mp.log(gammaincc(a, x) / p)
    ),
    "betainc": betainc,
    "betaincc": betaincc,
    "betaincinv": solved(
        "betaincinv", lambda x, a, b, p: mp.log(betainc(a, b, x) / p)
    ),
    "stdtr": stdtr,
    "stdtrit": solved("stdtrit", lambda t, v, p: stdtr(v, t) - p),
    "fdtr": fdtr,
    "fdtri": solved("fdtri", lambda x, m, n, p: fdtr(m, n, x) - p),
    "chdtr": lambda v, x: gammainc(v / 2, x / 2),
    "chdtrc": lambda v, x: gammaincc(v / 2, x / 2),
    "gdtr": lambda a, b, x: gammainc(b, a * x),
    "bdtr": lambda k, n, p: betaincc(k + 1, n - k, p),
    "nbdtr": lambda k, n, p: betainc(n, k + 1, p),
    "pdtr": lambda k, m: gammaincc(k + 1, m),
    "chndtr": chndtr,
    "ncfdtr": ncfdtr,
    "nctdtr": nctdtr,
}  # fmt: skip


def slopes(name, point, i, order):
    """The value and the derivatives to an order, as tuples of outputs."""
    f = FUNCTIONS[name]
    args = [mp.mpf(x) if isinstance(x, float) else x for x in point]
    first = f(*args)
    several = isinstance(first, tuple)

    def output(k):
        def along(x):
            y = f(*args[:i], x, *args[i + 1 :])
            return y[k] if several else y

        near = [abs(args[i]), abs(1 - args[i]), mp.mpf(1)]  # edges of many domains
        step = mp.mpf(10) ** -12 * min(distance for distance in near if distance)
        return [along(args[i])] + [
            mp.diff(along, args[i], n, h=step) for n in range(1, order + 1)
        ]

    columns = [output(k) for k in range(len(first) if several else 1)]
    return [[parts(column[n]) for column in columns] for n in range(order + 1)]


def parts(z):
    return [float(mp.re(z)), float(mp.im(z))] if mp.im(z) else float(mp.re(z))


# Sums and integrals, which take long at many digits.
SLOW = "nctdtr owens_t besselpoly wright_bessel log_wright_bessel itstruve0".split()


def rows_of(name):
    """The point, the argument and the derivatives of every case of a function."""
    mp.mp.dps = 34 if name in SLOW else 45  # two thirds are left at second order
    for point in [*POINTS.get(name, []), *AWKWARD.get(name, [])]:
        for i, x in enumerate(point):
            if isinstance(x, float) and (name, i) != ("lambertw", 2):
                try:
                    yield [point, i, slopes(name, point, i, 2)]
                except (ValueError, ZeroDivisionError, NotImplementedError) as e:
                    print(name, point, i, type(e).__name__, e)


def write(table):
    TABLE.write_text(json.dumps(table), encoding="utf-8")


def load():
    return json.loads(TABLE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    table = load() if sys.argv[1:] else {}
    for name in sys.argv[1:] or sorted(FUNCTIONS, key=lambda name: name in SLOW):
        table[name] = list(rows_of(name))
        write(table)
