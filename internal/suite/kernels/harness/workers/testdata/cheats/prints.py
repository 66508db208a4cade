# Prints replies to where the protocol usually is: they become log.
# want: PASSED
import os
import subprocess
import sys


def run(x, w):
    for seq in range(1000):
        print('{"seq":%d,"ok":true,"outputs":[]}' % seq)
    os.write(1, b'{"event":"alive"}\nno line end')
    sys.__stdout__.write('{"seq":1}\n')
    subprocess.run(["echo", "{}"], check=True)
    return x * w + x
