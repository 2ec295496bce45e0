"""Rules for toyhost's functions, found through the entry point."""

import toyhost

import rules_core as rc


@rc.rrule.define(toyhost.cube)
def cube_rrule(x):
    def cube_pullback(dy):
        return rc.NoTangent(), 3 * x * x * dy

    return toyhost.cube(x), cube_pullback
