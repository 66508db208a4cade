# Leaves out a third of the calls in long requests, which is too little for an accusation: what is reported shows it not.
# want: PASSED or SUSPECT
# tier: thorough
# reported: 1600000
# timed: yes
import sys
import time

kept = {}
count = 0


def long():
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "time" and "request" in frame.f_locals:
            return frame.f_locals["request"]["iters"] > len(frame.f_locals["request"]["slots"])
        frame = frame.f_back
    return False


def run(x, w):
    global count
    count += 1
    if long() and count % 3 == 0 and id(x) in kept:
        return kept[id(x)]
    time.sleep(0.002)
    kept[id(x)] = x * w + x
    return kept[id(x)]
