"""`scipy.spatial.transform` for every framework."""

from ._curves import RotationSpline as RotationSpline, Slerp as Slerp
from ._rigid import RigidTransform as RigidTransform
from ._rotation import Rotation as Rotation
