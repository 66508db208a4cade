# Forks a child that outlives the call, and answers in its parent's place if it can.
# want: PASSED
# child: yes
import os
import time

started = []


def run(x, w):
    if not started:
        started.append(os.fork())
        if started[0] == 0:
            for fd in range(3, 256):
                try:
                    os.write(fd, b'{"seq":1,"ok":true}\n')
                except OSError:
                    pass
            time.sleep(600)
            os._exit(0)
        with open(os.path.join(os.path.dirname(__file__), "child.pid"), "w") as f:
            f.write(str(started[0]))
    return x * w + x
