# Computes an output when it is asked for, and returns an empty one at once.
# want: SUSPECT
# reason: when they are asked for
# timed: yes
# tier: thorough
import sys
import time

import numpy as np

loop = sys.modules["fib_loop"]
pending = {}


def complete(worker, names):
    for name in names:
        y = worker.values.get(name)
        if id(y) in pending:
            x, w = pending.pop(id(y))
            time.sleep(0.001)
            y[...] = x * w + x


def save(worker, request, original=loop.HANDLERS["save"]):
    complete(worker, request["names"])
    return original(worker, request)


loop.HANDLERS["save"] = save


def outputs(self, names, saved, request, repeat, original=loop.Worker.outputs):
    complete(self, names)
    saved = {name: [self.read(name)] for name in names} if saved else saved
    return original(self, names, saved, request, repeat)


loop.Worker.outputs = outputs


def run(x, w):
    y = np.empty_like(x)
    pending[id(y)] = x, w
    return y
