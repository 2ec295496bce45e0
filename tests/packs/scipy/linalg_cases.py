"""Calls of scipy.linalg: name, arguments, options."""

from __future__ import annotations

import numpy as np
import scipy.linalg as sl

from rules_scipy import linalg

ASSUMED = """
general|sym|her|pos|upper triangular|lower triangular|diagonal|tridiagonal|banded
""".strip().split("|")
FUNCTIONS = "expm logm sqrtm cosm sinm tanm coshm sinhm tanhm signm".split()


def draw(rng, *shape, kind):
    x = rng.normal(size=shape)
    return x + 1j * rng.normal(size=shape) if kind == "complex" else x


class Matrices:
    """Matrices of every sort, real or complex."""

    def __init__(self, kind):
        rng = np.random.default_rng(5)

        def new(*shape):
            return draw(rng, *shape, kind=kind)

        self.new = new
        self.square, self.tall, self.wide = new(3, 3), new(4, 3), new(3, 4)
        self.far = new(3, 3) + 4 * np.eye(3)
        self.even = self.square + self.square.conj().T
        self.positive = self.far @ self.far.conj().T
        self.b, self.columns = new(3), new(3, 2)
        self.column = new(3) + 5 * np.eye(3)[0]
        self.band = new(4, 5) + 6 * (np.arange(4) == 1)[:, None]
        self.even_band = new(3, 5)
        self.even_band[-1] = 9 + np.arange(5)


def solves(m):
    for assumed in ASSUMED:
        a = {"pos": m.positive, "her": m.positive, "sym": m.far + m.far.T}
        yield linalg.solve, (a.get(assumed, m.far), m.b), {"assume_a": assumed}
    yield linalg.solve, (m.far, m.columns), {}
    yield linalg.solve, (m.positive, m.columns), {"assume_a": "pos", "lower": True}
    yield linalg.inv, (m.far,), {}
    for trans in (0, 1, 2):
        flags = {"trans": trans, "lower": trans == 1, "unit_diagonal": trans == 2}
        yield linalg.solve_triangular, (m.far, m.b), flags
        yield linalg.lu_solve, (sl.lu_factor(m.square), m.columns, trans), {}
    for lower in (False, True):
        flags = {"lower": lower}
        band = m.even_band[::-1].copy() if lower else m.even_band
        yield linalg.cho_solve, (sl.cho_factor(m.positive, lower), m.b), {}
        yield linalg.solveh_banded, (band, m.new(5, 2)), flags
        pair = sl.cholesky_banded(band, lower=lower), lower
        yield linalg.cho_solve_banded, (pair, m.new(5)), {}
        yield linalg.cholesky_banded, (band,), flags
        yield linalg.cholesky, (m.positive,), flags
        yield linalg.eigvalsh, (m.even,), flags
    yield linalg.solve_banded, ((2, 1), m.band, m.new(5)), {}
    yield linalg.solve_toeplitz, ((m.column, m.b), m.columns), {}
    yield linalg.solve_toeplitz, (m.column, m.b), {}
    yield linalg.solve_circulant, (m.column, m.b), {}


def equations(m):
    yield linalg.solve_sylvester, (m.far, m.new(2, 2), m.columns), {}
    yield linalg.solve_continuous_lyapunov, (m.far, m.square), {}
    yield linalg.solve_discrete_lyapunov, (m.far / 12, m.square), {}


def functions(m):
    for name in FUNCTIONS:
        a = {"logm": m.far, "sqrtm": m.far, "signm": m.square}.get(name, m.far / 6)
        yield getattr(linalg, name), (a,), {}
    yield linalg.expm_frechet, (m.far / 4, m.square), {}
    yield linalg.fractional_matrix_power, (m.far, 0.3), {}
    yield linalg.funm, (m.far, cube), {}


def cube(z):
    return z * z * z


