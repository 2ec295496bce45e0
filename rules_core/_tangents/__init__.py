"""What a tangent is: zeros, thunks, containers, projection and sums."""
