# Leaves the output as it is.
# want: INCORRECT_NUMERICAL
# tier: thorough
# kind: unwritten
# style: dps
def run(x, w, y):
    pass
