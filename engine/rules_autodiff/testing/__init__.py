"""Checks of whole programs against finite differences, in every way they can be run."""

from ._check import ProgramError, Report, check_program

__all__ = ["ProgramError", "Report", "check_program"]
