"""Euler's and Davenport's angles.

At gimbal lock, where the second angle leaves the others undetermined, SciPy sets the
third one to zero. Angles have no derivative there.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np

import rules_core as rc
from rules_core.extend import nan_unless
from rules_scipy._axes import concat
from rules_scipy._lists import constant_like
from rules_scipy.spatial._lengths import cross, root
from rules_scipy.spatial._regular import regular

from ._quaternions import of_rotvec, product

__all__ = ["davenport", "euler", "of_davenport", "of_euler"]

# SciPy's: nearer to a multiple of π, the second angle is taken to be one.
_LOCKED = 1e-7
_GIMBAL_LOCK = (
    "has no derivative at gimbal lock, where the angles are not determined. Use "
    "as_rotvec, as_quat or as_matrix, or another order of axes."
)


def _axes(seq: str) -> tuple[list[int], bool]:
    """The numbers of axes, and whether these turn with the body."""
    intrinsic = re.match(r"^[XYZ]{1,3}$", seq) is not None
    if not intrinsic and re.match(r"^[xyz]{1,3}$", seq) is None:
        message = (
            "Expected axes from `seq` to be from ['x', 'y', 'z'] or ['X', 'Y', 'Z'], "
            f"got {seq}"
        )
        raise ValueError(message)
    if any(a == b for a, b in pairwise(seq)):
        message = f"Expected consecutive axes to be different, got {seq}"
        raise ValueError(message)
    return ["xyz".index(axis) for axis in seq.lower()], intrinsic


def _composed(turns: list[Any], *, intrinsic: bool) -> Any:
    q = turns[0]
    for turn in turns[1:]:
        q = product(q, turn) if intrinsic else product(turn, q)
    return q


def of_euler(seq: str, angles: Any) -> Any:
    """The quaternions of angles `(..., len(seq))`."""
    axes, intrinsic = _axes(seq)
    if angles.shape[-1] != len(axes):
        message = (
            "Expected last dimension of `angles` to match number of sequence axes "
            f"specified, got {angles.shape[-1]}."
        )
        raise ValueError(message)
    turns = [_about(axis, angles[..., i]) for i, axis in enumerate(axes)]
    return _composed(turns, intrinsic=intrinsic)


def _about(axis: int, angle: Any) -> Any:
    xp = rc.array_namespace(angle)
    parts = [xp.zeros_like(angle)] * 3 + [xp.cos(angle / 2.0)]
    parts[axis] = xp.sin(angle / 2.0)
    return xp.stack(parts, axis=-1)


def euler(q: Any, seq: str) -> Any:
    """The angles `(..., 3)` of quaternions (Bernardes and Viollet 2022)."""
    if len(seq) != 3:
        message = f"Expected 3 axes, got {seq}."
        raise ValueError(message)
    (i, j, k), intrinsic = _axes(seq)
    if intrinsic:
        i, k = k, i
    symmetric = i == k
    k = 3 - i - j if symmetric else k
    sign = float((i - j) * (j - k) * (k - i) // 2)
    x, y, z, w = q[..., i], q[..., j], q[..., k] * sign, q[..., 3]
    parts = (w, x, y, z) if symmetric else (w - y, x + z, y + w, z - x)
    shift = None if symmetric else np.pi / 2.0
    return _angles(parts, shift, sign, "as_euler", extrinsic=not intrinsic)


def _angles(parts: Any, shift: Any, sign: float, name: str, *, extrinsic: bool) -> Any:
    """Angles of a quaternion in the basis of the axes, by sum and difference of halves.

    Args:
        parts: Its four components, the real one first.
        shift: What the second angle is reduced by; None: nothing, of equal axes.
        sign: The factor of the third angle.
        name: Of the method, for errors.
        extrinsic: Whether the axes stay.
    """
    a, b, c, d = parts
    xp = rc.array_namespace(a)
    second = 2.0 * xp.atan2(root(c * c + d * d), root(a * a + b * b))
    at = rc.ignore_derivatives(second)
    flat, turned = xp.abs(at) <= _LOCKED, xp.abs(at - np.pi) <= _LOCKED
    locked = flat | turned
    one, zero = xp.ones_like(a), xp.zeros_like(a)
    # Away from gimbal lock one of each pair may be zero, never both.
    half_sum = xp.atan2(xp.where(turned, zero, b), xp.where(turned, one, a))
    half_difference = xp.atan2(xp.where(flat, zero, d), xp.where(flat, one, c))
    alone = 2.0 * half_difference * (-1.0 if extrinsic else 1.0)
    alone = xp.where(flat, 2.0 * half_sum, alone)
    near, far = half_sum - half_difference, half_sum + half_difference
    first, third = (near, far) if extrinsic else (far, near)
    first = xp.where(locked, alone, first)
    third = xp.where(locked, zero, third)
    if shift is not None:
        second = second - shift
        if extrinsic:
            third = third * sign
        else:
            first = first * sign
    angles = _wrapped(xp.stack([first, second, third], axis=-1))
    return regular(angles, ~locked, f"Rotation.{name} {_GIMBAL_LOCK}")


def _wrapped(x: Any) -> Any:
    """Angles from -π to π."""
    xp = rc.array_namespace(x)
    at = rc.ignore_derivatives(x)
    turns = xp.astype(at < -np.pi, x.dtype) - xp.astype(at > np.pi, x.dtype)
    return x + 2.0 * np.pi * turns


# Davenport


def of_davenport(axes: Any, order: str, angles: Any) -> Any:
    """The quaternions of angles `(..., n)` about axes `(..., n, 3)`."""
    axes = _unit(axes)
    if axes.shape[-2] != angles.shape[-1]:
        message = (
            f"Expected `angles` to match number of axes, got {angles.shape} angles and "
            f"{axes.shape} axes."
        )
        raise ValueError(message)
    turns = [
        of_rotvec(angles[..., i, None] * axes[..., i, :]) for i in range(axes.shape[-2])
    ]
    return _composed(turns, intrinsic=not _is_extrinsic(order))


def _unit(axes: Any) -> Any:
    """Axes of length one; NaN where neighbours are not orthogonal, as in SciPy."""
    xp = rc.array_namespace(axes)
    axes = axes / xp.sqrt(xp.sum(axes * axes, axis=-1, keepdims=True))
    at = rc.ignore_derivatives(axes)
    products = xp.abs(xp.sum(at[..., 1:, :] * at[..., :-1, :], axis=-1))
    good = xp.all(products <= _LOCKED, axis=-1)
    return nan_unless(good[..., None, None], axes)


def _is_extrinsic(order: str) -> bool:
    if order not in ("e", "extrinsic", "i", "intrinsic"):
        message = (
            "order should be 'e'/'extrinsic' for extrinsic sequences or 'i'/"
            f"'intrinsic' for intrinsic sequences, got {order}"
        )
        raise ValueError(message)
    return order.startswith("e")


def davenport(q: Any, axes: Any, order: str) -> Any:
    """The angles `(..., 3)` about three axes, neighbours of which are orthogonal."""
    extrinsic = _is_extrinsic(order)
    axes = _unit(axes)
    xp = rc.array_namespace(q, axes)
    first, second, third = (axes[..., i, :] for i in range(3))
    if not extrinsic:
        first, third = third, first
    normal = cross(first, second)
    shift = xp.atan2(xp.sum(third * normal, axis=-1), xp.sum(third * first, axis=-1))
    below = rc.ignore_derivatives(shift) < 0
    sign = xp.where(below, -xp.ones_like(shift), xp.ones_like(shift))
    second, normal, shift = (
        sign[..., None] * second,
        sign[..., None] * normal,
        sign * shift,
    )
    half = concat(
        [xp.sin(shift / 2.0)[..., None] * second, xp.cos(shift / 2.0)[..., None]],
        axis=-1,
    )
    moved = product(half, q)
    parts = [moved[..., 3]] + [
        xp.sum(moved[..., :3] * n, axis=-1) for n in (first, second, normal)
    ]
    found = _angles(parts, shift, 1.0, "as_davenport", extrinsic=extrinsic)
    turns = constant_like(np.array([0.0, 1.0, 0.0]), found)
    return found * (1.0 + turns * (sign - 1.0)[..., None])
