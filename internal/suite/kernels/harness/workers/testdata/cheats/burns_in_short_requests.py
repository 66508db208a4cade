# Makes short requests longer, so that the difference to long ones becomes small.
# want: SUSPECT
# tier: thorough
# reason: with fresh inputs
# timed: yes
import sys
import time

loop = sys.modules["fib_loop"]
longest = {}


def timed(worker, request, original=loop.HANDLERS["time"]):
    reply = original(worker, request)
    calls, slots = request["iters"], len(request["slots"])
    if request["id"]:
        longest[slots] = max(longest.get(slots, 0), calls)
        time.sleep(0.0015 * (longest[slots] - calls))
    return reply


loop.HANDLERS["time"] = timed


def run(x, w):
    time.sleep(0.002)
    return x * w + x
