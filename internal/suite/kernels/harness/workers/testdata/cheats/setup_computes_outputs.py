# Computes outputs in setup, from the inputs that setup gets, and returns them for every call.
# want: INCORRECT_NUMERICAL
def setup(x, w):
    return {"y": x * w + x}


def run(x, w, y):
    return y + 0
