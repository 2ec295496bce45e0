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
    return sum(map(lambda row: np.sum(np.sin(np.cos(np.exp(row)))), x))  # noqa: C417


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


# writes


def first_of(x):
    return x[0]


def one_entry(x):
    x[0] = np.sin(x[1])
    return x[0]


def filled_in_place(y, x):
    n = 0
    while n < len(x):
        y[n] = np.sin(np.cos(np.exp(x[n])))
        n += 1
    return y


def negated_in_place(y, x):
    n = 0
    while n < len(x):
        y[n] = -x[n]
        n += 1
    return y


def matrix_product_in_place(c, a, b):
    for p in range(c.shape[0]):
        for q in range(c.shape[1]):
            c[p, q] = 0.0
            for r in range(a.shape[1]):
                c[p, q] += a[p, r] * b[r, q]
    return c


def matrix_product_with_itself(a, c):
    return matrix_product_in_place(c, a, a)


def scaled_product_in_place(c, a, b, alpha, beta):
    c *= beta
    c += alpha * (a @ b)
    return c


def modified_entry(alpha, beta, x, c, place):
    c[place] = alpha * x + beta * c[place]
    return c


def divided_in_place(out, d, b):
    np.divide(b, d[:, None], out=out)
    return out


def kron_in_place(out, a, b):
    m, n = b.shape
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i * m : (i + 1) * m, j * n : (j + 1) * n] = a[i, j] * b
    return out


def kron_of_a_diagonal(out, d, b):
    return kron_in_place(out, np.diag(d), b)


def block_diagonal(a, b):
    return np.block([[a, np.zeros((2, 2))], [np.zeros((2, 2)), b]])


def empty_and_filled(x):
    table = np.empty((5, 5))
    for i in range(5):
        for j in range(5):
            table[i, j] = x
    return table


def cosines_into(x):
    x[...] = np.cos(x)


def called_for_its_writes(x):
    cosines_into(x)


# attributes


def set_attribute(box, value):
    box.x = value
    return value


def set_array_attribute(box, value):
    box.y = value
    return value


def new_attribute(x):
    box = Box(1.0)
    box.x = x
    return box.x


def changed_attribute(x):
    box = Box(x)
    box.x = np.sin(box.x)
    return box.x


class Adam:
    def __init__(self, n):
        self.first, self.second, self.count = np.zeros(n), np.zeros(n), 0

    def step(self, x, gradient):
        self.count += 1
        self.first += 0.1 * (gradient - self.first)
        self.second += 0.01 * (gradient**2 - self.second)
        x -= 0.1 * self.first / (np.sqrt(self.second + 1e-3) + 0.1)


def optimiser(x):
    adam = Adam(len(x))
    for _ in range(4):
        adam.step(x, x**3 - 1.0)
    return x @ x + adam.first.sum()


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
    ("test_getindex", first_of, (np.array([1.0, 2.0]),)),
    ("test_mutation!", one_entry, (np.array([1.0, 2.0]),)),
    ("_naive_map_sin_cos_exp", filled_in_place, (draw(8), draw(8))),
    ("_naive_map_negate", negated_in_place, (draw(32), draw(32))),
    (
        "test_naive_mat_mul!",
        matrix_product_in_place,
        (draw(4, 3), draw(4, 2), draw(2, 3)),
    ),
    (
        "test_naive_mat_mul! of one",
        matrix_product_with_itself,
        (draw(3, 3), draw(3, 3)),
    ),
    (
        "mul! of a transpose",
        scaled_product_in_place,
        (draw(3, 5).T, draw(5, 5), draw(5, 3), 4.0, 3.0),
    ),
    ("LinearAlgebra._modify!", modified_entry, (5.0, 4.0, 5.0, draw(5, 4), (4, 3))),
    ("ldiv!", divided_in_place, (draw(4, 4), draw(4) ** 2 + 1, draw(4, 4))),
    ("LinearAlgebra._kron!", kron_in_place, (draw(6, 6), draw(3, 3), draw(2, 2))),
    ("kron! of a Diagonal", kron_of_a_diagonal, (draw(6, 6), draw(3), draw(2, 2))),
    ("hvcat of matrices", block_diagonal, (draw(2, 2), draw(2, 2))),
    ("no_primitive_inlining_tester", empty_and_filled, (5.0,)),
    ("inplace_invoke!", called_for_its_writes, (draw(24),)),
    ("setfield_tester_left!", set_attribute, (Box(5.0, draw(3)), 4.0)),
    ("setfield_tester_right!", set_array_attribute, (Box(5.0, draw(3)), draw(5))),
    ("test_mutable_struct_setfield", new_attribute, (4.0,)),
    ("test_mutable_struct", changed_attribute, (5.0,)),
    ("P_adam_like", optimiser, (draw(3),)),
]
