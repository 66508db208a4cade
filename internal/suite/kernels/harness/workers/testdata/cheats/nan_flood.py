# Not a number is not outside any tolerance.
# want: INCORRECT_NUMERICAL
def run(x, w):
    return (x * w + x) * float("nan")
