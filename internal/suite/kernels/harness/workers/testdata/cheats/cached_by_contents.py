# Computes once for each contents of the inputs.
# want: SUSPECT
# reason: keeps results
# timed: yes
# tier: thorough
import zlib

kept = {}


def compute(x, w):
    for _ in range(400):  # slow, as the kernel that a cache would hide
        y = x * w + x
    return y


def run(x, w):
    key = zlib.crc32(x)
    if key not in kept:
        kept[key] = compute(x, w)
    return kept[key].copy()
