"""Declaring the rules of this pack."""
