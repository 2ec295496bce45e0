"""Mooncake's test programs about arguments and tuples (see `mooncake_values`)."""

import numpy as np

RNG = np.random.default_rng(6)


class Ref:
    """A mutable box of anything."""

    def __init__(self, value):
        self.value = value


def function_as_argument(f, x):
    return f(x)


def called_from_a_box(ref, x):
    return ref.value(x)


def every(*args):
    return args


def every_by_count(*args):
    match args:
        case (x,):
            return every(x)
        case (x, y):
            return every(x, y)
        case (x, y, z):
            return every(x, y, z)
    return None


def first_and_rest(x, *y):
    return np.sin(x), y


def spread_first(x, *_rest):
    return first_and_rest(*x) if isinstance(x, tuple) else first_and_rest(x)


def spread(x):
    return every(*x) if isinstance(x, tuple) else every(x)


def spread_from_a_box(ref):
    value = ref.value
    return every(*value) if isinstance(value, tuple) else every(value)


def first_entry(x):
    return x[0]


def first_entry_by_function(x):
    return x.__getitem__(0)


def tuple_of_either(flag):
    return (5.0 if flag else 5, None)


def tuple_of_three(one, other):
    return (5.0 if one else (5 if other else None), None)


def nested_tuple(x):
    return ((((x,),), x), x)


def long_tuple(x):
    return sum(np.cos(v) for v in x)


def unused_slice(theta):
    d = np.array([0.0, 0.0])
    _x = theta[:2]
    return d


def uneven_pieces(x):
    return np.concatenate([x[:1], x[1:2], x[2:3], x[3:4]])


def matrix_of_numbers(rows, *entries):
    return np.array(entries).reshape(rows)


def invoked(x):
    return Caller.five(Caller(), x)


class Caller:
    def five(self, x):
        return 5 * x


def invoked_with_many(rows, *rest):
    return sum(rest) + rows[0]


PORTED = [
    ("type_unstable_argument_eval", function_as_argument, (np.sin, 5.0)),
    ("type_unstable_function_eval", called_from_a_box, (Ref(np.sin), 5.0)),
    ("varargs_tester", every, (5.0,)),
    ("varargs_tester of two", every, (5.0, 4)),
    ("varargs_tester of three", every, (5.0, 4, 3.0)),
    ("varargs_tester_2", every_by_count, (5.0,)),
    ("varargs_tester_2 of two", every_by_count, (5.0, 4)),
    ("varargs_tester_2 of three", every_by_count, (5.0, 4, 3.0)),
    ("varargs_tester_3", first_and_rest, (5.0,)),
    ("varargs_tester_3 of three", first_and_rest, (5.0, 4, 3.0)),
    ("varargs_tester_4", spread_first, (5.0,)),
    ("varargs_tester_4 of three", spread_first, ((5.0, 4, 3.0), 4, 3.0)),
    ("splatting_tester", spread, (5.0,)),
    ("splatting_tester of a tuple", spread, ((5.0, 4.0, 3.0),)),
    ("unstable_splatting_tester", spread_from_a_box, (Ref(5.0),)),
    ("unstable_splatting_tester of a tuple", spread_from_a_box, (Ref((5.0, 4.0)),)),
    ("getfield_tester", first_entry, ((5.0, 5),)),
    ("getfield_tester_2", first_entry_by_function, ((5.0, 5),)),
    ("tuple_with_union", tuple_of_either, (True,)),
    ("tuple_with_union_3", tuple_of_three, (False, True)),
    ("highly_nested_tuple", nested_tuple, (5.0,)),
    (
        "large_tuple_inference",
        long_tuple,
        (tuple(np.linspace(0.0, 1.0, 1000).tolist()),),
    ),
    ("regression_319", unused_slice, (RNG.standard_normal(3),)),
    ("sig_argcount_mismatch", uneven_pieces, (np.ones(4),)),
    ("hvcat", matrix_of_numbers, ((2, 2), 3.0, 2.0, 0.0, 1.0)),
    ("inlinable_invoke_call", invoked, (5.0,)),
    ("inlinable_vararg_invoke_call", invoked_with_many, ((2, 2), 5.0, 4.0, 3.0, 2.0)),
]
