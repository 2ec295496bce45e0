"""Programs as users write them: time steps, filters, samplers, prices."""

# As users write: `zip` without strict.
# ruff: noqa: B905, RUF007

import math

import numpy as np

R = np.random.default_rng(3)


def rk45_adaptive(y0, k):
    a = [
        [],
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    b5 = [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0]
    b4 = [5179 / 57600, 0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40]
    f = lambda t, y: np.array([y[1], -k * y[0] - 0.1 * y[1] + math.sin(t)])
    t = 0.0
    y = y0.copy()
    h = 0.1
    while t < 1.0:
        h = min(h, 1.0 - t)
        ks = []
        for i in range(7):
            yi = y + h * sum((aij * kj for aij, kj in zip(a[i], ks)), np.zeros(2))
            ks.append(f(t + h * sum(a[i]), yi))
        y5 = y + h * sum(b * kk for b, kk in zip(b5, ks))
        y4 = y + h * sum(b * kk for b, kk in zip(b4, ks))
        err = float(np.max(np.abs(y5 - y4)))
        if err < 1e-2:
            t += h
            y = y5
        h *= 2.0 if err < 1e-4 else 0.5
    return y


def kalman(x, Pm, zs):
    F = np.array([[1, 0.1], [0, 1]])
    H = np.array([[1.0, 0]])
    Q = np.eye(2) * 0.01
    R = np.array([[0.2]])
    ll = 0.0
    for z in zs:
        x = F @ x
        Pm = F @ Pm @ F.T + Q
        S = H @ Pm @ H.T + R
        K = Pm @ H.T @ np.linalg.inv(S)
        v = z - H @ x
        ll -= 0.5 * (v @ np.linalg.solve(S, v) + np.log(np.linalg.det(S)))
        x = x + K @ v
        Pm = (np.eye(2) - K @ H) @ Pm
    return ll, x, Pm


def particle(a, s, obs):
    rng = np.random.default_rng(0)
    xs = rng.normal(size=20) * s
    ll = 0.0
    for o in obs:
        xs = a * xs + s * rng.normal(size=20)
        lw = -0.5 * (o - xs) ** 2
        m = lw.max()
        w = np.exp(lw - m)
        ll = ll + m + np.log(w.mean())
        w /= w.sum()
        idx = np.searchsorted(
            np.cumsum(np.full(20, 1 / 20)), rng.uniform(size=20) * 0.999
        )
        xs = xs[idx] * (w[idx] * 20)
    return ll


def hmm(A, p, B):
    A = np.exp(A)
    A /= A.sum(1, keepdims=True)
    p = np.exp(p)
    p /= p.sum()
    B = np.exp(B)
    B /= B.sum(axis=1)[:, None]
    obs = [0, 2, 1, 3, 3, 0]
    al = p * B[:, obs[0]]
    ll = 0.0
    for o in obs[1:]:
        c = al.sum()
        ll += np.log(c)
        al = (al / c) @ A * B[:, o]
    return ll + math.log(al.sum())


def crf(em, tr):
    from scipy.special import logsumexp

    a = em[0]
    for t in range(1, len(em)):
        a = em[t] + logsumexp(a[:, None] + tr, axis=0)
    tags = [0, 1, 1, 2, 0]
    sc = em[0, tags[0]]
    for t in range(1, 5):
        sc += tr[tags[t - 1], tags[t]] + em[t, tags[t]]
    return sc - logsumexp(a)


def nbody(x, v, m):
    x = x.copy()
    v = v.copy()
    n = len(m)
    for _ in range(3):
        a = np.zeros_like(x)
        for i in range(n):
            for j in range(i + 1, n):
                d = x[j] - x[i]
                q = (d @ d + 0.1) ** -1.5
                a[i] += m[j] * d * q
                a[j] -= m[i] * d * q
        v += 0.05 * a
        x += 0.05 * v
    return x, 0.5 * np.sum(m * np.einsum("ij,ij->i", v, v))


def pde_roll(u, nu):
    for _ in range(3):
        lap = (
            np.roll(u, 1, 0)
            + np.roll(u, -1, 0)
            + np.roll(u, 1, axis=1)
            + np.roll(u, -1, 1)
            - 4 * u
        )
        u = u + nu * lap - 0.01 * u * (np.roll(u, -1, 0) - np.roll(u, 1, 0))
    return u


def hmc(q, eps):
    U = lambda q: 0.5 * np.sum(q**2) + np.sum(np.cos(q))
    gU = lambda q: q - np.sin(q)
    rng = np.random.RandomState(1)
    acc = []
    for _ in range(3):
        p = rng.randn(3)
        q0, p0 = q, p
        p = p - 0.5 * eps * gU(q)
        for i in range(4):
            q = q + eps * p
            if i < 3:
                p = p - eps * gU(q)
        p = p - 0.5 * eps * gU(q)
        dH = U(q0) + 0.5 * p0 @ p0 - U(q) - 0.5 * p @ p
        if not math.log(rng.rand()) < dH:
            q = q0
        acc.append(dH)
    return q, np.array(acc)


def neural_ode(W, b, y):
    ts = np.linspace(0, 1, 5)
    ys = [y]
    f = lambda y: np.tanh(W @ y + b)
    for t0, t1 in zip(ts[:-1], ts[1:]):
        h = t1 - t0
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        ys.append(y)
    return np.vstack(ys)


def garch(e, a, b):
    s2 = np.empty(len(e))
    s2[0] = e.var()
    for t in range(1, len(e)):
        s2[t] = 0.1 + a * e[t - 1] ** 2 + b * s2[t - 1]
    return -0.5 * np.sum(np.log(s2) + e**2 / s2)


def binomial(S, K, s, rr, T):
    N = 8
    dt = T / N
    u = np.exp(s * np.sqrt(dt))
    d = 1 / u
    p = (np.exp(rr * dt) - d) / (u - d)
    disc = math.exp(-rr * dt)
    ST = S * u ** np.arange(N, -1, -1) * d ** np.arange(0, N + 1)
    V = np.maximum(K - ST, 0)
    for _i in range(N - 1, -1, -1):
        V = disc * (p * V[:-1] + (1 - p) * V[1:])
        ST = ST[:-1] / u
        V = np.maximum(V, K - ST)
    return V[0]


def newton(a, x0):
    x = x0
    it = 0
    while True:
        fx = x**3 - a
        x_new = x - fx / (3 * x * x)
        it += 1
        if abs(x_new - x) < 1e-13 or it > 50:
            return x_new
        x = x_new


def adam(w, b1, b2):
    m = np.zeros_like(w)
    v = np.zeros_like(w)
    for t in range(1, 5):
        g = 2 * w + np.cos(w)
        m = b1 * m + (1 - b1) * g
        v = b2 * v + (1 - b2) * g**2
        w = w - 0.1 * (m / (1 - b1**t)) / (np.sqrt(v / (1 - b2**t)) + 1e-8)
    return w


PROGRAMS = [
    (
        rk45_adaptive,
        (
            np.array([1.0, 0.5]),
            0.3,
        ),
    ),
    (
        kalman,
        (
            np.array([0.2, 0.1]),
            np.eye(2) * 0.5 + 0.1,
            R.normal(size=(6, 1)),
        ),
    ),
    (
        particle,
        (
            0.8,
            0.3,
            R.normal(size=5),
        ),
    ),
    (
        hmm,
        (
            R.normal(size=(3, 3)),
            R.normal(size=3),
            R.normal(size=(3, 4)),
        ),
    ),
    (
        crf,
        (
            R.normal(size=(5, 3)),
            R.normal(size=(3, 3)),
        ),
    ),
    (
        nbody,
        (
            R.normal(size=(4, 3)),
            R.normal(size=(4, 3)) * 0.1,
            np.abs(R.normal(size=4)) + 0.5,
        ),
    ),
    (
        pde_roll,
        (
            R.normal(size=(5, 6)),
            0.2,
        ),
    ),
    (
        hmc,
        (
            R.normal(size=3),
            0.1,
        ),
    ),
    (
        neural_ode,
        (
            R.normal(size=(3, 3)),
            R.normal(size=3),
            R.normal(size=3),
        ),
    ),
    (
        garch,
        (
            R.normal(size=20),
            0.3,
            0.1,
        ),
    ),
    (
        binomial,
        (
            100.0,
            95.0,
            0.2,
            0.03,
            1.0,
        ),
    ),
    (
        newton,
        (
            2.0,
            1.5,
        ),
    ),
    (
        adam,
        (
            R.normal(size=6),
            0.9,
            0.99,
        ),
    ),
]
