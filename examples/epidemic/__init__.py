"""An epidemic at a school, fitted through SciPy's solver of differential equations."""
