"""Corners of writing: what NumPy has for writing in place, in whole programs."""

# As users write: rows are written through loop variables, `zip` without strict.
# ruff: noqa: B905, PLW2901

import numpy as np

R = np.random.default_rng(4)
X = R.normal(size=6)
M = R.normal(size=(3, 4))
S = R.normal(size=(4, 4))


def out_where(x):
    y = np.full(6, 2.0) * x[0]
    np.sqrt(x * x + 1, out=y, where=np.arange(6) % 2 == 0)
    np.add(x, 1, out=y, where=np.array([1, 0, 0, 0, 0, 1], bool))
    np.log(1 + x**2, where=False, out=y)
    return y


def copyto(x, a):
    y = np.zeros((2, 6))
    np.copyto(y, x)
    np.copyto(y[0], a, where=x > 0)
    np.copyto(dst=y[1, ::2], src=x[:3] * 2, casting="same_kind")
    return y


def put_place(x, a):
    y = x.copy()
    np.put(y, [0, 2, -1], [a, x[1]])
    z = x * 2
    np.place(z, z > 0, [a, a * 2])
    w = x * 3
    np.putmask(w, w < 1, x * a)
    v = x.copy()
    v.put([7, 1], x[:2] * 3, mode="wrap")
    u = np.outer(x, x)
    u.put([3, 8], a)
    return y, z, w, v, u


def fill_etc(m, a):
    y = m.copy()
    y[1].fill(a * 2)
    y.T[0].fill(m[0, 0])
    z = m.copy()
    z.sort()
    w = m.copy()
    w.sort(axis=0)
    u = m[0].copy()
    u.partition(2)
    return y, z, w, u, np.partition(m, 1, axis=0)


def diag(s, a):
    y = s.copy()
    np.fill_diagonal(y, a)
    z = s.copy()
    np.fill_diagonal(z, s[0] * a)
    w = np.zeros((5, 3)) + a
    np.fill_diagonal(w, s[0], wrap=True)
    v = s.copy()
    v[np.diag_indices(4)] += a
    t = s.copy()
    t[np.tril_indices(4, -1)] = 0
    u = s.copy()
    u.flat[::5] = a
    u.flat[[1, 2]] = s[3, :2]
    q = np.einsum("ii->i", u.copy())
    k = u.copy()
    np.einsum("ii->i", k)[...] = s[1] * a
    k.reshape(-1)[::5] *= 2
    return y, z, w, v, t, u, q, k


def einsum_into(s):
    o = np.empty((4, 4))
    np.einsum("ij,kj->ik", s, s, out=o)
    o2 = np.zeros(4)
    np.einsum("ij->i", o, out=o2)
    np.dot(s, s, out=o)
    np.matmul(o, s, out=o[::-1].copy())
    q = np.empty_like(s)
    np.matmul(s, o, out=q)
    np.sum(s, axis=0, out=o2[:])
    np.cumsum(s, axis=1, out=q)
    np.take(s, [1, 1, 0], axis=0, out=o[:3], mode="clip")
    np.clip(s, -0.5, 0.5, out=q.T)
    return o, o2, q


def applied_at(x):
    y = x.copy()
    np.add.at(y, [0, 0, 1], x[:3])
    np.subtract.at(y, [2, 2], x[4])
    np.multiply.at(y, [1, 1], x[3])
    np.divide.at(y, [3], 2.0 + x[0] ** 2)
    np.negative.at(y, [4, 4, 5])
    z = x.copy()
    np.maximum.at(z, [0, 0, 1], x[3:] * 0.5)
    np.exp.at(z, [2])
    return y, z


def flat_iter(x):
    y = np.outer(x[:2], x[2:4])
    s = 0.0
    for v in y.flat:
        s += v * v
    for i, v in enumerate(y.flat):
        y.flat[i] = v * i
    it = y.flat
    a = next(it)
    b = it[2]
    it[1:3] = a
    for idx, v in np.ndenumerate(y):
        s += v * (idx[0] + 2 * idx[1])
    for idx in np.ndindex(2, 2):
        y[idx] *= y[idx]
    return y, s, a * b


def iteration(x):
    t = 0.0
    m = np.outer(x, x)
    for row in m:
        row *= 2
        t += row[0]
    for a, b in zip(m, m.T):
        a += b * 0.1
    for i in range(len(m)):
        m[i, i:] = m[i, : len(m) - i]
    return m, t


def cviews(z):
    w = z.copy()
    w.real *= 2
    w.imag[1:] = w.real[:-1]
    w.real[0] = w.imag[2] ** 2
    np.conj(w, out=w)
    np.conjugate(w[:2], out=w[2:4])
    w[w.real > 0] *= 1j
    w.imag = w.real * 2
    np.multiply(w, 2.0, out=w)
    np.add(w.real, 1, out=w.imag)
    return w


