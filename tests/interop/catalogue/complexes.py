"""Styles of complex numbers: as arguments, as results, beside real ones."""

from __future__ import annotations

from functools import partial

import rules_core as rc
from rules_core import NoTangent, Tangent
from tests.interop.catalogue.style import constant, never, style


def number(x, p):
    """The complex number of two real ones."""
    return x + 1j * p


def real(z):
    return rc.array_namespace(z).real(z)


def imag(z):
    return rc.array_namespace(z).imag(z)


def conj(z):
    return rc.array_namespace(z).conj(z)


def weighed(y):
    """A real number that both parts of a complex one decide."""
    return real(y) + 2 * imag(y) * real(y)


def wave(z):
    """`z sin(z)`, which is holomorphic."""
    return rc.array_namespace(z).sin(z) * z


def wave_slope(z):
    xp = rc.array_namespace(z)
    return xp.cos(z) * z + xp.sin(z)


def wave_plain(x, p):
    return weighed(wave(number(x, p)))


def define(f, modes, pull, push, **options):
    """Rules of a function of one argument, of the modes that are wanted."""
    if "rrule" in modes:
        rc.rrule.define(f, **options)(
            lambda z: (f(z), lambda dy: (NoTangent(), pull(z, dy)))
        )
    if "frule" in modes:
        rc.frule.define(f, **options)(lambda ts, z: (f(z), push(z, ts[1])))


def of_one(body, modes, pull, push, host, dtype=None):
    """A primitive of one argument, whose body has no derivative of its own."""
    f = rc.primitive(host=host)(lambda z: body(*constant(z)))
    if host:
        rc.shape_rule.define(f)(lambda z: rc.ShapeDtype(z.shape, dtype or z.dtype))
    define(f, modes, pull, push)
    return f


def holomorphic(modes, host):
    f = of_one(
        wave,
        modes,
        lambda z, dy: conj(wave_slope(z)) * dy,
        lambda z, dz: wave_slope(z) * dz,
        host,
    )
    return lambda x, p: weighed(f(number(x, p)))


def conjugated(modes, host):
    f = of_one(
        lambda z: conj(z) * z * z,
        modes,
        lambda z, dy: z * z * conj(dy) + 2 * conj(conj(z) * z) * dy,
        lambda z, dz: z * z * conj(dz) + 2 * conj(z) * z * dz,
        host,
    )
    return lambda x, p: weighed(f(number(x, p)))


def conjugated_plain(x, p):
    z = number(x, p)
    return weighed(conj(z) * z * z)


def absolute(modes, host):
    f = of_one(
        lambda z: real(conj(z) * z),
        modes,
        lambda z, dy: 2 * z * dy,
        lambda z, dz: 2 * real(conj(z) * dz),
        host,
        "float64",
    )
    return lambda x, p: f(number(x, p)) * x


def absolute_plain(x, p):
    return (x * x + p * p) * x


def turning(modes, host):
    """`exp(i x)` of a real number, whose pullback returns a complex one."""
    f = of_one(
        lambda x: rc.array_namespace(x).exp(1j * x),
        modes,
        lambda x, dy: conj(1j * rc.array_namespace(x).exp(1j * x)) * dy,
        lambda x, dx: 1j * rc.array_namespace(x).exp(1j * x) * dx,
        host,
        "complex128",
    )
    return lambda x, p: weighed(f(x * p))


def turning_plain(x, p):
    return weighed(rc.array_namespace(x).exp(1j * (x * p)))


KINDS = {
    "holomorphic": (holomorphic, wave_plain),
    "not holomorphic": (conjugated, conjugated_plain),
    "of real value": (absolute, absolute_plain),
    "of a real argument": (turning, turning_plain),
}
for _name, (_make, _plain) in KINDS.items():
    for _modes in (("rrule",), ("frule",), ("rrule", "frule")):
        for _host in (False, True):
            _words = f"{' and '.join(_modes)}{', host' if _host else ''}"
            style(f"complex, {_name}, {_words}", _plain)(partial(_make, _modes, _host))


def scalar(body, partial_of, flags, dtype=None, **claims):
    f = rc.primitive(**flags)(lambda z: body(*constant(z)))
    if flags and not f.elementwise:
        rc.shape_rule.define(f)(lambda z: rc.ShapeDtype(z.shape, dtype or z.dtype))
    rc.scalar_rule(f, lambda y, z: (partial_of(z),), **claims)
    return f


def claims_too_much(host, word):
    """A function that is declared elementwise has a complex result there."""
    return host != "engine"


