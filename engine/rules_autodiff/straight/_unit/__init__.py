"""Whole programs: read until kinds are stable, compiled."""
