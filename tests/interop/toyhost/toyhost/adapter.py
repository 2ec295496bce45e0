"""How this host runs the primitives of rules_core, and how it is tested."""

import numpy as np

import rules_core as rc
from rules_core.extend import (
    FlatCall,
    Opener,
    build_tangent,
    flatten,
    read_tangent,
    unflatten,
)
from rules_core.testing import Cell, FlatFunction, HostArrays
from toyhost import Box, Node, gradients

NUMBERS = (np.ndarray, np.generic, float, complex)


def box(x):
    """An array of NumPy, or a number, as an array of the host."""
    return Box(x) if isinstance(x, NUMBERS) else None


ARGUMENTS, RESULTS = Opener(Box, box), Opener(NUMBERS)


def is_smooth(value):
    return np.asarray(value).dtype.kind in "fc"


class ToyAdapter:
    """The entry point of the group `rules_core.adapters`."""

    name = "toyhost"

    def owns(self, cls):
        return issubclass(cls, Box)

    def call(self, primitive, args, kwargs):
        args, kwargs = primitive.bind(args, kwargs)
        boxes, call = FlatCall.of(args, kwargs, ARGUMENTS, primitive.names)
        args, kwargs = call.fill([x.value for x in boxes])
        wanted = [x.tracked and is_smooth(x.value) for x in boxes]
        if not any(wanted):
            return boxed(primitive.fun(*args, **kwargs))
        found = rc.resolve_primitive(rc.rrule, primitive, args, kwargs)
        if found is None and primitive.host:
            raise rc.RuleNotFound.build("rrule", primitive.fun, args, kwargs)
        if found is None:  # the host knows the derivatives of its own operations
            args, kwargs = call.fill(boxes)
            return primitive.fun(*args, **kwargs)
        return RuleNode(primitive, found, call, boxes, wanted).result

    def stop_gradient(self, x):
        return Box(x.value)

    def cells(self, level):
        yield Cell("eager", "value", run_value)
        yield Cell("backward", "vjp", run_backward)


def boxed(y):
    values = []
    layout = flatten(y, values, RESULTS)
    return unflatten(layout, map(Box, values))


class RuleNode(Node):
    """An operation whose pullback is that of a rule."""

    def __init__(self, primitive, found, call, boxes, wanted):
        super().__init__(boxes, self.cotangents)
        self.rule, self.call, self.wanted = found.rule, call, wanted
        keyword = call.keyword(wanted)
        if keyword is not None:
            message = (
                f"{self.rule.label}: {keyword!r} is a keyword, and has no cotangent"
            )
            raise rc.UnsupportedError(message)
        before = len(found.args) - len(call.parts)
        y, self.pullback = found.run(needs=call.needs(wanted, before))
        self.values = []
        self.layout = flatten(y, self.values, RESULTS)
        self.result = unflatten(self.layout, map(self.output, self.values))

    def cotangents(self, given):
        """What the host's backward pass asks for."""
        filled = map(self.seed, self.values, given)
        answer = self.pullback(build_tangent(self.layout, filled))
        return self.call.cotangents(self.rule, answer, self.read, len(self.inputs))

    def seed(self, y, dy):
        """The cotangent of one array of the result, as the rule expects it."""
        if not is_smooth(y):
            return rc.NoTangent()
        if dy is not None:
            return dy
        return rc.ZeroTangent() if self.rule.symbolic_zeros else np.zeros_like(y)

    def read(self, i, dx, part):
        """Cotangents of the arrays of one argument."""
        what = f"the cotangent of argument {self.call.argument(i)!r}"
        path = f"{what} by {self.rule.label}"
        layout, wanted = self.call.parts[i], self.wanted[part]
        leaves = read_tangent(layout, dx, wanted, path, rule=self.rule, what=what)
        pairs = zip(leaves, self.inputs[part], strict=True)
        return [self.project(path, leaf, x.value) for leaf, x in pairs]

    def project(self, path, dx, x):
        return None if dx is None else rc.materialise(x, dx, path)


HOST = HostArrays(
    opener=Opener(Box, box, numbers=True),
    to_numpy=lambda x: x.value if isinstance(x, Box) else x,
    like=lambda dx, x: np.asarray(dx, x.value.dtype),
    is_smooth=lambda x: is_smooth(x.value),
)


def run_value(f, primals, kwargs):
    flat = FlatFunction(HOST, f, primals, kwargs)
    return flat.value(flat.full(*flat.moving))


def run_backward(f, primals, kwargs, cotangent):
    flat = FlatFunction(HOST, f, primals, kwargs)
    xs = [Box(x.value, tracked=True) for x in flat.moving]
    return flat.inputs(gradients(flat(*xs), flat.cotangents(cotangent), xs))


adapter = ToyAdapter()
