"""What tricky programs share: a list of them with their arguments."""

import numpy as np

X = np.array([0.5, -1.0, 2.0])
M = np.array([[0.3, -0.7, 1.1], [0.9, 0.2, -0.4]])


class Cases(dict):
    """Programs by name: the function, its arguments, and why it is refused if it is."""

    def add(self, *args, refused=""):
        def register(f):
            name = f.__name__
            while name in self:
                name += "_"
            self[name] = f, args, refused
            return f

        return register
