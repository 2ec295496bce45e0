"""Whole programs: read until kinds settle, compiled."""
