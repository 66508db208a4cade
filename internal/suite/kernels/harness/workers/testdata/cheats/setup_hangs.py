# Does not return from setup.
# want: TIMEOUT
# kind: timeout
# reason: setup: timeout: no reply within 5s
import time


def setup():
    while True:
        time.sleep(1)


def run(x, w):
    return x * w + x
