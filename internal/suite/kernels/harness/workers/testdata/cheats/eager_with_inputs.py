# Computes when the inputs come, and returns that when it is called.
# want: SUSPECT
# reason: when the inputs come
# timed: yes
# tier: thorough
import sys
import time

loop = sys.modules["fib_loop"]
ready = {}


def tensor(worker, request, original=loop.HANDLERS["tensor"]):
    reply = original(worker, request)
    head, _, name = request["name"].rpartition(".")
    x, w = worker.values.get(head + ".x"), worker.values.get(head + ".w")
    if name == "w" and x is not None:
        time.sleep(0.001)
        ready[id(x)] = x * w + x
    return reply


loop.HANDLERS["tensor"] = tensor


def run(x, w):
    return ready[id(x)] if id(x) in ready else x * w + x
