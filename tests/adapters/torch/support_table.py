"""The table of what runs where, found by trying it with marker rules.

`python -m tests.adapters.torch.support_table` prints it for docs/how-to; the test
beside it compares. A frule 2 times and an rrule 3 times too large say which ran.
"""

from __future__ import annotations

import warnings

import torch
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vmap
from torch.utils.checkpoint import checkpoint

import rules_core as rc
import rules_torch  # noqa: F401  else Dynamo imports it, and may have to trace again
from tests.adapters.torch.formulas import marker

X = torch.tensor(0.5, dtype=torch.float64)
ONE = torch.ones_like(X)
COLUMNS = {
    "both rules": ("both", False),
    "rrule only": ("rrule", False),
    "frule only": ("frule", False),
    "no rule": ("none", False),
    "host, both": ("both", True),
    "host, no rule": ("none", True),
}


def _backward(f):
    x = X.clone().requires_grad_()
    f(x).backward()
    return x.grad


def _twice(f):
    x = X.clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x), x, create_graph=True)
    return torch.autograd.grad(first, x)[0]


def _dual(f):
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(X, ONE))).tangent


def _compiled(f):
    torch.compiler.reset()
    return torch.compile(f, backend="aot_eager", fullgraph=True)


def _exported(f):
    class Module(torch.nn.Module):
        def forward(self, x):
            return f(x)

    return torch.export.export(Module(), (X,), strict=False).module()


FIRST = {
    "`backward()`, `autograd.grad`": _backward,
    "`checkpoint(f)`": lambda f: _backward(
        lambda x: checkpoint(f, x, use_reentrant=False)
    ),
    "`torch.func.grad`, `vjp`, `jacrev`": lambda f: grad(f)(X),
    "`vmap(grad(f))`": lambda f: vmap(grad(f))(X[None])[0],
    "`grad` of `vmap(f)`": lambda f: grad(lambda x: vmap(f)(x[None])[0])(X),
    "`torch.func.jvp`, `jacfwd`": lambda f: jvp(f, (X,), (ONE,))[1],
    "`torch.autograd.forward_ad`": _dual,
    "`vmap(jvp(f))`": lambda f: vmap(lambda x: jvp(f, (x,), (ONE,))[1])(X[None])[0],
    "`torch.compile(f)`, `backward()`": lambda f: _backward(_compiled(f)),
    "`torch.compile(grad(f))`": lambda f: _compiled(grad(f))(X),
    "`torch.compile(vmap(grad(f)))`": lambda f: _compiled(vmap(grad(f)))(X[None])[0],
    "`torch.compile(jvp(f))`": lambda f: _compiled(lambda x: jvp(f, (x,), (ONE,))[1])(
        X
    ),
    "`torch.export`, `backward()`": lambda f: _backward(_exported(f)),
    "`grad` of an exported module": lambda f: grad(_exported(f))(X),
    "`jvp` of an exported module": lambda f: jvp(_exported(f), (X,), (ONE,))[1],
}
SECOND = {
    "`create_graph=True`, then `grad`": _twice,
    "`grad(grad(f))`": lambda f: grad(grad(f))(X),
    "`torch.func.hessian` = `jacfwd(jacrev(f))`": lambda f: hessian(f)(X),
    "`jacrev(jacfwd(f))`": lambda f: jacrev(jacfwd(f))(X),
    "`jacfwd(jacfwd(f))`": lambda f: jacfwd(jacfwd(f))(X),
}
WORDS = {1: "torch", 2: "frule", 3: "rrule", 4: "frule, frule", 6: "frule, rrule"}
WORDS_OF_SECOND = {**WORDS, 1: "torch", 9: "rrule, rrule"}


def _first(run, f):
    return WORDS[round(float(run(f)), 6)]


def _second(run, f):
    """`m(x)²/2` has the second derivative `m' m'`, one factor per differentiation."""
    return WORDS_OF_SECOND[round(float(run(lambda x: f(x) ** 2 / 2)), 6)]


def _cell(read, run, kind, host):
    f = marker(kind, host=host).f
    try:
        found = read(run, f)
    except (rc.RulesCoreError, torch._dynamo.exc.TorchDynamoException, RuntimeError):
        return "error"
    return "derived" if host and found == "torch" else found


def line(name: str) -> str:
    """One row of it."""
    read, run = (_first, FIRST[name]) if name in FIRST else (_second, SECOND[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cells = [_cell(read, run, *column) for column in COLUMNS.values()]
    return f"| {name} | " + " | ".join(cells) + " |"


def table() -> str:
    """The table in Markdown."""
    head = "| | " + " | ".join(COLUMNS) + " |"
    rule = "|---" * (len(COLUMNS) + 1) + "|"
    return "\n".join([head, rule, *map(line, [*FIRST, *SECOND])])


if __name__ == "__main__":
    print(table())
