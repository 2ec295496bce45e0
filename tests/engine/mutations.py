"""Programs that write into memory, and what they are given."""

import copy

import numpy as np

X = np.array([0.3, -1.2, 2.0, 0.7])
M = np.array([[1.0, 2.0, -0.3], [-0.5, 0.3, 1.1], [0.1, 4.0, 0.9]])
BUFFER = np.zeros(4)


def item(x):
    y = x * 1.0
    y[1] = y[0] * y[2]
    y[-1] += y[1] * x[1]
    return y @ y


def argument(x):
    x[0] = x[1] * x[2]
    x[1:] *= x[0]
    return x @ x


def whole(x):
    y = np.zeros(4)
    y[...] = x * x
    y[:] = y + x
    return y @ x


def slices(x):
    x[1:] = x[:-1] * 2
    x[::2] += x[1::2]
    x[1:3] -= 1.0
    return x[0] * x[3] + x @ x


def overlap(x):
    x[1:] = x[:-1]
    x[:-1] = x[1:] * x[0]
    return x @ x


def self_copy(x):
    x[:] = x
    x[::-1] = x
    return x[0] * x[1]


def mask(x):
    y = x * 1.0
    y[y > 0.5] *= y[0]
    y[x < 0] = x[2]
    return y @ y


def fancy(x):
    y = x * 1.0
    y[[0, 2]] = x[[1, 3]] * 2
    y[[1, 1, 3]] = x[:3]
    y[np.array([0, 0, 1])] += x[1:]
    return y @ (y * x)


def add_at(x):
    y = x * 1.0
    np.add.at(y, [0, 0, 2], x[1:])
    np.subtract.at(y, ([1, 3],), x[0])
    return y @ y


def views_of_views(x):
    y = np.zeros((4, 4))
    v = y[1:, :3]
    w = v[:, 1]
    w[:] = x[:3]
    v.T[0] += w
    y[::-1][0, :] = x
    z = y.reshape(2, 8)
    z[1, 3:] *= 2.0
    return (y @ x) @ (v @ x[:3] if False else y[0]) + w @ w


def hidden_temporary(m):
    y = m * 1.0
    v = np.reshape(y.T, 9) if False else y.T.reshape(9)
    v[0] = y[1, 2]
    v *= 2.0
    return v @ v + y[0, 0]


def transposed(m):
    t = m.T
    t[0] = m[1] * t[2]
    m += t * 0.5
    t[1, :] -= m[:, 0]
    return (m @ t)[0, 1] + t[0] @ t[1]


def complex_parts(x):
    z = np.zeros(4, complex)
    z.real = x
    z.imag[1:] = x[:-1] * x[0]
    z *= z
    z.real[0] += x[2]
    return z.imag @ x + z.real @ z.real + abs(z[1])


def out_keyword(x):
    y = np.empty(4)
    multiply(x, x, out=y)
    multiply(y, x, out=y)
    multiply(y[:-1], 2.0, out=y[1:])
    return y @ y


def fill_and_sort(x):
    y = np.empty(4)
    y.fill(x[1])
    y[2:].fill(x[0] * 2)
    y *= x
    y.sort()
    z = x * x
    z[::-1].sort()
    return (y * z) @ x + y[0]


def copyto(x):
    y = np.zeros((2, 4))
    np.copyto(y, x)
    np.copyto(y[0], x * x, where=x > 0)
    np.put(y, [0, 5, 0], [x[0], x[1], x[2]] if False else x[:3])
    np.putmask(y[1], x < 0, x[3] * x)
    np.fill_diagonal(y, x[2])
    return y[0] @ y[1] + y[1] @ x


def scalar_loop(x):
    n = len(x)
    for k in range(3):
        for i in range(1, n):
            x[i] = 0.5 * x[i - 1] * x[i] + x[(i + k) % n]
    return x[n - 1] * x[0]


def closure_array(x):
    state = np.ones(4)

    def step(i):
        state[i] *= x[i]
        state[(i + 1) % 4] += state[i]

    for i in range(4):
        step(i)
    return state @ state


def global_buffer(x):
    BUFFER[:] = 0.0
    BUFFER[1:3] = x[:2] * x[2]
    BUFFER[2] += x[3]
    return BUFFER @ BUFFER


def callee(x):
    def scale(v, c):
        v *= c
        return v

    y = x * 1.0
    w = scale(y[1:], x[0])
    w[0] = x[3]
    return y @ y + w @ w


