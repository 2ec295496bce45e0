"""`Rotation`: unit quaternions with the methods of SciPy's class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.spatial.transform as _sp

import rules_core as rc
from rules_scipy._arrays import arrays, check, is_numpy
from rules_scipy._axes import concat
from rules_scipy._methods import covers_constructors, covers_methods
from rules_scipy.spatial._declare import covers

from . import _angles, _quaternions as quaternions
from ._alignment import aligned
from ._dominant import dominant
from ._groups import reduced

__all__ = ["Rotation", "own_rotation", "with_entries"]

_DEGREE = np.pi / 180.0
# Since 1.17 SciPy's rotations have shapes, and one angle alone is one rotation.
_HAS_SHAPES = hasattr(_sp.Rotation, "shape")
# SciPy 1.15 takes a formula for rotations in place of the nearest one.
_STRETCHED = np.diag([1.0, 2.0, 3.0]) + np.diag([0.5, 0.0], 1)
_FINDS_NEAREST = np.allclose(
    _sp.Rotation.from_matrix(_STRETCHED).as_quat(),
    quaternions.of_matrix(_STRETCHED),
)


def _of(q: Any) -> Any:
    """A rotation by its quaternion as it is."""
    made: Any = Rotation.__new__(Rotation)
    made.quat = q
    return made


@covers(_sp.Rotation)
class Rotation(_sp.Rotation):
    """`scipy.spatial.transform.Rotation`, of arrays of any framework and any shape.

    Derivatives are those of the quaternion, of length one, which stands for it. They
    are exact at the identity, at every order. At an angle of π `as_rotvec`, `as_mrp`
    and `as_quat(canonical=True)` jump, and have the derivative of SciPy's branch; at
    gimbal lock `as_euler` has none.

    Attributes:
        quat: The quaternion, `(..., 4)`, the real part last.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.transform import Rotation
    >>> turned = lambda r: Rotation.from_rotvec(r).apply(np.asarray([1.0, 0.0, 0.0]))
    >>> jax.jacobian(turned)(np.zeros(3)).tolist()
    [[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
    """

    quat: Any = None

    def __init__(
        self, quat: Any, normalize: bool = True, copy: bool = True,
        scalar_first: bool = False,
    ) -> None:  # fmt: skip
        check(_sp.Rotation, quat, normalize, copy, scalar_first)
        [q] = arrays(quat)
        q = quaternions.rolled(q, scalar_first=scalar_first)
        self.quat = quaternions.normalised(q) if normalize else q

    # from

    @staticmethod
    def from_quat(quat: Any, *, scalar_first: bool = False) -> Any:
        """The rotation of a quaternion of any length."""
        return Rotation(quat, scalar_first=scalar_first)

    @staticmethod
    def from_matrix(matrix: Any, *, assume_valid: bool = False) -> Any:
        """The rotation nearest to a matrix.

        So the derivative is that of the nearest rotation, also where the matrix is one.
        With `assume_valid`, and in SciPy 1.15, it is that of a formula for rotations.
        """
        options = {"assume_valid": True} if assume_valid else {}
        check(_sp.Rotation.from_matrix, matrix, **options)
        [m] = arrays(matrix)
        if assume_valid or not _FINDS_NEAREST:
            return _of(quaternions.of_orthogonal(m))
        return _of(quaternions.of_matrix(m))

    @staticmethod
    def from_rotvec(rotvec: Any, degrees: bool = False) -> Any:
        """The rotation about a vector, by its length."""
        check(_sp.Rotation.from_rotvec, rotvec, degrees)
        [r] = arrays(rotvec)
        return _of(quaternions.of_rotvec(r * _DEGREE if degrees else r))

    @staticmethod
    def from_euler(seq: str, angles: Any, degrees: bool = False) -> Any:
        """The rotation by one to three angles about axes."""
        check(_sp.Rotation.from_euler, seq, angles, degrees)
        [a] = arrays(angles)
        a = _with_axis(a * _DEGREE if degrees else a, len(seq))
        return _of(_angles.of_euler(seq, a))

    @staticmethod
    def from_davenport(
        axes: Any, order: str, angles: Any, degrees: bool = False
    ) -> Any:
        """The rotation by one to three angles about any axes."""
        check(_sp.Rotation.from_davenport, axes, order, angles, degrees)
        n, a = arrays(axes, angles)
        n = n[None, :] if len(n.shape) == 1 else n
        a = _with_axis(a * _DEGREE if degrees else a, n.shape[-2])
        return _of(_angles.of_davenport(n, order, a))

    @staticmethod
    def from_mrp(mrp: Any) -> Any:
        """The rotation of modified Rodrigues parameters."""
        check(_sp.Rotation.from_mrp, mrp)
        return _of(quaternions.of_mrp(arrays(mrp)[0]))

    @staticmethod
    def identity(num: Any = None, **shape: Any) -> Any:
        """SciPy's, a constant."""
        return own_rotation(_sp.Rotation.identity(num, **shape))

    @staticmethod
    def random(*args: Any, **kwargs: Any) -> Any:
        """SciPy's, a constant."""
        return own_rotation(_sp.Rotation.random(*args, **kwargs))

    @classmethod
    def create_group(cls, group: str, axis: str = "Z") -> Any:
        """SciPy's, a constant."""
        return own_rotation(_sp.Rotation.create_group(group, axis))

    @staticmethod
    def concatenate(rotations: Any) -> Any:
        """Rotations along a first axis."""
        if isinstance(rotations, _sp.Rotation):
            return _of(own_rotation(rotations).quat)
        if not all(isinstance(r, _sp.Rotation) for r in rotations):
            message = "input must contain Rotation objects only"
            raise TypeError(message)
        parts = arrays(*[own_rotation(r).quat for r in rotations])
        parts = [q[None, :] if len(q.shape) == 1 else q for q in parts]
        return _of(concat(parts))

    @staticmethod
    def align_vectors(
        a: Any, b: Any, weights: Any = None, return_sensitivity: bool = False
    ) -> Any:
        """The rotation that takes `b` nearest to `a`, and the distance that is left."""
        check(_sp.Rotation.align_vectors, a, b, weights, return_sensitivity)
        q, *others = aligned(a, b, weights, wants_sensitivity=return_sensitivity)
        return _of(q), *others

    # as

    def as_quat(self, canonical: bool = False, *, scalar_first: bool = False) -> Any:
        """The quaternion; with `canonical` that of a positive real part."""
        q = self.quat
        if canonical:
            q = q * quaternions.canonical_sign(q)
        return quaternions.rolled(q, scalar_first=scalar_first, back=True)

    def as_matrix(self) -> Any:
        """The matrix."""
        return quaternions.matrix(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Any:
        """The rotation vector."""
        r = quaternions.rotvec(self.quat)
        return r / _DEGREE if degrees else r

    def as_euler(
        self, seq: str, degrees: bool = False, *, suppress_warnings: bool = False
    ) -> Any:
        """The angles about three axes."""
        quiet = {"suppress_warnings": True} if suppress_warnings else {}
        check(_scipys, self.quat, "as_euler", seq, degrees, **quiet)
        angles = _angles.euler(self.quat, seq)
        return angles / _DEGREE if degrees else angles

    def as_davenport(
        self, axes: Any, order: str, degrees: bool = False, *,
        suppress_warnings: bool = False,
    ) -> Any:  # fmt: skip
        """The angles about any three axes, neighbours of which are orthogonal."""
        quiet = {"suppress_warnings": True} if suppress_warnings else {}
        check(_scipys, self.quat, "as_davenport", axes, order, degrees, **quiet)
        q, n = arrays(self.quat, axes)
        angles = _angles.davenport(q, n, order)
        return angles / _DEGREE if degrees else angles

    def as_mrp(self) -> Any:
        """Modified Rodrigues parameters."""
        return quaternions.mrp(self.quat)

    # algebra

    def apply(self, vectors: Any, inverse: bool = False) -> Any:
        """The vectors rotated."""
        q, v = arrays(self.quat, vectors)
        if v.shape[-1] != 3:
            message = f"Expected input of shape (..., 3), got {v.shape}."
            raise ValueError(message)
        return quaternions.rotated(q, v, inverse=inverse)

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, _sp.Rotation):
            return NotImplemented
        p, q = arrays(self.quat, own_rotation(other).quat)
        return _of(quaternions.normalised(quaternions.product(p, q)))

    def __rmul__(self, other: Any) -> Any:
        if not isinstance(other, _sp.Rotation):
            return NotImplemented
        return own_rotation(other) * self

    def __pow__(self, n: Any, modulus: Any = None) -> Any:
        """The rotation by `n` times the angle, which has a derivative in `n` too."""
        if modulus is not None:
            message = "modulus not supported"
            raise NotImplementedError(message)
        q, n = arrays(self.quat, n)
        xp = rc.array_namespace(q)
        n = xp.reshape(n, ()) if tuple(n.shape) == (1,) else n
        once = xp.abs(rc.ignore_derivatives(n)) == 1.0
        sign = quaternions.canonical_sign(q)
        sign = xp.where(once, sign, xp.ones_like(sign))
        return _of(sign * quaternions.of_rotvec(n * quaternions.rotvec(q)))

    def inv(self) -> Any:
        """The inverse."""
        return _of(quaternions.conjugate(self.quat))

    def magnitude(self) -> Any:
        """The angle; zero and π are kinks, where its derivative is zero."""
        return quaternions.magnitude(self.quat)

    def approx_equal(self, other: Any, atol: Any = None, degrees: bool = False) -> Any:
        """Whether the rotations are equal up to an angle."""
        atol = 1e-8 if atol is None else atol * _DEGREE if degrees else atol
        return (
            rc.ignore_derivatives((own_rotation(other) * self.inv()).magnitude()) < atol
        )

    def mean(self, weights: Any = None, axis: Any = None) -> Any:
        """The mean by the squares of chords, in the weights too."""
        options = {} if axis is None else {"axis": axis}
        check(_scipys, self.quat, "mean", weights, **options)
        q, w = arrays(self.quat, weights)
        xp = rc.array_namespace(q)
        squares = q[..., :, None] * q[..., None, :]
        if w is not None:
            squares = w[..., None, None] * squares
        count = len(q.shape) - 1
        axes = range(count) if axis is None else np.atleast_1d(axis).tolist()
        axes = tuple(sorted({int(i) % count for i in axes} if count else ()))
        return _of(dominant(xp.mean(squares, axis=axes)))

    def reduce(
        self, left: Any = None, right: Any = None, return_indices: bool = False
    ) -> Any:
        """The least of the equivalent rotations of two groups."""
        groups = [None if g is None else own_rotation(g).quat for g in (left, right)]
        q, *indices = reduced(*arrays(self.quat, *groups))
        return (_of(q), *indices) if return_indices else _of(q)

    # a sequence

    @property
    def single(self) -> bool:
        """Whether it is one rotation."""
        return len(self.quat.shape) == 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of rotations."""
        return tuple(self.quat.shape[:-1])

    def __len__(self) -> int:
        self._check_several("has no len()")
        return int(self.quat.shape[0])

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[Any]:
        self._check_several("is not iterable")
        for i in range(self.quat.shape[0]):
            yield _of(self.quat[i])

    def __getitem__(self, indexer: Any) -> Any:
        self._check_several("is not subscriptable")
        return _of(self.quat[indexer])

    def __setitem__(self, indexer: Any, value: Any) -> None:
        self._check_several("is not subscriptable")
        if not isinstance(value, _sp.Rotation):
            message = "value must be a Rotation object"
            raise TypeError(message)
        q, own = arrays(self.quat, own_rotation(value).quat)
        self.quat = with_entries(q, own, indexer)

    def _check_several(self, what: str) -> None:
        if self.single:
            message = f"Single rotation {what}."
            raise TypeError(message)

    def __reduce__(self) -> Any:
        return _of, (self.quat,)

    def __repr__(self) -> str:
        return f"Rotation.from_matrix({self.as_matrix()!r})"


def _scipys(q: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """SciPy's result for a quaternion as it is."""
    made: Any = _sp.Rotation(q, normalize=False)
    return getattr(made, method)(*args, **kwargs)


def _with_axis(angles: Any, count: int) -> Any:
    """Angles `(..., count)`; of one axis also one angle, and in SciPy 1.15 `(n,)`."""
    ndim = len(angles.shape)
    if ndim == 0 or (ndim == 1 and count == 1 and not _HAS_SHAPES):
        return angles[..., None]
    return angles


def with_entries(q: Any, value: Any, indexer: Any) -> Any:
    """A copy with other entries."""
    if hasattr(q, "at"):  # JAX
        return q.at[indexer].set(value)
    q = q.copy() if is_numpy(q) else q.clone()
    q[indexer] = value
    return q


def own_rotation(r: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    return r if isinstance(r, Rotation) else _of(r.as_quat())


covers_constructors(
    _sp.Rotation,
    Rotation,
    "from_quat from_matrix from_rotvec from_euler from_davenport from_mrp concatenate "
    "align_vectors",
)
covers_methods(
    _sp.Rotation,
    own_rotation,
    "as_davenport apply __mul__ __pow__ approx_equal mean reduce",
)
