"""A process ends while host functions are called natively: it waits."""

import os
import subprocess
import sys

import pytest

import hatch_build
from tests.adapters.jax.devices import ROOT

pytestmark = pytest.mark.skipif(
    hatch_build.compiler() is None, reason="installed without a C compiler"
)

ENDS = {
    "in flight": "",
    "first is ready": "y.block_until_ready(); z = f(x, 0.5)",
    "taken down": """
del y
jax.clear_caches()
import jax.extend
jax.extend.backend.clear_backends()
""",
    "error": "raise SystemExit(3)",
    "exit function": """
import atexit
@atexit.register
def report():
    assert np.isfinite(y).all()
    print("seen")
""",
    "printed": "jax.debug.callback(lambda total: print('seen'), y.sum())",
    "printed by the program": """
jax.jit(lambda x: jax.debug.callback(lambda y: print("seen"), f(x, 0.7).sum()))(x)
""",
    "in a loop": """
z = jax.lax.fori_loop(0, 10**4, lambda i, z: f(z, 0.3) + 0.1, x[:100])
""",
    "exception in a loop": """
power = rc.primitive(np.power, host=True, elementwise=True)
z = jax.jit(power)(jnp.arange(1, 10**6), jnp.arange(1, 10**6) - 999_998)
""",
}
ENDING = """
import jax, jax.numpy as jnp, numpy as np, rules_core as rc
from rules_scipy import special
jax.config.update("jax_enable_x64", True)
x = jnp.linspace(0.1, 3, 10**6)
f = jax.jit(lambda x, v: special.kv(v, x))
y = f(x, 0.3)
"""


@pytest.mark.parametrize(
    "end",
    ["in flight", *(pytest.param(end, marks=pytest.mark.full) for end in [*ENDS][1:])],
)
def test_a_process_ends_while_calls_are_in_flight(end):
    """XLA's threads must not ask for the interpreter while it waits for them."""
    done = subprocess.run(
        [sys.executable, "-c", ENDING + ENDS[end]],
        env={**os.environ, "JAX_PLATFORMS": "cpu"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == (3 if end == "error" else 0), done.stderr
    assert done.stdout == ("seen\n" if "seen" in ENDS[end] else "")
    assert not done.stderr
