# Finds the private descriptor and writes a reply to a request that it has to guess.
# want: RUNTIME_ERROR
# kind: protocol
# reason: replies to request
import os


def run(x, w):
    for fd in range(3, 64):
        try:
            os.write(fd, b'{"seq":2,"ok":true,"outputs":[{"name":"y","dtype":"float32","shape":[48,32]}],"host_ns":1}\n')
        except OSError:
            pass
    return x * w + x