def makers(m):
    yield linalg.circulant, (m.b,), {}
    yield linalg.toeplitz, (m.b, m.new(2)), {}
    yield linalg.toeplitz, (m.b,), {}
    yield linalg.hankel, (m.b, m.new(2)), {}
    yield linalg.hankel, (m.b,), {}
    yield linalg.leslie, (m.b, m.new(2)), {}
    yield linalg.diagsvd, (m.b, 3, 4), {}
    yield linalg.convolution_matrix, (m.b, 4), {"mode": "same"}
    yield linalg.block_diag, (m.square, m.b, m.wide), {}
    yield linalg.companion, (m.new(4),), {}
    yield linalg.fiedler_companion, (m.new(5),), {}
    yield linalg.khatri_rao, (m.square, m.tall), {}
    yield linalg.matmul_toeplitz, ((m.b, m.new(2)), m.new(2)), {}
    balanced = m.far * np.asarray([[1, 13, 17], [0.1, 1, 0.7], [0.03, 0.9, 1]])
    yield linalg.matrix_balance, (balanced,), {}


def decompositions(m):
    for a in (m.square, m.tall, m.wide):
        yield linalg.lu_factor, (a,), {}
        yield linalg.lu, (a,), {}
        yield linalg.lu, (a,), {"permute_l": True}
        yield linalg.qr, (a,), {"mode": "economic"}
        yield linalg.qr, (a,), {"mode": "economic", "pivoting": True}
        yield linalg.qr, (a,), {"mode": "r"}
        yield linalg.polar, (a,), {"side": "left"}
        yield linalg.polar, (a,), {"side": "right"}
        yield linalg.svdvals, (a,), {}
        yield linalg.pinv, (a,), {}
        yield linalg.lstsq, (a, m.new(len(a), 2)), {}
    for lower in (False, True):
        yield linalg.ldl, (m.even,), {"lower": lower}
        even = m.square + m.square.T
        yield linalg.ldl, (even,), {"lower": lower, "hermitian": False}
    yield linalg.rq, (m.square,), {}
    yield linalg.rq, (m.wide,), {"mode": "economic"}
    yield linalg.orthogonal_procrustes, (m.tall, m.new(4, 3)), {}
    yield linalg.subspace_angles, (m.new(5, 2), m.new(5, 3)), {}
    yield linalg.det, (m.square,), {}
    yield linalg.pinvh, (m.positive,), {"lower": False}
    for order in (None, "fro", 1, -1, 2, -2, "nuc"):
        yield linalg.norm, (m.tall,), {"ord": order}
    for order in (None, 1, 3):
        yield linalg.norm, (m.tall,), {"ord": order, "axis": 1}


def values(m):
    part = {"subset_by_index": [0, 1]}
    for kind in (1, 2, 3):
        yield linalg.eigvalsh, (m.even, m.positive), {"type": kind, **part}
    yield linalg.eigvals_banded, (m.even_band,), {}
    yield linalg.eigvals, (m.square,), {}
    yield linalg.eigvals, (m.even, m.positive), {}
    yield linalg.eig, (m.square,), {"left": True}


def real_vectors(m):
    """Vectors whose signs SciPy keeps; those of complex matrices are in test_linalg."""
    for kind in (1, 2, 3):
        part = {"type": kind, "subset_by_index": [1, 2]}
        yield linalg.eigh, (m.even, m.positive), part
    yield linalg.eig_banded, (m.even_band,), {}
    hollow = m.even - np.diag(np.diag(m.even))  # pivots of two rows
    yield linalg.ldl, (hollow,), {}
    yield linalg.schur, (m.far @ np.diag([1.0, 4.0, 9.0]),), {}
    yield linalg.svd, (m.tall,), {}
    yield linalg.svd, (m.wide,), {"full_matrices": False}
    yield linalg.eigvalsh_tridiagonal, (m.new(4), m.new(3)), {}
    yield linalg.eigh_tridiagonal, (m.new(4), m.new(3)), {}
    yield linalg.fiedler, (m.new(4),), {}


def cases():
    """Every call by a name that tells its options."""
    found = {}
    for kind in ("real", "complex"):
        m = Matrices(kind)
        groups = [solves, equations, functions, makers, decompositions, values]
        for group in groups + [real_vectors] * (kind == "real"):
            for f, args, options in group(m):
                shapes = "x".join(map(str, getattr(args[0], "shape", ())))
                told = " ".join(f"{k}={v}" for k, v in options.items())
                name = f"{f.__name__} {kind} {shapes} {told}".strip()
                while name in found:
                    name += "'"
                found[name] = f, args, options
    return found
