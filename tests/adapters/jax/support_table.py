"""The table of what each back end supports, found by trying it with marker rules.

`python tests/adapters/jax/support_table.py` prints it for docs/how-to; the test beside
it compares. A frule 2 times and an rrule 3 times too large say which of them ran.
"""

import math

import jax
import jax.numpy as jnp
from jax.experimental.jet import jet

import rules_core as rc
from rules_core import NoTangent
from rules_jax import to_jax

X = jnp.asarray(0.7)
RULES = {"primitive": "fr", "linear": "fr", "custom_vjp": "r", "custom_jvp": "f"}


def marked(rules, via):
    """sin with marker rules."""

    @rc.primitive
    def f(x):
        return rc.array_namespace(x).sin(x)

    if "f" in rules:

        @rc.frule.define(f)
        def f_frule(tangents, x):
            return f(x), 2 * rc.array_namespace(x).cos(x) * tangents[1]

    if "r" in rules:

        @rc.rrule.define(f)
        def f_rrule(x):
            xp = rc.array_namespace(x)
            return f(x), lambda dy: (NoTangent(), 3 * xp.cos(x) * dy)

    return to_jax(f, via=via)


def _jvp(f):
    return lambda x: jax.jvp(f, (x,), (jnp.ones_like(x),))[1]


def _scan(f):
    return lambda x: jax.lax.scan(lambda c, _: (f(c), None), x, None, length=1)[0]


def _transposed(f):
    def run(x):
        _, linear = jax.linearize(f, x)
        return jax.linear_transpose(linear, x)(jnp.ones_like(x))[0]

    return run


ROWS = {
    "`jax.jit(f)`": (0, jax.jit),
    "`jax.vmap(f)`": (0, lambda f: lambda x: jax.vmap(f)(x[None])[0]),
    "`jax.grad(f)`, `vjp`, `jacrev`": (1, jax.grad),
    "`jax.jit(jax.grad(f))`": (1, lambda f: jax.jit(jax.grad(f))),
    "`jax.grad` of `jit(f)`": (1, lambda f: jax.grad(jax.jit(f))),
    "`jax.grad` of `vmap(f)`": (
        1,
        lambda f: jax.grad(lambda x: jax.vmap(f)(x[None])[0]),
    ),
    "`jax.vmap(jax.grad(f))`": (
        1,
        lambda f: lambda x: jax.vmap(jax.grad(f))(x[None])[0],
    ),
    "`jax.grad` of `checkpoint(f)`": (1, lambda f: jax.grad(jax.checkpoint(f))),
    "`jax.grad` of `lax.scan`": (1, lambda f: jax.grad(_scan(f))),
    "`jax.grad` of `lax.cond`": (
        1,
        lambda f: jax.grad(lambda x: jax.lax.cond(x > 0, f, jnp.cos, x)),
    ),
    "`jax.jvp(f)`, `jacfwd`": (1, _jvp),
    "`jax.jvp` of `vmap(f)`": (
        1,
        lambda f: _jvp(lambda x: jax.vmap(f)(x[None])[0]),
    ),
    "`jax.jvp` of `lax.while_loop`": (
        1,
        lambda f: _jvp(
            lambda x: jax.lax.while_loop(
                lambda c: c[0] < 1, lambda c: (c[0] + 1, f(c[1])), (0, x)
            )[1]
        ),
    ),
    "`jax.linearize(f)`": (1, lambda f: lambda x: jax.linearize(f, x)[1](1.0)),
    "`linear_transpose` of `linearize(f)`": (1, _transposed),
    "`jax.hessian(f)` = `jacfwd(jacrev(f))`": (2, jax.hessian),
    "`jacrev(jacfwd(f))`": (2, lambda f: jax.jacrev(jax.jacfwd(f))),
    "`jacfwd(jacfwd(f))`": (2, lambda f: jax.jacfwd(jax.jacfwd(f))),
    "`grad(grad(f))`": (2, lambda f: jax.grad(jax.grad(f))),
    "`jax.experimental.jet(f)`": (1, lambda f: lambda x: jet(f, (x,), ((1.0,),))[1][0]),
    "`jax.export` of the gradient": (
        1,
        lambda f: lambda x: jax.export.export(jax.jit(jax.grad(f)))(x).call(x),
    ),
}
TRUTH = (math.sin(0.7), math.cos(0.7), -math.sin(0.7))
NAMES = {1: "yes", 2: "frule", 3: "rrule"}
LOST = "JAX's own"  # a derivative that no rule made


def cell(row, via):
    """What a back end does with one use: the rule that ran, or that it refuses."""
    order, use = ROWS[row]
    try:
        found = use(marked(RULES[via], via))(X)
    except (TypeError, NotImplementedError):
        return "refused"
    ratio = float(found) / TRUTH[order]
    names = NAMES | {1: LOST} if order else NAMES
    return names[round(ratio)] if abs(ratio - round(ratio)) < 1e-6 else "WRONG"


def line(row):
    """One row of it."""
    return f"| {row} | " + " | ".join(cell(row, via) for via in RULES) + " |"


def table():
    """The table in Markdown."""
    heads = ["primitive (default)", *list(RULES)[1:]]
    lines = ["| | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    return "\n".join([*lines, *map(line, ROWS)])


if __name__ == "__main__":
    print(table())
