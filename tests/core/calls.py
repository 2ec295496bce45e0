"""A function and a class with rules, called in every way."""

from rules_core import NoTangent, frule, rrule


def power(x, p=2, *, verbose=False):
    return x**p


def define_power():
    @rrule.define(power)
    def power_rrule(x: float, p: int, *, verbose=False):
        def power_pullback(dy):
            return NoTangent(), p * x ** (p - 1) * dy, NoTangent()

        return power(x, p), power_pullback

    @frule.define(power)
    def power_frule(tangents, x: float, p: int, *, verbose=False):
        return power(x, p), p * x ** (p - 1) * tangents[1]

    return power_rrule, power_frule


class Affine:
    def __init__(self, slope):
        self.slope = slope

    def __call__(self, x):
        return self.slope * x

    def scaled(self, x, factor=1.0):
        return self.slope * x * factor

    @staticmethod
    def square(x):
        return x * x

    @classmethod
    def make(cls, x):
        return cls(x)
