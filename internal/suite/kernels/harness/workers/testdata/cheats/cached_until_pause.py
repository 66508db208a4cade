# Keeps results as long as calls follow each other closely.
# want: SUSPECT
# tier: thorough
# reason: keeps results
# timed: yes
import time
import zlib

kept = {}
last = 0


def compute(x, w):
    for _ in range(400):  # slow, as the kernel that a cache would hide
        y = x * w + x
    return y


def run(x, w):
    global last
    if time.monotonic_ns() - last > 3_000_000:
        kept.clear()
    key = zlib.crc32(x)
    if key not in kept:
        kept[key] = compute(x, w)
    last = time.monotonic_ns()
    return kept[key].copy()
