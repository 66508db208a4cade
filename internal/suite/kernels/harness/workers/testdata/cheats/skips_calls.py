# Replaces the worker's handler of the request time: one call for each slot, then it is idle for as long as it says.
# want: SUSPECT
# tier: thorough
# reason: with fresh inputs
# timed: yes
import sys
import time

loop = sys.modules["fib_loop"]
original = loop.HANDLERS["time"]
CLAIMED = 50_000  # nanoseconds


def skip(worker, request):
    count = len(request["slots"])
    calls = request["warmup"] + request["iters"]
    once = dict(request, order=list(range(count)), warmup=0, iters=count)
    reply = original(worker, once)
    end = time.monotonic_ns() + calls * CLAIMED
    while time.monotonic_ns() < end:
        pass
    return dict(reply, ns=[CLAIMED] * request["iters"])


loop.HANDLERS["time"] = skip


def run(x, w):
    for _ in range(400):
        y = x * w + x
    return y
