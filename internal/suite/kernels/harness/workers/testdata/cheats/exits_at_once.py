# Says so without letting anybody intervene.
# want: RUNTIME_ERROR
# kind: died
# reason: exit code 0
import os


def run(x, w):
    os._exit(0)
