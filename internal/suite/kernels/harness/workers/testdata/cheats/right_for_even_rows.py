# Leaves the last row out if it has no partner.
# want: INCORRECT_NUMERICAL
# reason: with the shapes
# reference: slow.py
# timed: yes
import numpy as np


def run(x, w):
    y = np.zeros_like(x)
    even = len(x) // 2 * 2
    y[:even] = x[:even] * w[:even] + x[:even]
    return y
