"""Options of sparse solvers: those that move the solution, and those that do not."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as la

from rules_autodiff import grad, jvp
from rules_scipy.sparse import as_sparse
from rules_scipy.sparse.linalg import minres

X = np.array([3.0, 0.4, 0.4, 4.0, 2.0])
DX = np.array([0.3, -0.7, 0.2, 0.1, 0.4])
B = np.array([1.0, 2.0, 3.0])
EXACT = {"atol": 1e-14, "btol": 1e-14}


def square(x):
    return sp.csr_array((x, ([0, 0, 1, 1, 2], [0, 1, 0, 1, 2])))


def wide(x):
    return sp.csr_array((x, ([0, 0, 1, 1, 1], [0, 1, 0, 2, 3])))


def operator(x):
    return la.LinearOperator((3, 3), lambda v: square(x) @ v)


PROGRAMS = {
    "shift": lambda x: la.minres(square(x), B, shift=x[1], rtol=1e-12)[0],
    "fixed shift": lambda x: la.minres(square(x), B, shift=0.5, rtol=1e-12)[0],
    "shift of products": lambda x: la.minres(operator(x), B, shift=x[1], rtol=1e-12)[0],
    "rtol": lambda x: la.cg(square(x), B, rtol=1e-12 * x[0])[0],
    "lsqr damp": lambda x: la.lsqr(wide(x), B[:2], damp=x[4], **EXACT)[0],
    "lsqr x0": lambda x: la.lsqr(wide(x), B[:2], x0=x[:4], **EXACT)[0],
    "lsmr both": lambda x: la.lsmr(wide(x), B[:2], x[4], x0=x[:4], **EXACT)[0],
}


@pytest.mark.covering(every=3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_options(name):
    def f(x):
        return np.sum(PROGRAMS[name](x) ** 2)

    want = (f(X + 1e-6 * DX) - f(X - 1e-6 * DX)) / 2e-6
    assert grad(f)(X) @ DX == pytest.approx(want, rel=1e-5)
    assert jvp(f, (X,), (DX,))[1] == pytest.approx(want, rel=1e-5)


def test_what_eigenvalues_do_not_depend_on_has_derivative_zero():
    a = sp.diags_array(np.arange(1.0, 7.0)).tocsr()
    assert grad(lambda s: la.eigsh(a, 2, sigma=s)[0].sum())(2.3) == 0
    assert not np.any(grad(lambda v: la.svds(a, 2, v0=v)[1].sum())(np.ones(6)))


@pytest.mark.parametrize("moves", [True, False])
def test_a_shift_in_pytorch(moves):
    torch = pytest.importorskip("torch")
    matrix = as_sparse(square(X))

    def f(s):
        a = matrix if moves else matrix.with_data(s * torch.tensor(matrix.data))
        y = minres(a, B, shift=s if moves else 0.5, rtol=1e-12)[0]
        return y.sum()

    shift = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    f(shift).backward()
    ends = [f(torch.tensor(0.5 + h, dtype=torch.float64)) for h in (1e-6, -1e-6)]
    want = (ends[0] - ends[1]).item() / 2e-6
    assert shift.grad.item() == pytest.approx(want, rel=1e-5)
