# Cuts numbers off that normal ones never reach here.
# want: INCORRECT_NUMERICAL
# reason: with inputs times
# reference: slow.py
# timed: yes
import numpy as np


def run(x, w):
    x = np.clip(x, -4, 4)
    return x * w + x
