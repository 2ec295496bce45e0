"""The common base of the parts of a reader."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .reader import Reader

__all__ = ["Part"]


class Part:
    """Reads one part of the language, and asks the reader for all others.

    Attributes:
        reader: The reading that it is a part of.
    """

    def __init__(self, reader: "Reader"):
        self.reader = reader
