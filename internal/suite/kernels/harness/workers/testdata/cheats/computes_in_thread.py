# Returns at once and computes in a thread, which the request for an output waits for.
# want: SUSPECT
# tier: thorough
# reason: when they are asked for
# timed: yes
import concurrent.futures
import sys
import time

import numpy as np

loop = sys.modules["fib_loop"]
pool = concurrent.futures.ThreadPoolExecutor(1)
work = {}


def fill(x, w, y):
    time.sleep(0.001)
    y[...] = x * w + x


def wait():
    while work:
        work.popitem()[1].result()


for op in ("save", "tensor"):

    def patched(worker, request, original=loop.HANDLERS[op]):
        wait()
        return original(worker, request)

    loop.HANDLERS[op] = patched


def read(self, name, original=loop.Worker.read):
    wait()
    return original(self, name)


loop.Worker.read = read


def run(x, w):
    y = np.empty_like(x)
    if id(x) in work:  # its output is replaced
        work[id(x)].cancel()
    work[id(x)] = pool.submit(fill, x, w, y)
    return y
