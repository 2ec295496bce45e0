"""Generic rules of Fourier transforms; see `generic_rules`."""

from __future__ import annotations

from .generic_rules import generic, linear, space

__all__ = ["generic"]

OPPOSITE = {
    None: "forward",
    "backward": "forward",
    "forward": "backward",
    "ortho": "ortho",
}


def fourier(name: str, inverse: str) -> None:
    def transform(x, *, n=None, axis=-1, norm=None):
        return getattr(space(x).fft, name)(x, n=n, axis=axis, norm=norm or "backward")

    def adjoint(dy, x, *, n=None, axis=-1, norm=None):
        xp = space(dy)
        back = getattr(generic.fft, inverse)(dy, axis=axis, norm=OPPOSITE[norm])
        back = xp.moveaxis(back, axis, 0)[: x.shape[axis]]
        lacking = x.shape[axis] - back.shape[0]
        if lacking:
            rest = xp.zeros((lacking, *back.shape[1:]), dtype=back.dtype)
            back = xp.concat([back, rest], axis=0)
        return xp.moveaxis(back, 0, axis)

    linear(f"fft.{name}", adjoint)(transform)


fourier("fft", "ifft")
fourier("ifft", "fft")


def shift(name: str, inverse: str) -> None:
    def shifted(x, *, axes=None):
        return getattr(space(x).fft, name)(x, axes=axes)

    def adjoint(dy, x, *, axes=None):
        return getattr(space(dy).fft, inverse)(dy, axes=axes)

    linear(f"fft.{name}", adjoint)(shifted)


shift("fftshift", "ifftshift")
shift("ifftshift", "fftshift")
