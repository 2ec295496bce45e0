"""Mutation at its corners: `out=`, odd indices, views of every kind."""

# ruff: noqa: PLW2901
# Programs use all of the language, also what one would not write.

import copy

import numpy as np

X = np.array([0.3, -1.2, 1.9, 0.7])


def put_along(x):
    y = x.reshape(2, 2) * 1.0
    np.put_along_axis(y, np.array([[0], [1]]), x[:2].reshape(2, 1), 1)
    return (y * [[1, 2], [3, 4]]).sum()


def take_out(x):
    y = np.zeros(2)
    np.take(x, [1, 2], out=y)
    return y @ x[:2]


def dot_out(x):
    y = np.zeros((2, 2))
    m = x.reshape(2, 2) * 1.0
    np.dot(m, m, out=y)
    return y.sum()


def matmul_out(x):
    y = np.zeros((2, 2))
    m = x.reshape(2, 2) * 1.0
    np.matmul(m, m, y)
    return y.sum()


def einsum_out(x):
    y = np.zeros(())
    np.einsum("i,i", x, x, out=y)
    return y * x[0]


def concat_out(x):
    y = np.zeros(8)
    np.concatenate([x, x * 2], out=y)
    return y @ np.arange(8)


def clip_out(x):
    y = x * 1.0
    np.clip(y, -1, 1, out=y)
    y.clip(0, 0.5, out=y)
    return y.sum()


def sum_out(x):
    y = np.zeros(2)
    x.reshape(2, 2).sum(axis=0, out=y)
    return y @ [1, 2]


def cumsum_out(x):
    y = np.zeros(4)
    x.cumsum(out=y)
    np.cumprod(y, out=y)
    return y.sum()


def nan_to_num(x):
    y = x * 1.0
    np.nan_to_num(y, copy=False)
    return y.sum()


def reduce_out(x):
    y = np.zeros(())
    np.add.reduce(x, out=y)
    return float(y) * x[0]


def exp_pos(x):
    y = np.zeros(4)
    np.exp(x, y)
    np.exp(y, out=(y,))
    return y.sum()


def mean_out(x):
    y = np.zeros(())
    np.mean(x, out=y)
    np.multiply(y, y, out=y)
    return y[()]


def round_out(x):
    y = np.zeros(4)
    np.round(x, 2, out=y)
    return y.sum() * x[0]


def maximum_out(x):
    y = np.zeros(4)
    np.maximum(x, 0.0, out=y)
    np.maximum(y, x[0], out=y)
    return y.sum()


def where_out(x):
    y = x * 1.0
    np.exp(x, where=x > 0, out=y)
    return y.sum()


def sort_axis(x):
    y = x.reshape(2, 2) * 1.0
    y.sort(axis=0)
    y[:, ::-1].sort()
    return (y * [[1, 2], [3, 4]]).sum()


def partition(x):
    y = x * 1.0
    y.partition(1)
    return y[0] * y[1]


def bool_scalar_idx(x):
    y = x * 1.0
    y[True] = x[::-1]
    return y @ [1, 2, 3, 4] + x[True].sum() + x[None][0, 1] + x[..., None].sum()


def empty_idx(x):
    y = x * 1.0
    y[[]] = 5.0
    y[0:0] = x[0:0]
    return y.sum() + x[[]].sum()


def idx_mixed(x):
    y = np.zeros((2, 2, 2))
    y[0, [0, 1], 1] = x[:2]
    y[1, :, [1, 0]] = x.reshape(2, 2)
    y[..., 0] += x[0]
    return (y * np.arange(8).reshape(2, 2, 2)).sum()


def aug_fancy(x):
    y = x * 1.0
    y[[0, 0, 1]] += x[1:]
    y[y > 0] *= 2
    return y @ [1, 2, 3, 4]


def aug_view_chain(x):
    y = x * 1.0
    v = y[1:]
    w = v[::-1]
    w += x[:3]
    v[0] *= w[0]
    z = w.T
    z -= 1.0
    return y @ [1, 2, 3, 4]


def swap_views(x):
    y = x * 1.0
    y[:2], y[2:] = y[2:].copy(), y[:2].copy()
    return y @ [1, 2, 3, 4]


def swap_views_alias(x):
    y = x * 1.0
    y[:2], y[2:] = y[2:], y[:2]
    return y @ [1, 2, 3, 4]


def self_op(x):
    y = x * 1.0
    y += y
    y *= y
    y[1:] += y[:-1]
    return y.sum()


def broadcast_write(x):
    y = np.zeros((2, 4))
    y[:] = x
    y[:, 0] = x[1]
    y += x[:2, None]
    return (y * np.arange(8).reshape(2, 4)).sum()


def list_write(x):
    y = np.zeros(4)
    y[:] = [x[0], 1.0, x[1] * 2, x[2]]
    y[1:3] = (x[3], x[3])
    return y @ [1, 2, 3, 4]


def nested_list_write(x):
    y = np.zeros((2, 2))
    y[:] = [[x[0], 1.0], [x[1], x[2]]]
    return (y * [[1, 2], [3, 4]]).sum()


def list_of_arrays_write(x):
    y = np.zeros((2, 2))
    y[:] = [x[:2], x[2:] * 2]
    return (y * [[1, 2], [3, 4]]).sum()


def scalar_arr_write(x):
    y = np.zeros(4)
    y[0] = x[:1][0]
    y[1] = np.array(x[1])
    y[2] = x[2:3].sum()
    return y @ [1, 2, 3, 4]


