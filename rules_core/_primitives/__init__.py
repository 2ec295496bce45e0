"""Primitives: one function in every framework, its flags, and its dispatch."""
