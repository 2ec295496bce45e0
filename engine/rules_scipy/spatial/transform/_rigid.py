"""`RigidTransform`: matrices of a rotation and a translation.

SciPy has the class since 1.16; here it exists with every version.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.spatial.transform as _sp

import rules_core as rc
from rules_scipy._arrays import arrays, check
from rules_scipy._axes import concat
from rules_scipy._methods import covers_constructors, covers_methods
from rules_scipy.spatial._declare import covers

from . import _quaternions as quaternions, _rates
from ._rotation import Rotation, own_rotation, with_entries

__all__ = ["RigidTransform"]

_SCIPYS: Any = getattr(_sp, "RigidTransform", None)
_Base: Any = _SCIPYS or object


def _checked(name: str, *args: Any, **kwargs: Any) -> None:
    """SciPy's errors, where it has the class."""
    if _SCIPYS is not None:
        check(getattr(_SCIPYS, name) if name else _SCIPYS, *args, **kwargs)


def _of(matrix: Any) -> Any:
    """A transform by its matrix as it is."""
    made: Any = RigidTransform.__new__(RigidTransform)
    made.matrix = matrix
    return made


def _joined(turn: Any, shift: Any) -> Any:
    """The matrix `(..., 4, 4)` of a rotation matrix and a translation."""
    turn, shift = arrays(turn, shift)
    # Broadcast by a sum, for frameworks and NumPy alike.
    turn = turn + 0.0 * shift[..., :, None]
    shift = shift + 0.0 * turn[..., 0]
    top = concat([turn, shift[..., None]], axis=-1)
    last = 0.0 * top[..., :1, :3]
    return concat([top, concat([last, 1.0 + 0.0 * top[..., :1, 3:]], axis=-1)], axis=-2)


