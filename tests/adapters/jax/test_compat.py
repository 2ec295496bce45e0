"""Each private or experimental name of JAX that the adapter touches, on its own."""

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.jet import jet
from jax.extend.core import Primitive

from rules_jax import _compat


def test_linearisation_rules_are_found():
    assert _compat.HAS_LINEARIZATIONS


def test_linearisation_rule():
    p = Primitive("test_square")
    p.multiple_results = True
    p.def_abstract_eval(lambda x: [x])
    p.def_impl(lambda x: [x * x])
    seen = []

    def linearize(reverse, nonzero, x):
        seen.append((reverse, list(nonzero)))
        return [x * x], [True], [x], lambda saved, dx: [3 * saved[0] * dx]

    _compat.set_linearization(p, linearize)
    assert jax.grad(lambda x: p.bind(x)[0])(2.0) == 6
    assert jax.linearize(lambda x: p.bind(x)[0], 2.0)[1](1.0) == 6
    assert seen == [(True, [True]), (False, [True])]


def test_taylor_rule():
    p = Primitive("test_double")
    p.multiple_results = True
    p.def_impl(lambda x: [2 * x])
    p.def_abstract_eval(lambda x: [x])

    def push(primals, series):
        return [2 * primals[0]], [[2 * c for c in series[0]]]

    _compat.set_taylor(p, push)
    y, terms = jet(lambda x: p.bind(x)[0], (3.0,), ((1.0, 4.0),))
    assert (y, *terms) == (6.0, 2.0, 8.0)


def test_zeros_and_cotangent_types():
    aval = jax.typeof(jnp.ones((2, 3), jnp.bfloat16))
    zeros = _compat.zeros_of(aval)
    assert (zeros.shape, zeros.dtype) == ((2, 3), jnp.bfloat16)
    integer = jax.typeof(jnp.arange(3))
    assert _compat.cotangent_aval(integer).dtype == jax.dtypes.float0
    assert _compat.float0_zeros(integer).dtype == jax.dtypes.float0
    assert isinstance(_compat.Zero(aval), _compat.Zero)


def test_weak_types():
    x = jnp.arange(2, dtype="float32")
    for run in (_compat.weaken, jax.jit(_compat.weaken)):
        assert run(x).weak_type
        assert run(x).dtype == jnp.float32
    assert jax.grad(lambda x: _compat.weaken(x).sum())(x).tolist() == [1, 1]


def test_trace_key_follows_what_tracing_depends_on():
    first = _compat.trace_key()
    assert hash(first) == hash(_compat.trace_key())
    with jax.enable_x64(not jax.config.jax_enable_x64):
        assert _compat.trace_key() != first
    seen = []
    jax.vmap(lambda x: seen.append(_compat.trace_key()) or x, axis_name="i")(
        jnp.ones(2)
    )
    assert seen[0] != first


def test_top_level():
    seen = [_compat.at_top_level()]
    jax.jit(lambda x: seen.append(_compat.at_top_level()) or x)(1.0)
    jax.vmap(lambda x: seen.append(_compat.at_top_level()) or x)(jnp.ones(1))
    assert seen == [True, False, False]


def test_partial_evaluation():
    closed = jax.make_jaxpr(lambda x, t: (jnp.sin(x), jnp.cos(x) * t))(1.0, 1.0)
    known, unknown, depends = _compat.partial_eval(closed, [False, True], [False, True])
    assert depends == [False, True]
    assert {e.primitive.name for e in known.jaxpr.eqns} == {"sin", "cos"}
    assert {e.primitive.name for e in unknown.jaxpr.eqns} == {"mul"}


def test_jaxprs_without_constants():
    c = jnp.arange(3.0)
    closed = jax.make_jaxpr(lambda x: x * c)(1.0)
    jaxpr = _compat.without_consts(closed)
    assert len(jaxpr.invars) == len(closed.consts) + 1
    assert list(jaxpr.constvars) == []
    found = jax.core.eval_jaxpr(jaxpr, (), *closed.consts, 2.0)
    assert found[0].tolist() == [0, 2, 4]


