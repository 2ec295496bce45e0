"""Programs as users write them: factorisations, solvers, splines, regressions."""

import numpy as np

R = np.random.default_rng(3)


def lu(A, b):
    A = A.copy()
    n = len(A)
    L = np.eye(n)
    perm = np.arange(n)
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            perm[[k, p]] = perm[[p, k]]
            L[[k, p], :k] = L[[p, k], :k]
        for i in range(k + 1, n):
            L[i, k] = A[i, k] / A[k, k]
            A[i, k:] -= L[i, k] * A[k, k:]
    y = np.zeros(n)
    b = b[perm]
    for i in range(n):
        y[i] = b[i] - L[i, :i] @ y[:i]
    x = np.empty_like(y)
    for i in reversed(range(n)):
        x[i] = (y[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def householder(A):
    R = A.copy()
    m, n = R.shape
    Q = np.eye(m)
    for k in range(n):
        x = R[k:, k]
        v = x.copy()
        v[0] += np.copysign(np.linalg.norm(x), x[0])
        v /= np.linalg.norm(v)
        R[k:, k:] -= 2 * np.outer(v, v @ R[k:, k:])
        Q[:, k:] -= 2 * np.outer(Q[:, k:] @ v, v)
    return Q[:, :n], R[:n]


def cg(M, b):
    A = M @ M.T + 4 * np.eye(4)
    x = np.zeros_like(b)
    rr = b - A @ x
    p = rr.copy()
    rs = rr @ rr
    for _ in range(3):
        Ap = A @ p
        al = rs / (p @ Ap)
        x += al * p
        rr -= al * Ap
        new = rr @ rr
        if np.sqrt(new) < 1e-12:
            break
        p = rr + (new / rs) * p
        rs = new
    return x


def cubic_spline(x, y):
    n = len(x)
    h = np.diff(x)
    al = np.zeros(n)
    al[1:-1] = 3 * (y[2:] - y[1:-1]) / h[1:] - 3 * (y[1:-1] - y[:-2]) / h[:-1]
    l = np.ones(n)
    mu = np.zeros(n)
    z = np.zeros(n)
    for i in range(1, n - 1):
        l[i] = 2 * (x[i + 1] - x[i - 1]) - h[i - 1] * mu[i - 1]
        mu[i] = h[i] / l[i]
        z[i] = (al[i] - h[i - 1] * z[i - 1]) / l[i]
    c = np.zeros(n)
    b = np.zeros(n - 1)
    d = np.zeros(n - 1)
    for j in range(n - 2, -1, -1):
        c[j] = z[j] - mu[j] * c[j + 1]
        b[j] = (y[j + 1] - y[j]) / h[j] - h[j] * (c[j + 1] + 2 * c[j]) / 3
        d[j] = (c[j + 1] - c[j]) / (3 * h[j])
    q = np.array([0.11, 0.35, 0.75])
    k = np.clip(np.searchsorted(x, q) - 1, 0, n - 2)
    t = q - x[k]
    return y[k] + t * (b[k] + t * (c[k] + t * d[k]))


def deboor(x, c):
    t = np.array([0, 0, 0, 0, 0.25, 0.5, 0.75, 1, 1, 1, 1.0])
    p = 3
    k = np.searchsorted(t, x, side="right") - 1
    d = [c[j + k - p] for j in range(p + 1)]
    for rr in range(1, p + 1):
        for j in range(p, rr - 1, -1):
            al = (x - t[j + k - p]) / (t[j + 1 + k - rr] - t[j + k - p])
            d[j] = (1 - al) * d[j - 1] + al * d[j]
    return d[p]


def gp(X, y, th):
    l, s, n = np.exp(th)
    d2 = np.sum((X[:, None, :] - X[None, :, :]) ** 2, axis=-1)
    K = s * np.exp(-0.5 * d2 / l**2) + n * np.eye(len(X))
    L = np.linalg.cholesky(K)
    al = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return -0.5 * y @ al - np.log(np.diag(L)).sum() - 3 * np.log(2 * np.pi)


def gmm_em(x, mu, pi):
    S = np.stack([np.eye(2)] * 2)
    for _ in range(3):
        lp = np.empty((len(x), 2))
        for k in range(2):
            d = x - mu[k]
            _, ld = np.linalg.slogdet(S[k])
            lp[:, k] = (
                np.log(pi[k])
                - 0.5 * ld
                - 0.5 * np.einsum("ni,ij,nj->n", d, np.linalg.inv(S[k]), d)
            )
        m = lp.max(1, keepdims=True)
        R = np.exp(lp - m)
        R /= R.sum(1, keepdims=True)
        N = R.sum(0)
        pi = N / N.sum()
        mu = (R.T @ x) / N[:, None]
        S = np.array(
            [
                (R[:, k, None] * (x - mu[k])).T @ (x - mu[k]) / N[k] + 0.1 * np.eye(2)
                for k in range(2)
            ]
        )
    return mu, pi, S


def irls(X, y):
    b = np.zeros(3)
    for _ in range(5):
        p = 1 / (1 + np.exp(-X @ b))
        Wd = p * (1 - p)
        b = b + np.linalg.solve(
            X.T @ (Wd[:, None] * X) + 0.5 * np.eye(3), X.T @ ((y > 0) - p) - 0.5 * b
        )
    return b, -np.sum(np.logaddexp(0, -(2 * (y > 0) - 1) * (X @ b)))


def power_iter(A):
    S = A @ A.T + np.diag([5.0, 3, 2, 1, 0])
    v = np.ones(5) / np.sqrt(5)
    for _k in range(60):
        w = S @ v
        n = np.linalg.norm(w)
        w = w / n
        if np.allclose(v, w, atol=1e-30):
            break
        v = w
    return v @ S @ v


def expm_series(A, t):
    s = 0
    B = A * t
    n = np.linalg.norm(B, 1)
    while n > 0.5:
        n /= 2
        s += 1
    B = B / 2**s
    term = np.eye(3)
    out = np.eye(3)
    for k in range(1, 14):
        term = term @ B / k
        out += term
    for _ in range(s):
        out = out @ out
    return out


def cp(T, B):
    _U, s, _Vt = np.linalg.svd(T.reshape(3, -1), full_matrices=False)
    G = np.tensordot(T, B, axes=([2], [0]))
    return s, np.einsum("ijk,ijk->k", G, G)


def complex_roots(c, t):
    z = 0.4 + 0.9j
    for _ in range(15):
        pz = ((z + c[0]) * z + c[1]) * z + c[2]
        dp = (3 * z + 2 * c[0]) * z + c[1]
        z = z - pz / dp
    return z, np.abs(z * np.exp(1j * t))


PROGRAMS = [
    (
        lu,
        (
            R.normal(size=(4, 4)) + 4 * np.eye(4),
            R.normal(size=4),
        ),
    ),
    (householder, (R.normal(size=(5, 3)),)),
    (
        cg,
        (
            R.normal(size=(4, 4)),
            R.normal(size=4),
        ),
    ),
    (
        cubic_spline,
        (
            np.linspace(0, 1, 6) ** 1.1,
            R.normal(size=6),
        ),
    ),
    (
        deboor,
        (
            0.43,
            R.normal(size=7),
        ),
    ),
    (
        gp,
        (
            R.normal(size=(6, 2)),
            R.normal(size=6),
            np.array([0.1, 0.2, -1.0]),
        ),
    ),
    (
        gmm_em,
        (
            R.normal(size=(8, 2)),
            R.normal(size=(2, 2)),
            np.array([0.4, 0.6]),
        ),
    ),
    (
        irls,
        (
            R.normal(size=(7, 3)),
            R.normal(size=7),
        ),
    ),
    (power_iter, (R.normal(size=(5, 5)),)),
    (
        expm_series,
        (
            R.normal(size=(3, 3)),
            0.3,
        ),
    ),
    (
        cp,
        (
            R.normal(size=(3, 4, 5)),
            R.normal(size=(5, 2)),
        ),
    ),
    (
        complex_roots,
        (
            np.array([1 + 0.5j, 2 - 1j, 0.3j + 1]),
            np.array([0.2, 0.3]),
        ),
    ),
]
