"""Styles of rules: which are written, and of what their pullbacks are made."""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np

import rules_core as rc
from rules_core import HasForwardsMode, HasReverseMode, NoTangent, Pullback, RuleConfig
from tests.interop.catalogue.steps import order
from tests.interop.catalogue.style import (
    constant,
    curve,
    hidden,
    never,
    on_host,
    slopes,
    style,
)


def define_rrule(f, pullback_at, **options):
    @rc.rrule.define(f, **options)
    def curve_rrule(a: rc.Array, b: rc.Array):
        return f(a, b), pullback_at(a, b)

    return f


def define_frule(f, **options):
    @rc.frule.define(f, **options)
    def curve_frule(tangents, a: rc.Array, b: rc.Array):
        da, db = slopes(a, b)
        return f(a, b), da * tangents[1] + db * tangents[2]

    return f


def closure(a, b):
    da, db = slopes(a, b)
    return lambda dy: (NoTangent(), da * dy, db * dy)


@style("rrule only")
def rrule_only():
    return define_rrule(hidden(), closure)


@style("frule only")
def frule_only():
    return define_frule(hidden())


@style("both rules")
def both():
    return define_frule(define_rrule(hidden(), closure))


@style("scalar_rule")
def scalar():
    f = hidden()
    rc.scalar_rule(f, lambda y, a, b: slopes(a, b))
    return f


def linear_plain(x, p):
    return curve(x, p) + 3 * curve(p, x)


@style("linear_rule", linear_plain)
def linear():
    @rc.primitive
    def mix(u, v):
        u, v = constant(u, v)
        return u + 3 * v

    rc.linear_rule(mix, lambda dy, u, v: (dy, 3 * dy), argnums=(0, 1))
    return lambda x, p: mix(curve(x, p), curve(p, x))


def of_residuals(da, db, dy):
    return NoTangent(), da * dy, db * dy


def of_module(xp, two, a, b, dy):
    return NoTangent(), xp.cos(a) * b * b * dy, two * xp.sin(a) * b * dy


