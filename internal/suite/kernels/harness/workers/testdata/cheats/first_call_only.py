# Writes the output of each set once, and hopes that it is still there.
# want: INCORRECT_NUMERICAL
# tier: thorough
# kind: unwritten
# style: dps
seen = set()


def run(x, w, y):
    key = float(x.sum())
    if key not in seen:
        seen.add(key)
        y[...] = x * w + x
