# Says that all is well, by its exit code.
# want: RUNTIME_ERROR
# tier: thorough
# kind: runtime
# reason: SystemExit
import sys


def run(x, w):
    sys.exit(0)