for _words, _flags in {
    "scalar_rule": {},
    "scalar_rule, host": {"host": True},
    "scalar_rule, host, elementwise": {"host": True, "elementwise": True},
}.items():

    @style(f"complex, holomorphic, {_words}", wave_plain)
    def scalar_holomorphic(flags=_flags):
        f = scalar(wave, wave_slope, flags, holomorphic=True)
        return lambda x, p: weighed(f(number(x, p)))

    _may = claims_too_much if "elementwise" in _flags else never

    @style(f"complex, of real value, {_words}", absolute_plain, may_refuse=_may)
    def scalar_absolute(flags=_flags):
        f = scalar(
            lambda z: real(conj(z) * z),
            lambda z: 2 * conj(z),
            flags,
            "float64",
            real_valued=True,
        )
        return lambda x, p: real(f(number(x, p))) * x


@style("complex, linear_rule", lambda x, p: weighed((2 + 1j) * wave(number(x, p))))
def linear():
    f = rc.primitive(lambda z: (2 + 1j) * constant(z)[0])
    rc.linear_rule(f, lambda dy, z: ((2 - 1j) * dy,), argnums=(0,))
    return lambda x, p: weighed(f(wave(number(x, p))))


def mixed_body(a, z):
    return rc.array_namespace(a).sin(a) * z * z


def mixed_plain(x, p):
    return weighed(mixed_body(x * p, number(x, p)))


def mixed(modes, host, packed):
    """A real and a complex argument, apart or in a dict."""

    def parts(c):
        return (c["a"], c["z"]) if packed else c

    def body(*c):
        a, z = constant(*parts(c[0] if packed else c))
        return mixed_body(a, z)

    f = rc.primitive(host=host)(
        (lambda c: body(c)) if packed else (lambda a, z: body(a, z))
    )

    def slopes(a, z):
        xp = rc.array_namespace(a, z)
        return xp.cos(a) * z * z, 2 * xp.sin(a) * z

    def rrule(*c):
        da, dz = map(conj, slopes(*parts(c[0] if packed else c)))

        def pullback(dy):
            if packed:
                return NoTangent(), Tangent(dict, {"a": da * dy, "z": dz * dy})
            return NoTangent(), da * dy, dz * dy

        return f(*c), pullback

    def frule(tangents, *c):
        da, dz = slopes(*parts(c[0] if packed else c))
        ta, tz = parts(tangents[1] if packed else tangents[1:])
        return f(*c), da * ta + dz * tz

    if host:
        rc.shape_rule.define(f)(
            lambda *c: rc.ShapeDtype(
                parts(c[0] if packed else c)[1].shape, "complex128"
            )
        )
    if "rrule" in modes:
        rc.rrule.define(f)(rrule)
    if "frule" in modes:
        rc.frule.define(f)(frule)

    def program(x, p):
        a, z = x * p, number(x, p)
        return weighed(f({"a": a, "z": z}) if packed else f(a, z))

    return program


for _modes in (("rrule",), ("frule",)):
    for _host in (False, True):
        for _packed in (False, True):
            _words = f"{_modes[0]}{', host' if _host else ''}"
            _where = "in a dict with" if _packed else "beside"
            style(f"complex {_where} a real argument, {_words}", mixed_plain)(
                partial(mixed, _modes, _host, _packed)
            )


def several_plain(x, p):
    z = number(x, p)
    return weighed(z * z) * real(conj(z) * z)


def several(modes, host):
    """A complex result and a real one."""

    def body(z):
        (z,) = constant(z)
        return z * z, real(conj(z) * z)

    f = rc.primitive(host=host)(body)
    if host:
        rc.shape_rule.define(f)(
            lambda z: (rc.ShapeDtype(z.shape, z.dtype), rc.ShapeDtype(z.shape, "f8"))
        )
    define(
        f,
        modes,
        lambda z, dy: 2 * conj(z) * dy[0] + 2 * z * dy[1],
        lambda z, dz: (2 * z * dz, 2 * real(conj(z) * dz)),
    )

    def program(x, p):
        square, size = f(number(x, p))
        return weighed(square) * size

    return program


for _modes in (("rrule",), ("frule",)):
    for _host in (False, True):
        _words = f"{_modes[0]}{', host' if _host else ''}"
        style(f"complex result beside a real one, {_words}", several_plain)(
            partial(several, _modes, _host)
        )


@style("complex constant", lambda x, p: weighed((0.5 + 2j) * wave(number(x, p))))
def constant_number():
    f = rc.primitive(lambda z, c: c * wave(*constant(z)))

    @rc.rrule.define(f)
    def times_rrule(z, c):
        slope = conj(c * wave_slope(z))
        return f(z, c), lambda dy: (NoTangent(), slope * dy, rc.ZeroTangent())

    return lambda x, p: weighed(f(number(x, p), 0.5 + 2j))
