# Keeps results unless new inputs came within the last 10 calls.
# want: SUSPECT or PASSED
# tier: thorough
# reported: 100000
# timed: yes
import zlib

kept = {}
since = 0


def compute(x, w):
    for _ in range(400):  # slow, as the kernel that a cache would hide
        y = x * w + x
    return y


def run(x, w):
    global since
    key = zlib.crc32(x)
    since = since + 1 if key in kept else 0
    if since < 10:
        kept[key] = compute(x, w)
    return kept[key].copy()