def test_jaxprs_without_what_is_not_used():
    jaxpr = jax.make_jaxpr(lambda x, y: (jnp.sin(x), jnp.cos(y)))(1.0, 1.0).jaxpr
    kept, needed = _compat.pruned(jaxpr, [False, True])
    assert needed == [False, True]
    assert [e.primitive.name for e in kept.eqns] == ["cos"]
    assert jax.core.eval_jaxpr(kept, (), 0.0) == [1.0]


def test_axis_keywords_make_the_same_axis_again():
    p = Primitive("test_axis")
    seen = []

    def batch(axis, args, dims):
        seen.append(_compat.axis_keywords(axis))
        return args[0], dims[0]

    _compat.fancy_batcher(p, batch)
    jax.vmap(p.bind)(jnp.ones(3))
    jax.vmap(p.bind, axis_name="i")(jnp.ones(2))
    assert [s["axis_size"] for s in seen] == [3, 2]
    assert [s["axis_name"] for s in seen] == [None, "i"]


def test_derivatives_and_lowering_of_an_own_primitive():
    p = Primitive("test_twice")
    p.multiple_results = True
    p.def_abstract_eval(lambda x: [x])
    p.def_impl(lambda x: [x * 2])
    _compat.lower_by_tracing(p, lambda x: [x * 2])

    def jvp(primals, tangents):
        return p.bind(*primals), p.bind(*tangents)

    def transpose(cts, x):
        assert _compat.is_undefined_primal(x)
        return [cts[0] * 2]

    _compat.set_derivatives(p, jvp=jvp, transpose=transpose)
    assert jax.jit(lambda x: p.bind(x)[0])(3.0) == 6
    assert jax.jit(jax.grad(lambda x: p.bind(x)[0]))(3.0) == 2


def test_varying_axes():
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    spec = jax.sharding.PartitionSpec("d")
    seen = {}

    def body(x):
        aval = jax.typeof(x)
        like = _compat.placed_like((2, 3), np.dtype("float32"), [aval], (None, None))
        plain = jnp.ones(1)
        seen.update(
            aval=_compat.varying_axes(aval),
            like=(_compat.varying_axes(like), like.shape, str(like.dtype)),
            spread=_compat.varying_axes(jax.typeof(_compat.match_varying(plain, aval))),
            summed=_compat.varying_axes(
                jax.typeof(_compat.match_varying(x, jax.typeof(plain)))
            ),
        )
        return x

    jax.jit(jax.shard_map(body, mesh=mesh, in_specs=spec, out_specs=spec))(jnp.ones(1))
    axis = frozenset({"d"})
    assert seen["aval"] == seen["spread"] == axis
    assert seen["like"] == (axis, (2, 3), "float32")
    assert seen["summed"] == frozenset()
    assert _compat.varying_axes(jax.typeof(jnp.ones(1))) == frozenset()


def test_double_precision_context():
    with _compat.enable_x64(False):
        assert jnp.ones(1).dtype == jnp.float32
    with _compat.enable_x64(True):
        assert jnp.ones(1).dtype == jnp.float64


def test_no_other_module_touches_private_names():
    from pathlib import Path

    import rules_jax

    for path in Path(rules_jax.__file__).parent.rglob("*.py"):
        text = path.read_text()
        private = "jax._src" in text or "jax.experimental" in text
        assert private == (path.name == "_compat.py"), path.name


def test_parameters_are_held_weakly():
    import gc
    import weakref

    @_compat.held_weakly
    class Parameter:
        pass

    p = Primitive("test_parameter")
    p.def_abstract_eval(lambda x, *, of: x)

    def use():
        parameter = Parameter()
        jax.make_jaxpr(lambda x: p.bind(x, of=parameter))(1.0)
        return weakref.ref(parameter)

    gone = use()
    gc.collect()
    assert gone() is None


def test_scan_counts():
    def program(a, b, c, xs):
        return jax.lax.scan(lambda pair, x: ((pair[0] * a, pair[1] + x), x), (b, c), xs)

    jaxpr = jax.make_jaxpr(program)(1.0, 2.0, 3.0, jnp.ones(4))
    (eqn,) = [eqn for eqn in jaxpr.eqns if eqn.primitive.name == "scan"]
    assert _compat.scan_counts(eqn.params) == (1, 2)
