"""JAX's AD as rules see it: `rrule_via_ad` and `frule_via_ad` with `JaxConfig`."""

import jax
import jax.numpy as jnp
import numpy as np

import rules_core as rc
from rules_core import NoTangent
from rules_jax import JaxConfig


def test_config_on_its_own():
    config = JaxConfig()
    y, dy = rc.frule_via_ad(
        config, (NoTangent(), jnp.asarray(2.0)), jnp.sin, jnp.asarray(0.0)
    )
    assert (float(y), float(dy)) == (0, 2)
    y, pull = rc.rrule_via_ad(config, lambda x, n: x**n, jnp.asarray(3.0), 2)
    assert float(y) == 9
    df, dx, dn = pull(jnp.asarray(1.0))
    assert float(dx) == 6
    assert isinstance(df, NoTangent)
    assert isinstance(dn, NoTangent)


def test_config_and_complex_numbers():
    z = jnp.asarray(1 + 2j)
    _, pull = rc.rrule_via_ad(JaxConfig(), lambda z: z**2, z)
    found = pull(jnp.asarray(1 + 0j))[1]
    assert complex(found) == np.conj(2 * (1 + 2j))


def test_config_and_several_results():
    y, pull = rc.rrule_via_ad(
        JaxConfig(),
        lambda d: {"s": d["a"] * 2, "n": jnp.asarray(3)},
        {"a": jnp.asarray(1.0)},
    )
    assert int(y["n"]) == 3
    found = pull(rc.Tangent(dict, {"s": jnp.asarray(5.0)}))
    assert float(found[1]["a"]) == 10


def test_captured_values_have_a_tangent():
    c = jnp.asarray(3.0)
    seen = []

    def outer(c):
        y, pull = rc.rrule_via_ad(JaxConfig(), lambda x: c * x, jnp.asarray(2.0))
        seen.append(pull(jnp.ones_like(y)))
        return y

    jax.make_jaxpr(outer)(c)
    df = seen[0][0]
    assert isinstance(df, rc.Tangent)
