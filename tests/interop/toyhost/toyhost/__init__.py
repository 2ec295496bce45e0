"""A host of somebody else: arrays that carry one tangent along (forward mode)."""

__all__ = ["Dual", "cube"]


class Dual:
    """A number or array with its tangent."""

    def __init__(self, value, tangent):
        self.value, self.tangent = value, tangent


def cube(x):
    """x³; the rule is in another module, which nobody imports by hand."""
    return x * x * x
