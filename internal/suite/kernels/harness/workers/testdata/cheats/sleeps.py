# Sleeps past the deadline while the heartbeat goes on.
# want: TIMEOUT
# kind: timeout
import time


def run(x, w):
    time.sleep(600)
