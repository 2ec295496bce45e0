"""Mooncake's test programs that write into memory (see `mooncake_values`)."""

import numpy as np

RNG = np.random.default_rng(5)


def draw(*shape):
    return RNG.standard_normal(shape)


class Box:
    def __init__(self, x, y=None):
        self.x, self.y = x, y


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