class RigidTransform(_Base):
    """`scipy.spatial.transform.RigidTransform`, of arrays of any framework and shape.

    Attributes:
        matrix: `(..., 4, 4)`.

    >>> import jax, numpy as np
    >>> from rules_scipy.spatial.transform import RigidTransform
    >>> moved = lambda x: RigidTransform.from_exp_coords(x).apply(np.zeros(3))
    >>> jax.jacobian(moved)(np.zeros(6))[:, 3:].tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    matrix: Any = None

    def __init__(self, matrix: Any, normalize: bool = True, copy: bool = True) -> None:
        _checked("", matrix, normalize, copy)
        [m] = arrays(matrix)
        if tuple(m.shape[-2:]) != (4, 4):
            message = f"Expected `matrix` to have shape (..., 4, 4), got {m.shape}."
            raise ValueError(message)
        turn, shift = m[..., :3, :3], m[..., :3, 3]
        if normalize:
            turn = quaternions.matrix(quaternions.of_matrix(turn))
        self.matrix = _joined(turn, shift)

    # from

    @staticmethod
    def from_matrix(matrix: Any) -> Any:
        """The transform of a matrix; its rotation is the nearest one."""
        return RigidTransform(matrix)

    @staticmethod
    def from_rotation(rotation: Any) -> Any:
        """A rotation without a translation."""
        if not isinstance(rotation, _sp.Rotation):
            message = f"Expected a `Rotation` instance, got {type(rotation)}."
            raise TypeError(message)
        turn = own_rotation(rotation).as_matrix()
        return _of(_joined(turn, 0.0 * turn[..., 0]))

    @staticmethod
    def from_translation(translation: Any) -> Any:
        """A translation without a rotation."""
        _checked("from_translation", translation)
        return _of(_joined(np.eye(3), arrays(translation)[0]))

    @staticmethod
    def from_components(translation: Any, rotation: Any) -> Any:
        """First the rotation, then the translation."""
        turn = own_rotation(rotation).as_matrix()
        return _of(_joined(turn, arrays(translation)[0]))

    @staticmethod
    def from_exp_coords(exp_coords: Any) -> Any:
        """The transform of a rotation vector and a translation along a screw."""
        _checked("from_exp_coords", exp_coords)
        [x] = arrays(exp_coords)
        r = x[..., :3]
        turn = quaternions.matrix(quaternions.of_rotvec(r))
        return _of(_joined(turn, _rates.times(_rates.to_rate(-r), x[..., 3:])))

    @staticmethod
    def from_dual_quat(dual_quat: Any, *, scalar_first: bool = False) -> Any:
        """The transform of a dual quaternion of any length."""
        _checked("from_dual_quat", dual_quat, scalar_first=scalar_first)
        [x] = arrays(dual_quat)
        real, dual = (
            quaternions.rolled(part, scalar_first=scalar_first)
            for part in (x[..., :4], x[..., 4:])
        )
        xp = rc.array_namespace(real)
        size = xp.sqrt(xp.sum(real * real, axis=-1, keepdims=True))
        real, dual = real / size, dual / size
        dual = dual - xp.sum(real * dual, axis=-1, keepdims=True) * real
        shift = 2.0 * quaternions.product(dual, quaternions.conjugate(real))
        return _of(_joined(quaternions.matrix(real), shift[..., :3]))

    @staticmethod
    def identity(num: Any = None, *, shape: Any = None) -> Any:
        """A constant."""
        shape = (() if num is None else num) if shape is None else shape
        return _of(np.zeros((*np.atleast_1d(shape).astype(int), 1, 1)) + np.eye(4))

    @staticmethod
    def concatenate(transforms: Any) -> Any:
        """Transforms along a first axis."""
        if _is_transform(transforms):
            return _of(_own(transforms).matrix)
        parts = arrays(*[_own(t).matrix for t in transforms])
        parts = [m[None, ...] if len(m.shape) == 2 else m for m in parts]
        return _of(concat(parts))

    # as

    @property
    def rotation(self) -> Any:
        """The rotation."""
        return Rotation.from_matrix(self.matrix[..., :3, :3])

    @property
    def translation(self) -> Any:
        """The translation."""
        return self.matrix[..., :3, 3]

    def as_matrix(self) -> Any:
        """The matrix."""
        return self.matrix

    def as_components(self) -> tuple[Any, Any]:
        """The translation and the rotation."""
        return self.translation, self.rotation

    def _quaternion(self) -> Any:
        return quaternions.of_orthogonal(self.matrix[..., :3, :3])

    def as_exp_coords(self) -> Any:
        """The rotation vector, and the translation along the screw."""
        r = quaternions.rotvec(self._quaternion())
        shift = _rates.times(_rates.to_vector(-r), self.translation)
        return concat([r, shift], axis=-1)

    def as_dual_quat(self, *, scalar_first: bool = False) -> Any:
        """The dual quaternion."""
        real, shift = self._quaternion(), self.translation
        shift = concat([shift, 0.0 * shift[..., :1]], axis=-1)
        parts = [
            quaternions.rolled(part, scalar_first=scalar_first, back=True)
            for part in (real, 0.5 * quaternions.product(shift, real))
        ]
        return concat(parts, axis=-1)

    # algebra

    def apply(self, vector: Any, inverse: bool = False) -> Any:
        """Points moved."""
        m, v = arrays(self.matrix, vector)
        if v.shape[-1] != 3:
            message = f"Expected vector to have shape (..., 3), got {v.shape}."
            raise ValueError(message)
        turn, shift = m[..., :3, :3], m[..., :3, 3]
        if inverse:
            back = rc.array_namespace(m).matrix_transpose(turn)
            return _rates.times(back, v - shift)
        return _rates.times(turn, v) + shift

    def __mul__(self, other: Any) -> Any:
        if not _is_transform(other):
            return NotImplemented
        a, b = arrays(self.matrix, _own(other).matrix)
        return RigidTransform(a @ b)

    def __rmul__(self, other: Any) -> Any:
        if not _is_transform(other):
            return NotImplemented
        return _own(other) * self

    def __pow__(self, n: Any) -> Any:
        """The transform by `n` times the screw, which has a derivative in `n` too."""
        x, n = arrays(self.as_exp_coords(), n)
        n = rc.array_namespace(n).reshape(n, ()) if tuple(n.shape) == (1,) else n
        return RigidTransform.from_exp_coords(x * n)

    def inv(self) -> Any:
        """The inverse."""
        xp = rc.array_namespace(self.matrix)
        turn = xp.matrix_transpose(self.matrix[..., :3, :3])
        return _of(_joined(turn, -_rates.times(turn, self.translation)))

    def mean(self, weights: Any = None, axis: Any = None) -> Any:
        """The mean rotation, and the mean translation."""
        turn = Rotation(self._quaternion(), normalize=False)
        shift = self.translation
        count = len(shift.shape) - 1
        axes = range(count) if axis is None else np.atleast_1d(axis).tolist()
        axes = tuple(sorted({int(i) % count for i in axes} if count else ()))
        xp = rc.array_namespace(shift)
        if weights is None:
            return RigidTransform.from_components(
                xp.mean(shift, axis=axes), turn.mean(axis=axis)
            )
        shift, w = arrays(shift, weights)
        total = xp.sum(w[..., None] * shift, axis=axes)
        center = total / xp.sum(w[..., None] + 0.0 * shift, axis=axes)
        return RigidTransform.from_components(center, turn.mean(w, axis))

    # a sequence

    @property
    def single(self) -> bool:
        """Whether it is one transform."""
        return len(self.matrix.shape) == 2

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array of transforms."""
        return tuple(self.matrix.shape[:-2])

    def _check_several(self, what: str) -> None:
        if self.single:
            message = f"Single transform {what}"
            raise TypeError(message)

    def __len__(self) -> int:
        self._check_several("has no len")
        return int(self.matrix.shape[0])

    def __iter__(self) -> Iterator[Any]:
        self._check_several("is not iterable.")
        for i in range(self.matrix.shape[0]):
            yield _of(self.matrix[i])

    def __getitem__(self, indexer: Any) -> Any:
        self._check_several("is not subscriptable.")
        return _of(self.matrix[indexer])

    def __setitem__(self, indexer: Any, value: Any) -> None:
        self._check_several("is not subscriptable.")
        m, own = arrays(self.matrix, _own(value).matrix)
        self.matrix = with_entries(m, own, indexer)

    def __reduce__(self) -> Any:
        return _of, (self.matrix,)

    def __repr__(self) -> str:
        return f"RigidTransform.from_matrix({self.matrix!r})"


def _is_transform(x: Any) -> bool:
    return isinstance(x, RigidTransform if _SCIPYS is None else _SCIPYS)


def _own(t: Any) -> Any:
    """This pack's instance of SciPy's, which may be one already."""
    return t if isinstance(t, RigidTransform) else _of(t.as_matrix())


if _SCIPYS is not None:
    covers(_SCIPYS)(RigidTransform)
    covers_constructors(
        _SCIPYS,
        RigidTransform,
        "from_matrix from_rotation from_translation from_components from_exp_coords "
        "from_dual_quat concatenate",
    )
    covers_methods(_SCIPYS, _own, "apply __mul__ __pow__ mean")
