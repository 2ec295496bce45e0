"""One interface to the derivatives of elementwise functions in each host.

`derivative(f, args, argnum, modes)` differentiates in one argument as often as `modes`
is long, innermost first: `f` forward (by the frule), `r` reverse (by the rrule). All
arguments are NumPy arrays of one shape, and so is the result.
"""

import numpy as np
import pytest

import rules_core as rc


class Rules:
    """The rules themselves, called by hand on NumPy arrays."""

    name = "rules"
    modes = ("f", "r")

    def derivative(self, f, args, argnum, modes):
        if modes == "f":
            tangents = [rc.ZeroTangent()] * (len(args) + 1)
            tangents[argnum + 1] = np.ones_like(args[argnum])
            return np.asarray(rc.frule(tuple(tangents), f, *args)[1])
        y, pullback = rc.rrule(f, *args)
        return np.asarray(pullback(np.ones_like(y))[argnum + 1])


class JaxHost:
    name = "jax"
    modes = ("f", "r", "ff", "rr", "fff", "rrr", "frf")

    def array(self, x):
        jnp = pytest.importorskip("jax.numpy")

        return jnp.asarray(x)

    def once(self, f, mode):
        jax = pytest.importorskip("jax")
        jnp = pytest.importorskip("jax.numpy")

        def forward(x):
            return jax.jvp(f, (x,), (jnp.ones_like(x),))[1]

        def reverse(x):
            y, pullback = jax.vjp(f, x)
            return pullback(jnp.ones_like(y))[0]

        return forward if mode == "f" else reverse

    def derivative(self, f, args, argnum, modes):
        fixed = [self.array(x) for x in args]

        def along(x):
            return f(*fixed[:argnum], x, *fixed[argnum + 1 :])

        for mode in modes:
            along = self.once(along, mode)
        return self.back(along(fixed[argnum]))

    def back(self, x):
        return np.asarray(x)


class EngineHost(JaxHost):
    name = "numpy"

    def array(self, x):
        return np.asarray(x)

    def once(self, f, mode):
        from rules_autodiff import jvp, vjp

        def forward(x):
            return jvp(f, (x,), (np.ones_like(x),))[1]

        def reverse(x):
            y, pullback = vjp(f, x)
            return pullback(np.ones_like(y))[0]

        return forward if mode == "f" else reverse


class TorchHost(JaxHost):
    name = "torch"

    def back(self, x):
        return x.detach().resolve_conj().numpy(force=True)

    def array(self, x):
        torch = pytest.importorskip("torch")

        return torch.as_tensor(np.array(x))

    def once(self, f, mode):
        torch = pytest.importorskip("torch")

        def forward(x):
            return torch.func.jvp(f, (x,), (torch.ones_like(x),))[1]

        def reverse(x):
            y, pullback = torch.func.vjp(f, x)
            return pullback(torch.ones_like(y))[0]

        return forward if mode == "f" else reverse


HOSTS = (Rules(), EngineHost(), JaxHost(), TorchHost())
MODES = [(host, modes) for host in HOSTS for modes in host.modes]
