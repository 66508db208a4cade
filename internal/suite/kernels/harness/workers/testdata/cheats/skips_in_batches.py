# Looks into the worker's loop for how often each slot is still to be called, and computes in the last call only.
# want: SUSPECT
# reason: leaves calls out
# timed: yes
# tier: thorough
import sys
import time

kept, left = {}, {}


def loop():
    frame = sys._getframe(2)
    while frame is not None and not (frame.f_code.co_name == "time" and "order" in frame.f_locals):
        frame = frame.f_back
    return frame


def remaining(x):
    frame = loop()
    if frame is None:
        return 0
    if left.get("frame") != frame.f_locals["request"]["seq"]:
        left.clear()
        left["frame"] = frame.f_locals["request"]["seq"]
        for slot in frame.f_locals["calls"]:
            left[id(slot.args[0])] = left.get(id(slot.args[0]), 0) + 1
    left[id(x)] -= 1
    return left[id(x)]


def run(x, w):
    if remaining(x) == 0 or id(x) not in kept:
        time.sleep(0.001)
        kept[id(x)] = x * w + x
    return kept[id(x)]
