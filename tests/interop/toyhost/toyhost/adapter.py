"""How this host runs the primitives of rules_core: by their frules."""

import rules_core as rc
from toyhost import Dual


class ToyAdapter:
    name = "toyhost"

    def owns(self, cls):
        return issubclass(cls, Dual)

    def call(self, primitive, args, kwargs):
        args, kwargs = primitive.bind(args, kwargs)
        values = tuple(a.value if isinstance(a, Dual) else a for a in args)
        tangents = tuple(
            a.tangent if isinstance(a, Dual) else rc.ZeroTangent() for a in args
        )
        rule = rc.frule.resolve(primitive.fun, values, kwargs)
        if rule is None:
            raise rc.RuleNotFound.build("frule", primitive.fun, values, kwargs)
        y, dy = rule.run(
            (rc.NoTangent(), *map(rc.materialise, values, tangents)),
        )
        return Dual(y, rc.materialise(y, dy))

    def stop_gradient(self, x):
        return Dual(x.value, 0 * x.tangent)

    def cells(self, level):
        return ()


adapter = ToyAdapter()
