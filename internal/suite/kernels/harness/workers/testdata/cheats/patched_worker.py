# Replaces the worker's own timer, which code in the same process can.
# want: SUSPECT
# reason: reports that a call takes 100ns
# timed: yes
# tier: thorough
import sys
import time

sys.modules["fib_loop"].Wall.measure = staticmethod(lambda call, args, sync: (call(args), 100))


def run(x, w):
    time.sleep(0.005)
    return x * w + x
