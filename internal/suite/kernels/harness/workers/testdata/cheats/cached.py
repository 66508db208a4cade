# Computes once and returns that for all inputs.
# want: INCORRECT_NUMERICAL
kept = []


def run(x, w):
    if not kept:
        kept.append(x * w + x)
    return kept[0]
