"""`LinearOperator`: a matrix that is given by its products, which may capture arrays.

Solvers call SciPy with these functions. The derivative of a solution is that of the
equation `A(x) = b` in all that the functions capture, and in `b`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np
import scipy.sparse.linalg as _sp

import rules_core as rc
from rules_core.extend import is_sparse
from rules_scipy._functions import Run, if_converged, like, solve
from rules_scipy.sparse._array import SparseArray, as_sparse
from rules_scipy.sparse._products import conjugate, product, together

__all__ = [
    "Held",
    "LinearOperator",
    "aslinearoperator",
    "free",
    "operator_of",
    "operator_solution",
]

Product = Callable[[Any], Any]


@final
class LinearOperator:
    """A linear map by its products, as `scipy.sparse.linalg.LinearOperator`.

    Solutions by iterations (`cg`, `gmres` and others) have derivatives in the arrays
    that the products capture, and in the right-hand side.

    Args:
        shape: The shape of the matrix.
        matvec: `x ↦ A x` for vectors.
        rmatvec: `x ↦ Aᴴ x`; some methods need it, derivatives do not.
        matmat: As in SciPy; not used.
        dtype: Of the matrix; not used.
        rmatmat: As in SciPy; not used.

    Attributes:
        forward: `matvec` as it was given.
        back: `rmatvec` as it was given, or None.

    >>> import jax
    >>> import jax.numpy as jnp
    >>> from rules_scipy.sparse.linalg import LinearOperator, cg
    >>> def total(d):
    ...     A = LinearOperator((2, 2), lambda x: d * x)
    ...     return cg(A, jnp.ones(2), rtol=1e-10)[0].sum()
    >>> jax.jit(jax.grad(total))(jnp.asarray([1.0, 2.0])).round(3).tolist()
    [-1.0, -0.25]
    """

    def __init__(
        self,
        shape: tuple[int, int],
        matvec: Product,
        rmatvec: Product | None = None,
        matmat: Product | None = None,
        dtype: Any = None,
        rmatmat: Product | None = None,
    ) -> None:
        self.shape, self.dtype = (shape[0], shape[1]), dtype
        self.forward, self.back = matvec, rmatvec

    def __tangent_structure__(self) -> rc.Structure:
        def build(values: Sequence[Any]) -> LinearOperator:
            return LinearOperator(self.shape, values[0], values[1], None, self.dtype)

        own = [self.forward, self.back]
        names = ["forward", "back"]
        return rc.Structure(LinearOperator, "field", names, own, build)

    @property
    def ndim(self) -> int:
        """Two."""
        return 2

    def matvec(self, x: Any) -> Any:
        """`A x`; a column stays one."""
        xp = rc.array_namespace(x)
        y = self.forward(xp.reshape(x, (-1,)) if x.ndim == 2 else x)
        return xp.reshape(y, (self.shape[0], *x.shape[1:]))

    def rmatvec(self, x: Any) -> Any:
        """`Aᴴ x`."""
        return self.H.matvec(x)

    def matmat(self, x: Any) -> Any:
        """`A X`, column by column."""
        columns = [self.forward(x[:, i]) for i in range(x.shape[1])]
        return rc.array_namespace(x, *columns).stack(columns, axis=1)

    def rmatmat(self, x: Any) -> Any:
        """`Aᴴ X`."""
        return self.H.matmat(x)

    @property
    def H(self) -> LinearOperator:
        """The adjoint."""
        if self.back is None:
            message = "rmatvec is not defined"
            raise NotImplementedError(message)
        m, n = self.shape
        return LinearOperator((n, m), self.back, self.forward)

    def adjoint(self) -> LinearOperator:
        """The adjoint."""
        return self.H

    def dot(self, x: Any) -> Any:
        """The product with an array, an operator or a number."""
        if isinstance(x, int | float | complex) or getattr(x, "ndim", 2) == 0:
            return self * x
        return self @ x

    def __matmul__(self, x: Any) -> Any:
        if hasattr(x, "matvec"):
            return _composed(self, x)
        return self.matvec(x) if x.ndim == 1 else self.matmat(x)

    def __call__(self, x: Any) -> Any:
        return self @ x

    def __add__(self, other: Any) -> LinearOperator:
        return _sum(self, other)

    def __sub__(self, other: Any) -> LinearOperator:
        return _sum(self, -1.0 * other)

    def __mul__(self, c: Any) -> Any:
        return _scaled(self, c) if getattr(c, "ndim", 0) == 0 else self @ c

    def __rmul__(self, c: Any) -> LinearOperator:
        return _scaled(self, c)

    def __neg__(self) -> LinearOperator:
        return _scaled(self, -1.0)


def _paired(
    shape: Any, forward: Product, back: Product, *operators: LinearOperator
) -> LinearOperator:
    """An operator made of others: it has an adjoint where all of them have one."""
    known = all(x.back is not None for x in operators)
    return LinearOperator(shape, forward, back if known else None)


def _back(a: LinearOperator) -> Any:
    return a.back


# They capture functions: JAX does not look for arrays in objects.


def _composed(a: LinearOperator, x: Any) -> LinearOperator:
    b = operator_of(x)
    f, g, f_back, g_back = a.forward, b.forward, _back(a), _back(b)
    shape = a.shape[0], b.shape[1]
    return _paired(shape, lambda x: f(g(x)), lambda x: g_back(f_back(x)), a, b)


def _sum(a: LinearOperator, x: Any) -> LinearOperator:
    b = operator_of(x)
    f, g, f_back, g_back = a.forward, b.forward, _back(a), _back(b)
    return _paired(
        a.shape, lambda x: f(x) + g(x), lambda x: f_back(x) + g_back(x), a, b
    )


def _scaled(a: LinearOperator, c: Any) -> LinearOperator:
    f, f_back = a.forward, _back(a)

    def back(x: Any) -> Any:
        turned = c if isinstance(c, int | float) else rc.array_namespace(c, x).conj(c)
        return turned * f_back(x)

    return _paired(a.shape, lambda x: c * f(x), back, a)


def _times(data: Any, x: Any, pattern: Any) -> Any:
    numbers, vector = together(data, x)
    return product(numbers, vector, pattern)


def aslinearoperator(A: Any) -> Any:
    """A matrix as a `LinearOperator`; an operator as it is.

    Args:
        A: What `as_sparse` accepts, or an operator.
    """
    if hasattr(A, "matvec"):
        return A
    if is_sparse(A):
        return LinearOperator(A.shape, lambda x: A @ x, lambda x: A.conj().T @ x)
    if getattr(A, "ndim", 0) == 2 and not _is_stored(A):
        xp = rc.array_namespace(A)

        def adjoint_product(x: Any) -> Any:
            return (xp.conj(A) if "complex" in str(A.dtype) else A).T @ x

        return LinearOperator(A.shape, lambda x: A @ x, adjoint_product)
    own = as_sparse(A)
    data, pattern = own.data, own.pattern  # JAX finds an array that is captured
    return LinearOperator(
        own.shape,
        lambda x: _times(data, x, pattern),
        lambda x: _times(conjugate(data), x, pattern.transposed),
    )


@final
class Held:
    """An operator of SciPy: a constant, also where its matrix has numbers."""

    def __init__(self, operator: Any) -> None:
        self.operator = operator

    def __tangent_structure__(self) -> None:
        """A constant."""


def free(x: Any) -> Any:
    """The operator that is held; other values as they are."""
    return x.operator if isinstance(x, Held) else x


_MOVES = (
    "A LinearOperator of SciPy is a constant: make it inside of the function to be "
    "differentiated, of functions that capture what moves."
)


@rc.primitive
def _held(A: Any) -> Any:
    """A constant, checked to be one."""
    return Held(A)


@rc.frule.define(_held)
def _held_frule(tangents: Any, A: Any) -> Any:
    if not isinstance(tangents[1], rc.AbstractZero):
        raise rc.UnsupportedError(_MOVES)
    return Held(A), rc.NoTangent()


@rc.rrule.define(_held)
def _held_rrule(A: Any, *, needs: Any) -> Any:
    if needs[0]:
        raise rc.UnsupportedError(_MOVES)
    return Held(A), lambda _dy: (rc.NoTangent(), rc.NoTangent())


def _applied(A: Any, x: Any) -> Any:
    """The product with an operator of SciPy."""
    return A.operator.matvec(x)


def _applied_adjoint(A: Any, x: Any) -> Any:
    """The product with its adjoint."""
    try:
        return A.operator.rmatvec(x)
    except NotImplementedError as error:
        message = (
            "Reverse mode needs the adjoint of a LinearOperator: give it rmatvec, or "
            "make it inside of the function to be differentiated."
        )
        raise rc.UnsupportedError(message) from error


applied: Any = rc.primitive(_applied)
applied_adjoint: Any = rc.primitive(_applied_adjoint)


def _linear(f: Any, back: Any) -> None:
    """Rules of a product: linear in the vector, the operator is a constant."""

    def product_frule(tangents: Any, A: Any, x: Any) -> Any:
        return f(A, x), f(A, tangents[2])

    def product_rrule(A: Any, x: Any) -> Any:
        def product_pullback(dy: Any) -> Any:
            return rc.NoTangent(), rc.NoTangent(), back(A, dy)

        return f(A, x), product_pullback

    rc.frule.define(f)(product_frule)
    rc.rrule.define(f)(product_rrule)


_linear(applied, applied_adjoint)
_linear(applied_adjoint, applied)


def operator_of(A: Any) -> LinearOperator:
    """An operator of SciPy, which is a constant."""
    if isinstance(A, LinearOperator):
        return A
    if type(A).__module__.startswith("scipy."):
        held: Any = _held(A)
        return LinearOperator(
            A.shape, lambda x: applied(held, x), lambda x: applied_adjoint(held, x)
        )
    message = (
        f"{type(A).__name__} is a class derived from SciPy's LinearOperator, which has "
        "no rule; use LinearOperator(shape, matvec, rmatvec)."
    )
    raise rc.UnsupportedError(message)


def _is_stored(A: Any) -> bool:
    stored = isinstance(A, SparseArray) or type(A).__name__ == "BCOO"
    return stored or "sparse" in str(getattr(A, "layout", ""))


# Solutions

# Up to so many unknowns the derivative's equation is solved by its matrix.
_FEW = 60
# A solution with a larger residual, relative to b, has no derivative.
_RESIDUAL = 1e-3


def _run_method(settings: Any, functions: Any, b: Any, x0: Any = None) -> Any:
    forward, back = functions
    n, given = b.shape[0], {k: free(x) for k, x in settings.items() if k != "name"}
    operator = _sp.LinearOperator((n, n), matvec=forward, rmatvec=back, dtype=b.dtype)
    x, info = getattr(_sp, settings["name"])(operator, b, x0, **given)
    residual = np.linalg.norm(b - forward(x))
    success = info == 0 and residual <= _RESIDUAL * np.linalg.norm(b)
    return x, int(success), (int(info),), {}


def _solution(functions: Any, b: Any, x0: Any, run: Run) -> Any:
    b = like(b, b, functions)
    start = (b,) if x0 is None else (b, like(x0, b))
    return solve(run, functions, (), start, b)


def _residual(x: Any, functions: Any, b: Any, x0: Any, run: Any) -> Any:
    return functions[0](x) - b


def _of_many(functions: Any, b: Any, x0: Any, run: Run) -> Any:
    return _solution(functions, b, x0, run)


_few: rc.Primitive = rc.implicit(_solution, _residual, auxiliary=True)
_many: rc.Primitive = rc.implicit(_of_many, _residual, solve="gmres", auxiliary=True)


def operator_solution(
    name: str, A: Any, b: Any, x0: Any, options: dict[str, Any]
) -> tuple[Any, Any]:
    """`(x, info)` of a method of SciPy for an operator."""
    if b.ndim == 2:
        b = b[:, 0]
    run = Run(_run_method, 1, name=name, **options)
    solution = _few if b.shape[0] <= _FEW else _many
    x, success, counts, _ = solution((A.forward, A.back), b, x0, run)
    return if_converged(x, success, name), counts[0]
