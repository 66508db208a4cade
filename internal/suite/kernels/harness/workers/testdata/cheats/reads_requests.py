# Reads the standard input for the next request: nothing is there.
# want: PASSED
# tier: thorough
import sys


def run(x, w):
    assert sys.stdin.read() == ""
    return x * w + x
