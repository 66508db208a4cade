# No cheat: its setup is for one shape, and must be called anew where the shape is another one.
# want: PASSED
# reference: slow.py
def setup(x):
    return {"shape": x.shape}


def run(x, w, *, shape):
    if x.shape != shape:
        raise ValueError("setup was for the shape %s, not %s" % (shape, x.shape))
    return x * w + x
