# Crashes.
# want: RUNTIME_ERROR
# tier: thorough
# kind: died
import os
import signal


def run(x, w):
    os.kill(os.getpid(), signal.SIGKILL)