def zero_dimensional_write(x):
    y = np.zeros(())
    y[()] = x[0] * 2
    y[...] += x[1]
    y += 1.0
    return float(y) * 2


def copy_kinds(x):
    y = copy.copy(x)
    z = copy.deepcopy([x])[0]
    w = x.copy()
    v = np.copy(x)
    u = np.array(x)
    t = np.asarray(x)
    y[0] = 0
    z[1] = 0
    w[2] = 0
    v[3] = 0
    u[0] *= 2
    return y.sum() + z.sum() + w.sum() + v.sum() + u.sum() + t.sum()


def array_copy_false(x):
    y = np.asarray(x)
    y[0] = x[1] * 2
    return x @ [1, 2, 3, 4]


def ravel_write(x):
    m = x.reshape(2, 2) * 1.0
    r = m.ravel()
    r[0] = x[3]
    f = m.flatten()
    f[1] = 100.0
    t = m.T.ravel()
    t[2] = 50.0
    return (m * [[1, 2], [3, 4]]).sum() + f[0] + t[0]


def reshape_write(x):
    m = x.reshape(2, 2) * 1.0
    m.T.reshape(4)[0] = 100.0
    m.reshape(4, order="F")[1] = 7.0
    m.reshape(-1)[2] = x[0]
    return (m * [[1, 2], [3, 4]]).sum()


def squeeze_write(x):
    y = (x * 1.0)[:, None]
    y.squeeze()[0] = x[1]
    np.squeeze(y)[1] *= 2
    np.expand_dims(y, 0)[0, 2, 0] = x[0]
    np.moveaxis(y, 0, 1)[0, 3] = x[2]
    np.swapaxes(y, 0, 1)[0, 0] += 1
    return y.ravel() @ [1, 2, 3, 4]


def diag_write(x):
    m = x.reshape(2, 2) * 1.0
    np.fill_diagonal(m, x[0])
    np.einsum("ii->i", m)[:] *= 2
    m.flat[::3] += 1
    return (m * [[1, 2], [3, 4]]).sum()


def real_imag_write(x):
    z = x * (1 + 2j)
    z.real = x[::-1]
    z.imag *= 2
    z.real[1] = x[0]
    return (z * (1 - 1j)).sum().real


def split_write(x):
    y = x * 1.0
    a, b = np.split(y, 2)
    a[0] = x[3]
    b *= a
    h = np.array_split(y, 3)[0]
    h += 1
    return y @ [1, 2, 3, 4]


def atleast_write(x):
    y = x * 1.0
    np.atleast_2d(y)[0, 1] = x[0]
    np.broadcast_arrays(y, np.zeros(4))[0].sum()
    return y @ [1, 2, 3, 4]


def flip(x):
    y = x * 1.0
    np.flip(y)[0] = x[0]
    np.rot90(y.reshape(2, 2))[0, 0] = x[1]
    return y @ [1, 2, 3, 4]


def for_2d(x):
    s = 0.0
    for r in x.reshape(2, 2):
        for v in r:
            s += v * v
        r_ = r * 2
        s += r_[0]
    return s


def for_2d_write(x):
    m = x.reshape(2, 2) * 1.0
    for r in m:
        r *= r[0]
        r[1] += 1
    return (m * [[1, 2], [3, 4]]).sum()


PROGRAMS = [
    (put_along, (X.copy(),)),
    (take_out, (X.copy(),)),
    (dot_out, (X.copy(),)),
    (matmul_out, (X.copy(),)),
    (einsum_out, (X.copy(),)),
    (concat_out, (X.copy(),)),
    (clip_out, (X.copy(),)),
    (sum_out, (X.copy(),)),
    (cumsum_out, (X.copy(),)),
    (nan_to_num, (X.copy(),)),
    (reduce_out, (X.copy(),)),
    (exp_pos, (X.copy(),)),
    (mean_out, (X.copy(),)),
    (round_out, (X.copy(),)),
    (maximum_out, (X.copy(),)),
    (where_out, (X.copy(),)),
    (sort_axis, (X.copy(),)),
    (partition, (X.copy(),)),
    (bool_scalar_idx, (X.copy(),)),
    (empty_idx, (X.copy(),)),
    (idx_mixed, (X.copy(),)),
    (aug_fancy, (X.copy(),)),
    (aug_view_chain, (X.copy(),)),
    (swap_views, (X.copy(),)),
    (swap_views_alias, (X.copy(),)),
    (self_op, (X.copy(),)),
    (broadcast_write, (X.copy(),)),
    (list_write, (X.copy(),)),
    (nested_list_write, (X.copy(),)),
    (list_of_arrays_write, (X.copy(),)),
    (scalar_arr_write, (X.copy(),)),
    (zero_dimensional_write, (X.copy(),)),
    (copy_kinds, (X.copy(),)),
    (array_copy_false, (X.copy(),)),
    (ravel_write, (X.copy(),)),
    (reshape_write, (X.copy(),)),
    (squeeze_write, (X.copy(),)),
    (diag_write, (X.copy(),)),
    (real_imag_write, (X.copy(),)),
    (split_write, (X.copy(),)),
    (atleast_write, (X.copy(),)),
    (flip, (X.copy(),)),
    (for_2d, (X.copy(),)),
    (for_2d_write, (X.copy(),)),
]
