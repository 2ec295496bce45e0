"""Mooncake's test programs about values, as Python: constants, containers, arguments.

The key of each is the name of the program in Mooncake.jl's `TestResources` whose
language feature it exercises.
"""

import dataclasses
from typing import NamedTuple

import numpy as np

RNG = np.random.default_rng(3)
CONSTANT = 5.0
FLAG = False
CONSTANT_ARRAY = RNG.standard_normal(10)


class Ref:
    """A mutable box of anything."""

    def __init__(self, value):
        self.value = value


class Stable(NamedTuple):
    x: float
    y: str


@dataclasses.dataclass
class Partial:
    """An instance whose second field may be missing."""

    a: float
    b: object = dataclasses.field(init=False)


@dataclasses.dataclass(frozen=True)
class Frozen:
    a: float
    b: object = None


@dataclasses.dataclass
class Lazy:
    """Fields that may hold nothing, a number or an array."""

    x: object
    x2: object
    y: float
    z: object
    z2: object


def constant():
    return np.cos(5.0)


def whole_constant():
    return 1


def identity(x):
    return x


def inner_sine(x):
    y = np.sin(x)
    z = np.cos(y)
    return z  # noqa: RET504  assigning is the feature


def whole_numbers(n):
    y = 5 * n
    z = y + n
    return 10 * z


def chain_of_calls(x, y):
    _unused = np.sin(x)
    x2 = np.cos(y)
    x3 = inner_sine(x2)
    return x2 + inner_sine(x3)


def unused_expression(x, n):
    _ = (float,)[n]
    return x


def unused_container(_container, x):
    return 5 * x


def by_class(ref):
    v = ref.value
    return np.sin(v) if isinstance(v, int) else v


def by_class_of_argument(x):
    return x if isinstance(x, bool) else False


def times_five(x):
    return 5 * x


def constructed(x, y):
    return Stable(x, y)


def constructed_with_constant(x):
    return Stable(x, "symbol")


def class_from_a_box(ref):
    return ref.value(5.0)


def constructed_by_splatting(ref):
    return Stable(*ref.value)


def field(s):
    return s.x


def other_field(s):
    return s.y


def global_number():
    return CONSTANT


def global_flag():
    return FLAG


def global_or_number(use):
    v = CONSTANT if use else 1
    return np.sin(v)


def global_array():
    return np.sum(CONSTANT_ARRAY)


def unboxed(ref):
    return ref.value


def cosine_of_unboxed(ref):
    return np.cos(ref.value)


def boxed_again(ref):
    return Ref(ref.value)


def nothing_or_number(ref):
    y = ref.value
    if y is None:
        return y
    return 5 * y


def class_by_number(n):
    return (float, int)[n]


def class_in_a_box(ref):
    return ref.value


def number_or_array(ref):
    v = ref.value
    return v if isinstance(v, float) else v[0]


def same_value_twice(ref):
    v = ref.value
    return v, v


def partial_instance(a):
    return Partial(a).a


def partial_frozen(a):
    return Frozen(a).a


def basic_box(x):
    return Ref(x).value


def sine_of_a_box(x):
    return np.sin(Ref(x).value)


def fields_that_may_be_nothing(p):
    total = p.y * p.x
    for array in (p.z, p.z2):
        if array is not None:
            total = total + array @ array
    return total if p.x2 is None else total + p.x2


def exception(text):
    return ValueError(text)


def seeded(n):
    return np.random.default_rng(n).standard_normal(3)


def holds_itself(x):
    a = Ref(x)
    a.me = a
    return a.me.me.value * x


def list_that_holds_itself(x):
    a = [x, 2.0]
    a.append(a)
    return a[2][2][0] * a[2][1]


def hold_each_other(x):
    a, b = [x], [2.0 * x]
    a.append(b)
    b.append(a)
    return a[1][1][0] * b[1][1][0]


PORTED = [
    ("const_tester", constant, ()),
    ("const_tester_non_differentiable", whole_constant, ()),
    ("identity", identity, (5.0,)),
    ("foo", inner_sine, (5.0,)),
    ("non_differentiable_foo", whole_numbers, (5,)),
    ("bar", chain_of_calls, (5.0, 4.0)),
    ("unused_expression", unused_expression, (5.0, 0)),
    (
        "abstractly_typed_unused_container",
        unused_container,
        (Frozen(5.0, np.array([4.0])), 5.0),
    ),
    ("pi_node_tester", by_class, (Ref(5.0),)),
    ("pi_node_tester of an integer", by_class, (Ref(5),)),
    ("arg_in_pi_node", by_class_of_argument, (False,)),
    ("intrinsic_tester", times_five, (5.0,)),
    ("new_tester", constructed, (5.0, "hello")),
    ("new_tester_2", constructed_with_constant, (4.0,)),
    ("new_tester_3", class_from_a_box, (Ref(Frozen),)),
    ("splatnew_tester", constructed_by_splatting, (Ref((5.0, "a")),)),
    ("type_stable_getfield_tester_1", field, (Stable(5.0, "hi"),)),
    ("type_stable_getfield_tester_2", other_field, (Stable(5.0, "hi"),)),
    ("globalref_tester", global_number, ()),
    ("globalref_tester_bool", global_flag, ()),
    ("globalref_tester_2", global_or_number, (True,)),
    ("globalref_tester_2 not taken", global_or_number, (False,)),
    ("globalref_tester_6", global_array, ()),
    ("type_unstable_tester_0", unboxed, (Ref(5.0),)),
    ("type_unstable_tester", cosine_of_unboxed, (Ref(5.0),)),
    ("type_unstable_tester_2", cosine_of_unboxed, (Ref(np.float32(5.0)),)),
    ("type_unstable_tester_3", boxed_again, (Ref(5.0),)),
    ("inferred_const_tester", nothing_or_number, (Ref(None),)),
    ("inferred_const_tester of a number", nothing_or_number, (Ref(2.0),)),
    ("datatype_slot_tester", class_by_number, (0,)),
    ("test_union_of_types", class_in_a_box, (Ref(float),)),
    ("test_small_union", number_or_array, (Ref(5.0),)),
    ("test_small_union of an array", number_or_array, (Ref(np.array([1.0])),)),
    ("test_multiple_pi_nodes", same_value_twice, (Ref(5.0),)),
    ("test_struct_partial_init", partial_frozen, (3.5,)),
    ("test_mutable_partial_init", partial_instance, (3.3,)),
    ("test_mutable_struct_basic", basic_box, (5.0,)),
    ("test_mutable_struct_basic_sin", sine_of_a_box, (5.0,)),
    (
        "P_union_nothing_float",
        fields_that_may_be_nothing,
        (Lazy(1.0, None, 1.0, RNG.standard_normal(2), None),),
    ),
    ("ArgumentError", exception, ("hi",)),
    ("Xoshiro", seeded, (123456,)),
    ("make_circular_reference_struct", holds_itself, (1.5,)),
    ("make_circular_reference_array", list_that_holds_itself, (1.5,)),
    ("make_indirect_circular_reference_array", hold_each_other, (1.5,)),
]