class Kept:
    """An object that no library knows."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def slopes(self):
        return slopes(self.a, self.b)

    def pull(self, dy):
        return of_residuals(*self.slopes(), dy)


def of_object(kept, dy):
    return kept.pull(dy)


def of_packed(packed, dy):
    return NoTangent(), packed[0] * dy, packed[1] * dy


def of_dict(kept, dy):
    return of_residuals(*kept["slopes"], dy)


def packed(a, b):
    return Pullback(of_packed, rc.array_namespace(a, b).stack(slopes(a, b)))


def packed_matrix(a, b):
    """Only half of what it packed depends on each argument."""
    xp = rc.array_namespace(a, b)
    both = xp.concat([xp.cos(a), b, xp.sin(a)])

    def pullback(dy):
        cos, b, sin = both[:2], both[2:4], both[4:]
        return NoTangent(), cos * b * b * dy, 2 * sin * b * dy

    return pullback


def handles():
    """Two primitives with rules of their own, sine and cosine."""

    @rc.primitive
    def sine(a):
        (a,) = constant(a)
        return rc.array_namespace(a).sin(a)

    @rc.primitive
    def cosine(a):
        (a,) = constant(a)
        return rc.array_namespace(a).cos(a)

    rc.scalar_rule(sine, lambda y, a: (cosine(a),))
    rc.scalar_rule(cosine, lambda y, a: (-sine(a),))
    return sine, cosine


def of_handles(sine, cosine, a, b, dy):
    return NoTangent(), cosine(a) * b * b * dy, 2 * sine(a) * b * dy


@style("Pullback over other primitives")
def over_primitives():
    sine, cosine = handles()
    return define_rrule(hidden(), partial(Pullback, of_handles, sine, cosine))


@style("closure over other primitives")
def closure_over_primitives():
    sine, cosine = handles()
    return define_rrule(
        hidden(), lambda a, b: lambda dy: of_handles(sine, cosine, a, b, dy)
    )


def memoising(a, b):
    kept = None

    def pullback(dy):
        nonlocal kept
        if kept is None:
            kept = slopes(a, b)
        return of_residuals(*kept, dy)

    return pullback


def in_a_dict(a, b):
    kept = {}

    def pullback(dy):
        da, db = kept.setdefault("slopes", slopes(a, b))
        return NoTangent(), da * dy, db * dy

    return pullback


def in_a_cache(a, b):
    slope = lru_cache(lambda: slopes(a, b))
    return lambda dy: of_residuals(*slope(), dy)


def in_a_thunk(a, b):
    slope = rc.thunk(lambda: slopes(a, b))
    return lambda dy: of_residuals(*rc.unthunk(slope), dy)


def with_defaults(a, b):
    def pullback(dy, da=slopes(a, b)[0], *, db=slopes(a, b)[1]):  # noqa: B008
        return NoTangent(), da * dy, db * dy

    return pullback


def thunks(a, b):
    da, db = slopes(a, b)
    return lambda dy: (
        NoTangent(),
        rc.thunk(lambda: da * dy),
        rc.thunk(lambda: db * dy),
    )


def inplaceable(a, b):
    da, db = slopes(a, b)

    def pullback(dy):
        first = rc.InplaceableThunk(lambda t: t + da * dy, rc.thunk(lambda: da * dy))
        return NoTangent(), first, db * dy

    return pullback


PULLBACKS = {
    "Pullback over tensors": lambda a, b: Pullback(of_residuals, *slopes(a, b)),
    "Pullback over constants and modules": lambda a, b: Pullback(
        of_module, rc.array_namespace(a, b), 2, a, b
    ),
    "Pullback over an object": lambda a, b: Pullback(of_object, Kept(a, b)),
    "Pullback over a packed array": packed,
    "Pullback over a dict": lambda a, b: Pullback(of_dict, {"slopes": slopes(a, b)}),
    "closure over a packed array": packed_matrix,
    "bound method": lambda a, b: Kept(a, b).pull,
    "partial": lambda a, b: partial(of_residuals, *slopes(a, b)),
    "closure that memoises": memoising,
    "closure that memoises in a dict": in_a_dict,
    "closure over a cached function": in_a_cache,
    "closure over a thunk": in_a_thunk,
    "closure with defaults": with_defaults,
    "thunks": thunks,
    "in-place thunks": inplaceable,
}


def hides(host, word):
    """Torch must find the tensors of a pullback, and says where it cannot."""
    return host == "torch"


def fresh(pullback_at):
    return define_rrule(hidden(), pullback_at)


for _name, _pullback in PULLBACKS.items():
    _hidden = _name == "closure over a cached function"
    style(_name, may_refuse=hides if _hidden else never)(partial(fresh, _pullback))


@style("needs")
def needs():
    f = hidden()

    @rc.rrule.define(f)
    def curve_rrule(a, b, *, needs):
        da, db = slopes(a, b)
        da, db = (
            d if wanted else None for d, wanted in zip((da, db), needs, strict=True)
        )

        def pullback(dy):
            first = rc.ZeroTangent() if da is None else da * dy
            return NoTangent(), first, None if db is None else db * dy

        return f(a, b), pullback

    return f


@style("needs in an frule")
def needs_forward():
    f = hidden()

    @rc.frule.define(f)
    def curve_frule(tangents, a, b, *, needs):
        both = zip(slopes(a, b), tangents[1:], needs, strict=True)
        terms = [slope * tangent for slope, tangent, wanted in both if wanted]
        return f(a, b), sum(terms[1:], terms[0]) if terms else rc.ZeroTangent()

    return f


def zeros_plain(x, p):
    return curve(x, p) + 2 * curve(p, x) * x


def pair():
    """`curve` both ways round, of which programs use one or the other."""

    @rc.primitive
    def both_curves(a, b):
        a, b = constant(a, b)
        return curve(a, b), curve(b, a)

    return both_curves


def uses_of_pair(f):
    """One call of which the first result is used, one of which the other is."""

    def program(x, p):
        return f(x, p)[0] + 2 * f(x, p)[1] * x

    return program


@style("symbolic zeros in an rrule", zeros_plain)
def symbolic_zeros():
    f = pair()

    @rc.rrule.define(f, symbolic_zeros=True)
    def pair_rrule(a, b):
        (da, db), (eb, ea) = slopes(a, b), slopes(b, a)

        def pullback(dy):
            return NoTangent(), dy[0] * da + dy[1] * ea, dy[0] * db + dy[1] * eb

        return f(a, b), pullback

    return uses_of_pair(f)


@style("symbolic zeros in an frule", zeros_plain)
def symbolic_zeros_forward():
    f = pair()

    @rc.frule.define(f, symbolic_zeros=True)
    def pair_frule(tangents, a, b):
        (da, db), (eb, ea) = slopes(a, b), slopes(b, a)
        _, ta, tb = tangents
        return f(a, b), (ta * da + tb * db, ta * ea + tb * eb)

    return uses_of_pair(f)


@style("rrule by way of AD")
def via_reverse():
    f = hidden()

    @rc.rrule.define(f, config=RuleConfig[HasReverseMode])
    def curve_rrule(config, a, b):
        y, pullback = rc.rrule_via_ad(config, curve, a, b)
        return y, lambda dy: (NoTangent(), *pullback(dy)[1:])

    return f


@style("frule by way of AD")
def via_forward():
    f = hidden()

    @rc.frule.define(f, config=RuleConfig[HasForwardsMode])
    def curve_frule(config, tangents, a, b):
        return rc.frule_via_ad(config, (NoTangent(), *tangents[1:]), curve, a, b)

    return f


def one_mode(*kinds):
    """NumPy-only rules have one order, no transposed mode and no compiled form."""
    missing = set(meaning_of(*kinds))

    def may_refuse(host, word):
        traced = missing | {"linearize", *COMPILED}
        return host != "engine" and (order(word) > 1 or bool(traced & set(word)))

    return may_refuse


FORWARD = ("jvp", "jacfwd", "forward_ad")
REVERSE = ("vjp", "grad", "grad_p", "jacrev", "autograd", "backward")
COMPILED = ("aot_eager", "inductor")


def meaning_of(*kinds):
    """The transforms of the modes that a rule must be transposed for."""
    forward = () if "frule" in kinds else FORWARD
    return forward + (() if "rrule" in kinds else REVERSE)


@style("host, generic rrule")
def host_rrule():
    return define_rrule(on_host(), closure)


@style("host, generic frule")
def host_frule():
    return define_frule(on_host())


@style("host, elementwise, scalar_rule")
def host_scalar():
    f = on_host(elementwise=True)
    rc.scalar_rule(f, lambda y, a, b: slopes(a, b))
    return f


@style("host, batch rule")
def host_batch():
    f = on_host()

    @rc.batch_rule.define(f)
    def curve_batch(axis_size, in_batched, a, b):
        return np.sin(a) * b * b, True

    return define_frule(define_rrule(f, closure))


@style("host, no rule")
def host_derived():
    return on_host()


@style("rrule with host=True", may_refuse=one_mode("rrule"))
def numpy_rrule():
    return define_rrule(on_host(), closure, host=True)


@style("frule with host=True", may_refuse=one_mode("frule"))
def numpy_frule():
    return define_frule(on_host(), host=True)


@style("both with host=True", may_refuse=one_mode("rrule", "frule"))
def numpy_both():
    f = define_rrule(on_host(), closure, host=True)
    return define_frule(f, host=True)


@style("scalar_rule with host=True", may_refuse=one_mode("rrule", "frule"))
def numpy_scalar():
    f = on_host(elementwise=True)
    rc.scalar_rule(f, lambda y, a, b: slopes(a, b), host=True)
    return f
