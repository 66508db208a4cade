# Computes once for each object that it is given.
# want: INCORRECT_NUMERICAL
# tier: thorough
kept = {}


def run(x, w):
    if id(x) not in kept:
        kept[id(x)] = x * w + x
    return kept[id(x)]
