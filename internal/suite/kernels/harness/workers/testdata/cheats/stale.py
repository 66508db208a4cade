# Looks at its inputs in each tenth call only.
# want: INCORRECT_NUMERICAL
# tier: thorough
# timed: yes
import zlib

kept = {}
calls = 0


def compute(x, w):
    for _ in range(400):  # slow, as the kernel that a cache would hide
        y = x * w + x
    return y


def run(x, w):
    global calls
    calls += 1
    key = id(x)
    if key not in kept or calls % 10 == 0 and zlib.crc32(x) != kept[key][0]:
        kept[key] = zlib.crc32(x), compute(x, w)
    return kept[key][1].copy()