def returned_alias(x):
    y = x * 2.0
    z = y
    z[0] = x[1] ** 2
    return y[0] * z[1]


def branch_write(x):
    y = np.zeros(4)
    for i in range(4):
        if x[i] > 0.5:
            y[i] = x[i] ** 2
        elif x[i] > 0:
            y[i] -= x[i]
        else:
            y[i:] = x[i]
    return y @ x


def list_arguments(items):
    items[0] = items[1] * items[2]
    items.append(items[0] * 2)
    items[3] *= items[1]
    items.pop(1)
    return sum(items)


def nested_containers(p):
    p["w"][1:] *= p["b"]
    p["layers"][0] += p["w"][1] * p["layers"][1][0]
    p["b"] = p["b"] * p["layers"][0]
    return p["b"] * (p["w"] @ p["w"])


class Model:
    def __init__(self, w, b):
        self.w, self.b = w, b
        self.log = []

    def update(self, c):
        self.w *= c
        self.b = self.b + self.w[0]
        self.log.append(self.b)


def object_argument(model, x):
    model.update(x)
    model.update(model.b)
    model.w[1] = x
    return model.w @ model.w + sum(model.log)


def matrix_vector(m, v):
    v[1] = m[1] @ v
    m[:, 1] = v
    m[0] -= v * 2.0
    return (m @ v) @ v


def multiple_owners(x, y):
    x[1:3] += y[:2]
    y[:] = x
    x *= y
    return x @ y


def copies(x):
    y = copy.copy(x)
    z = copy.deepcopy({"a": x, "b": [y]})
    y[0] = x[1]
    z["a"] *= 2.0
    z["b"][0][1] = y[0]
    w = x.copy()
    w[2] = 5.0
    return z["a"] @ y + z["b"][0] @ x + w @ w


def swapped(x):
    x[0], x[1] = x[1], x[0] * 2.0
    x[[2, 3]] = x[[3, 2]]
    x[1:3], x[0] = x[0:2] * 1.0, x[3]
    return x[0] * x[1] + x[2] ** 3


def zero_dimensional(x):
    acc = np.zeros(())
    acc += x[0]
    acc[...] = acc * x[1]
    acc[()] += x[2]
    return acc * x[3]


def broadcast_views(x):
    wide = np.broadcast_to(x, (3, 4))
    y = np.broadcast_to(x * 2, (2, 4)).copy()
    v = y.ravel()
    v[5] = x[0]
    return (wide @ x) @ wide[:, 1] + y[1] @ x


def windows(x):
    y = np.zeros(4)
    v = np.lib.stride_tricks.sliding_window_view(y, 2)
    w = np.lib.stride_tricks.as_strided(y, (2, 2), (8, 16))
    y[:] = x * x
    return (v @ x[:2]) @ x[1:] + (w @ w)[0, 1]


def layouts(x):
    m = (x[:, None] * x).T
    total = 0.0
    for copied in (m.copy(), np.copy(m), m.copy("F"), copy.copy(m)):
        flat = copied.reshape(-1)
        flat[3] = x[0]
        total = total + copied[0, 3] * x[1] + copied[3, 0]
    return total


def empty_slices(x):
    x[2:2] = 1.0
    x[[]] *= 2.0
    x[np.zeros(4, bool)] = x[0]
    return x @ x


def multiply(a, b, out=None):
    if out is None:
        return a * b
    out[...] = a * b
    return out


PROGRAMS = [
    *(
        (f, (X.copy(),))
        for f in (
            item, argument, whole, slices, overlap, self_copy, mask, fancy, add_at,
            views_of_views, complex_parts, out_keyword, fill_and_sort, copyto,
            scalar_loop, closure_array, global_buffer, callee, returned_alias,
            branch_write, copies, swapped, zero_dimensional,
            broadcast_views, windows, layouts,
            empty_slices,
        )
    ),
    *((f, (M.copy(),)) for f in (hidden_temporary, transposed)),
    (list_arguments, ([0.5, 2.0, -1.5],)),
    (nested_containers, ({"w": X.copy(), "b": 1.5, "layers": [0.5, (2.0, 1)]},)),
    (object_argument, (Model(X.copy(), 0.7), 1.2)),
    (matrix_vector, (M.copy(), X[:3].copy())),
    (matrix_vector, (M.copy().T, np.array([1.0, 9, 2, 9, -0.5, 9])[::2])),
    (multiple_owners, (X.copy(), X[::-1].copy())),
    (multiple_owners, (X[::-1].copy()[::-1], X.copy())),
]  # fmt: skip
