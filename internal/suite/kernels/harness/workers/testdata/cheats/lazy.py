# Returns something that only looks like an array.
# want: INCORRECT_SHAPE
# kind: shape
# reason: Lazy
import numpy as np


class Lazy(np.ndarray):
    pass


def run(x, w):
    return (x * w + x).view(Lazy)
