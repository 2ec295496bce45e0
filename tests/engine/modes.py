"""First derivatives along a line, by each transform of the front door."""

from rules_autodiff import grad, jvp, linearize, vjp

__all__ = ["ALL", "linearized", "pulled", "pushed"]


def pushed(f):
    return lambda t: jvp(f, (t,), (1.0,))[1]


def pulled(f):
    return lambda t: vjp(f, t)[1](1.0)[0]


def linearized(f):
    return lambda t: linearize(f, t)[1](1.0)


ALL = {"jvp": pushed, "grad": grad, "vjp": pulled, "linearize": linearized}
