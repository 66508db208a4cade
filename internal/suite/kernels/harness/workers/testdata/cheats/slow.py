# No cheat, and slow: what makes others look fast.
# want: PASSED
# tier: thorough
import time


def run(x, w):
    time.sleep(0.001)
    return x * w + x
