"""Programs as users write them: signals, images, sequences, networks."""

import math

import numpy as np

R = np.random.default_rng(3)


def fft_filter(x, h):
    X = np.fft.rfft(x, 32)
    H = np.fft.rfft(h, n=32)
    y = np.fft.irfft(X * H, 32)[:20]
    return y, np.abs(X) ** 2


def kmeans(x, c):
    c = c.copy()
    for _ in range(4):
        d = ((x[:, None] - c[None]) ** 2).sum(-1)
        lab = d.argmin(1)
        for k in range(3):
            m = lab == k
            if m.any():
                c[k] = x[m].mean(0)
    return c, np.min(((x[:, None] - c) ** 2).sum(-1), axis=1).sum()


def raycast(o, d, rad):
    d = d / np.linalg.norm(d)
    img = np.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            dd = d + np.array([i * 0.05, j * 0.05, 0.0])
            dd = dd / np.sqrt((dd**2).sum())
            b = o @ dd
            c = o @ o - rad**2
            disc = b * b - c
            if disc < 0:
                continue
            t = -b - np.sqrt(disc)
            n = (o + t * dd) / rad
            img[i, j] = max(0.0, float(n @ np.array([0.0, 0.6, -0.8])))
    return img


def soft_dtw(x, y, g):
    D = (x[:, None] - y[None, :]) ** 2
    R = np.full((6, 7), 1e10)
    R[0, 0] = 0.0
    for i in range(1, 6):
        for j in range(1, 7):
            z = np.array([R[i - 1, j - 1], R[i - 1, j], R[i, j - 1]]) / -g
            m = z.max()
            R[i, j] = D[i - 1, j - 1] - g * (m + np.log(np.exp(z - m).sum()))
    return R[5, 6]


def soft_lev(sub, ci, cd, g):
    d = {(0, 0): 0.0}
    for i in range(5):
        for j in range(5):
            if (i, j) == (0, 0):
                continue
            o = []
            if i:
                o.append(d[i - 1, j] + cd)
            if j:
                o.append(d[(i, j - 1)] + ci)
            if i and j:
                o.append(d[i - 1, j - 1] + sub[i - 1, j - 1])
            m = min(o)
            d[i, j] = m - g * math.log(sum(math.exp((m - v) / g) for v in o))
    return d[4, 4]


def warp(img, A, t):
    H, W = img.shape
    yy, xx = np.mgrid[0:H, 0:W]
    c = np.stack([yy.ravel(), xx.ravel()]).astype(float)
    p = A @ c + t[:, None]
    p0 = np.floor(p).astype(int)
    w = p - p0
    y0 = np.clip(p0[0], 0, H - 1)
    y1 = np.clip(p0[0] + 1, 0, H - 1)
    x0 = np.clip(p0[1], 0, W - 1)
    x1 = np.clip(p0[1] + 1, 0, W - 1)
    out = (
        img[y0, x0] * (1 - w[0]) * (1 - w[1])
        + img[y1, x0] * w[0] * (1 - w[1])
        + img[y0, x1] * (1 - w[0]) * w[1]
        + img[y1, x1] * w[0] * w[1]
    )
    return out.reshape(H, W)


def conv2d(w, x):
    from numpy.lib.stride_tricks import sliding_window_view

    win = sliding_window_view(x, (3, 3), axis=(1, 2))
    y = np.einsum("chwij,ocij->ohw", win, w)
    y = np.maximum(y, 0.01 * y)
    return y.reshape(3, 2, 2, 2, 2).max(axis=(2, 4))


def attention(x, q, k, v):
    s = (x @ q) @ (x @ k).T / np.sqrt(3)
    s = np.where(np.tril(np.ones((4, 4), bool)), s, -1e9)
    s -= s.max(-1, keepdims=True)
    a = np.exp(s)
    a /= a.sum(-1, keepdims=True)
    o = a @ (x @ v)
    mu = o.mean(-1, keepdims=True)
    return (o - mu) / np.sqrt(o.var(-1, keepdims=True) + 1e-5)


def polygon(p):
    x, y = p.T
    a = 0.5 * np.abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1)))
    per = sum(math.hypot(*(p[i] - p[i - 1])) for i in range(len(p)))
    return a, per


def sortstat(x):
    s = np.sort(x)
    n = len(x)
    gini = 2 * np.sum((np.arange(1, n + 1)) * s) / (n * np.sum(s**2))
    q = np.quantile(x, [0.25, 0.6])
    med = np.median(x)
    o = np.argsort(-x)
    return (
        gini,
        q,
        med,
        np.percentile(x, 33),
        x[o][:2],
        np.trapezoid(s, dx=0.1),
        np.ptp(x),
        np.interp(0.2, np.arange(6.0), x),
    )


def my_fft(x):
    def fft(x):
        n = len(x)
        if n == 1:
            return x
        e, o = fft(x[::2]), fft(x[1::2])
        tw = np.exp(-2j * np.pi * np.arange(n // 2) / n) * o
        return np.concatenate([e + tw, e - tw])

    return fft(x)


PROGRAMS = [
    (
        fft_filter,
        (
            R.normal(size=16),
            R.normal(size=5),
        ),
    ),
    (
        kmeans,
        (
            R.normal(size=(12, 2)),
            R.normal(size=(3, 2)),
        ),
    ),
    (
        raycast,
        (
            np.array([0.0, 0.1, -3.0]),
            np.array([0.2, 0.1, 1.0]),
            1.1,
        ),
    ),
    (
        soft_dtw,
        (
            R.normal(size=5),
            R.normal(size=6),
            0.5,
        ),
    ),
    (
        soft_lev,
        (
            R.normal(size=(4, 4)),
            1.2,
            0.7,
            0.4,
        ),
    ),
    (
        warp,
        (
            R.normal(size=(4, 4)),
            np.array([[0.99, 0.02], [0.01, 1.05]]),
            np.array([0.42, 0.42]),  # no point on the grid
        ),
    ),
    (
        conv2d,
        (
            R.normal(size=(3, 2, 3, 3)) * 0.3,
            R.normal(size=(2, 6, 6)),
        ),
    ),
    (
        attention,
        (
            R.normal(size=(4, 3)),
            R.normal(size=(3, 3)),
            R.normal(size=(3, 3)),
            R.normal(size=(3, 3)),
        ),
    ),
    (polygon, (R.normal(size=(4, 2)),)),
    (sortstat, (R.normal(size=6),)),
    (my_fft, (R.normal(size=8) + 1j * R.normal(size=8),)),
]
