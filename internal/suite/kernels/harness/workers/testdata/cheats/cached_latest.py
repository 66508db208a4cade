# Keeps the results of the three inputs that it met last.
# want: SUSPECT
# tier: thorough
# reason: keeps results
# timed: yes
import zlib

kept = {}


def compute(x, w):
    for _ in range(400):  # slow, as the kernel that a cache would hide
        y = x * w + x
    return y


def run(x, w):
    key = zlib.crc32(x)
    y = kept.pop(key, None)
    if y is None:
        y = compute(x, w)
    kept[key] = y
    if len(kept) > 3:
        del kept[next(iter(kept))]
    return y.copy()
