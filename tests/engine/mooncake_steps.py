"""Mooncake's test programs about control flow and memory, as Python.

The key of each is the name of the program in Mooncake.jl's `TestResources` whose
language feature it exercises.
"""

import numpy as np

RNG = np.random.default_rng(4)


def draw(*shape):
    return RNG.standard_normal(shape)


class Box:
    def __init__(self, x, y=None):
        self.x, self.y = x, y


# branches and loops


def jump(x):
    while True:
        if x > np.cos(x):
            break
        x = np.sin(x)
        break
    return np.cos(x)


def constant_by_branch(x):
    a = x > 0
    return np.cos(a)


def assigned_in_a_branch(flag, y):
    if flag:
        v = np.sin(y)
    z = np.cos(y)
    if flag:
        z += v
    return z


def swapped_in_a_loop(x, n):
    a, b, i = 1.0, x, 1
    while i < n:
        a, b = b, 2 * a
        i += 1
    return a, b


def path_that_raises(x):
    if x < 0:
        message = "index out of range"
        raise IndexError(message)
    return np.sin(x)


def used_twice(x):
    return x * x


def square_used_twice(x):
    y = x * x
    return y * y


def used_in_a_chain(x):
    y = np.sin(x)
    z = y * y
    a = z * z
    return np.cos(a)


def used_after_a_branch(x):
    y = np.cos(x) if x > 0.0 else np.sin(x)
    return y * y


def used_in_a_branch(x):
    y = x * x
    return np.cos(y) if x > 0.0 else np.sin(y)


def merged_by_a_branch(flag, y):
    z = y if flag else 1.0
    return z * y


def sine(x):
    return np.sin(x)


def called_twice(x):
    for _ in range(2):
        x = sine(x)
    return x


def sines_of_a_box(ref):
    v = ref.x
    for _ in range(2):
        v = np.sin(v)
    return v


def cosine_of_sine(x):
    return np.cos(np.sin(x))


def while_loop(x):
    n = 3
    while n > 0:
        x = np.cos(x)
        n -= 1
    return x


def long_loop(x):
    for _ in range(500):
        x = np.sin(x)
    return x


def edge_case(x):
    """One class of arguments has a derivative, others give constants."""
    if type(x) is float:
        return 5 * x
    return {np.float32: 6.0, int: 10, str: "hi"}.get(type(x), 5.0)


def dispatched_at_run_time(x):
    i, y = 0, 0.0
    while i < 2:
        y += edge_case(x[i])
        i += 1
    return y


def calls_itself(a, b):
    return a * b if a < b else calls_itself(b, a) + a


def recursive_sum(x):
    return 0.0 if len(x) == 0 else x[0] + recursive_sum(x[1:])


def sum_from_an_integer(x):
    z = 0
    for i in range(len(x)):
        z += x[i]
    return z


def handwritten_sum(x):
    y, n = 0.0, 0
    flat = x.reshape(-1)
    while n < flat.size:
        y += flat[n]
        n += 1
    return y


def alternating(x):
    y, n = 0.0, 1
    while n <= len(x):
        y += np.sin(x[n - 1]) if n % 2 == 0 else np.cos(x[n - 1])
        n += 1
    return y


def array_by_a_branch(x, flag):
    y = np.arange(4, dtype=np.float32)
    z = x if flag else y
    return 2 * z


# functions over arrays


def mapped(x, y):
    table = map(lambda a, b: np.sin(np.cos(np.exp(a)) + np.exp(b) * np.sin(b)), x, y)
    return np.array(list(table))


def mapped_sum(x):
    return sum(map(lambda row: np.sum(np.sin(np.cos(np.exp(row)))), x))  # noqa: C417  as Mooncake


def broadcast(x):
    return np.sum(np.sin(np.cos(np.exp(x))))


def perceptron(x, w1, w2):
    return w2 @ np.tanh(w1 @ x)


def product(a, b):
    return a @ b


def total(x):
    return np.sum(x)


def diagonal_to_matrix(d):
    return np.diag(d)


PORTED = [
    ("goto_tester", jump, (5.0,)),
    ("goto_tester taken", jump, (0.2,)),
    ("phi_const_bool_tester", constant_by_branch, (5.0,)),
    ("phi_const_bool_tester negative", constant_by_branch, (-5.0,)),
    ("phi_node_with_undefined_value", assigned_in_a_branch, (True, 4.0)),
    ("phi_node_with_undefined_value not taken", assigned_in_a_branch, (False, 4.0)),
    ("test_multiple_phinode_block", swapped_in_a_loop, (3.0, 3)),
    ("avoid_throwing_path_tester", path_that_raises, (5.0,)),
    ("test_isbits_multiple_usage", used_twice, (5.0,)),
    ("test_isbits_multiple_usage_2", square_used_twice, (5.0,)),
    ("test_isbits_multiple_usage_3", used_in_a_chain, (4.1,)),
    ("test_isbits_multiple_usage_4", used_after_a_branch, (5.0,)),
    ("test_isbits_multiple_usage_5", used_in_a_branch, (4.1,)),
    ("test_isbits_multiple_usage_phi", merged_by_a_branch, (False, 1.1)),
    ("test_isbits_multiple_usage_phi taken", merged_by_a_branch, (True, 1.1)),
    ("test_sin", sine, (1.0,)),
    ("test_cos_sin", cosine_of_sine, (2.0,)),
    ("test_multiple_call_non_primitive", called_twice, (5.0,)),
    ("test_multi_use_pi_node", sines_of_a_box, (Box(5.0),)),
    ("test_while_loop", while_loop, (2.0,)),
    ("test_for_loop", long_loop, (3.0,)),
    ("test_primitive_dynamic_dispatch", dispatched_at_run_time, ([5.0, False],)),
    ("test_self_reference", calls_itself, (1.1, 1.5)),
    ("test_self_reference swapped", calls_itself, (1.5, 1.1)),
    ("test_recursive_sum", recursive_sum, (draw(2),)),
    ("_sum", sum_from_an_integer, (draw(64),)),
    ("test_handwritten_sum", handwritten_sum, (draw(8, 8),)),
    ("test_from_slack", alternating, (draw(15),)),
    ("test_union_of_arrays", array_by_a_branch, (draw(5), True)),
    ("test_map", mapped, (draw(6), draw(6))),
    ("_map_sin_cos_exp", mapped_sum, (draw(4, 4),)),
    ("_broadcast_sin_cos_exp", broadcast, (draw(4, 4),)),
    ("test_mlp", perceptron, (draw(5, 2), draw(7, 5), draw(3, 7))),
    ("* of matrices", product, (draw(6, 9), draw(9, 6))),
    ("sum", total, (draw(32),)),
    ("test_diagonal_to_matrix", diagonal_to_matrix, (draw(6),)),
]
