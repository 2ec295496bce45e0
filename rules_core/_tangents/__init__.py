"""Tangents: zeros, thunks, containers, projection and sums."""
