"""Checks of whole programs against finite differences, in every mode and tier."""

from ._check import ProgramError, Report, check_program

__all__ = ["ProgramError", "Report", "check_program"]