def masks(x):
    y = x.copy()
    m = y > 0
    y[m] = y[m] ** 2
    y[~m] *= -1
    y[m & (y < 0.5)] += y[0]
    y[np.where(m)] -= 0.1
    y[np.nonzero(~m)[0]] = y[np.flatnonzero(~m)][::-1]
    y[[True, False] * 3] = y[1::2]
    z = np.where(m, y, x * 2)
    z[..., np.newaxis][m] = 3 * x[m][:, None]
    z[()] = z * 2
    return (
        y,
        z,
        np.compress(m, x),
        np.extract(m, y),
        np.select([m, x < -1], [x, x * 2], default=x**2),
        np.choose(m.astype(int), [x, y]),
    )


def fancy2(m):
    y = m.copy()
    y[[0, 2]][:, [1]]
    y[np.ix_([0, 2], [1, 3])] *= m[0, 0]
    y[[0, 0, 1], [1, 1, 2]] += m[1, :3]
    y[1, [0, 0]] = m[2, :2]
    y[:, [2, 0]] = y[:, [0, 2]]
    y[[0, 1]] = y[[1, 0]]
    y[..., -1] = y[..., 0]
    y[1:, ::2][0] = m[0, :2]
    y[np.array([[0, 1], [1, 0]]), 0] = m[:2, :2]
    t = np.take_along_axis(m, np.argsort(m, 1), 1)
    np.put_along_axis(y, np.argmax(m, 1)[:, None], 0.0, 1)
    del_ = np.delete(m, 1, 0)
    ins = np.insert(m, 1, m[0] * 2, axis=0)
    return (
        y,
        t,
        del_,
        ins,
        np.append(m, m[:1], 0),
        np.roll(m, 1),
        np.resize(m, (2, 3)),
        m.take([5, 1]),
        m.repeat(2, 1),
        np.tile(m, (1, 2)),
        m.diagonal(),
        m.trace(),
        m.compress([1, 0, 1], 0),
    )


def alias_loop(x):
    y = x.copy()
    for _ in range(3):
        y[1:-1] = 0.25 * (y[:-2] + 2 * y[1:-1] + y[2:])
        y[1:] += y[:-1] * 0.1
        y[:-1] -= y[1:] * y[:-1]
        y[::2], y[1::2] = y[1::2], y[::2].copy()
        y[:], z = y[::-1].copy(), y * 2
    a = y
    b = a
    b += 1
    a *= b
    y -= y.mean()
    y /= np.linalg.norm(y)
    y **= 2
    y = -y
    y += y
    return y, z


def nested_alias(x):
    l = [x.copy()] * 2
    l[0][1] = x[0] ** 2
    d = {"a": l[1], "b": l[0][2:]}
    d["b"] *= 3
    d["a"][0] += d["b"][0]
    t = (d["a"],)
    t[0][3:] = t[0][:3]
    return l[0], sum(v.sum() for v in l)


def ufmeth(x):
    return (
        np.add.reduce(x),
        np.multiply.accumulate(x),
        np.subtract.outer(x, x),
        np.add.reduceat(x, [0, 2, 4]),
        np.maximum.reduce(x),
        np.logaddexp.reduce(x),
        np.minimum.accumulate(x),
        np.multiply.reduce(x, initial=2.0),
        np.add.reduce(x, where=x > 0),
        np.multiply.outer(x[:2], x[3:]),
        np.hypot.outer(x[:2], x[2:]),
        np.maximum.reduceat(x, [0, 3]),
    )


def zero_size(x):
    e = x[:0]
    e += 1
    y = np.zeros((0, 3))
    z = y * x[0]
    w = np.concatenate([e, x, e])
    s = e.sum() + z.sum()
    x2 = x.copy()
    x2[[]] = 5.0
    x2[np.zeros(6, bool)] *= 3
    return s, w, x2, np.prod(e) * x[0]


def zero_dim(a, x):
    z = np.array(a)
    z += x[0]
    z *= z
    z[...] = z + 1
    w = z[()]
    v = np.asarray(w)
    u = z.copy()
    u[()] = a
    u.fill(x[1])
    np.add(u, a, out=u)
    l = [np.array(v) for v in x[:2]]
    l[0] += l[1]
    k = x[2:3].reshape(())
    k = k * 1.0
    k += a
    q = x.sum()
    q += 1
    return z, w, v, u, l, k, q, float(z) * a, z.item(), z.sum(), np.add(z, 1)


PROGRAMS = [
    (out_where, (X,)),
    (
        copyto,
        (
            X,
            0.5,
        ),
    ),
    (
        put_place,
        (
            X,
            0.5,
        ),
    ),
    (
        fill_etc,
        (
            M,
            0.3,
        ),
    ),
    (
        diag,
        (
            S,
            0.3,
        ),
    ),
    (einsum_into, (S,)),
    (applied_at, (X,)),
    (flat_iter, (X,)),
    (iteration, (X,)),
    (cviews, (X + 1j * X[::-1],)),
    (masks, (X,)),
    (fancy2, (M,)),
    (alias_loop, (X,)),
    (nested_alias, (X,)),
    (ufmeth, (X,)),
    (zero_size, (X,)),
    (
        zero_dim,
        (
            0.7,
            X,
        ),
    ),
]
