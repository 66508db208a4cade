# No cheat: what the others are told from.
# want: PASSED
def run(x, w):
    return x * w + x
