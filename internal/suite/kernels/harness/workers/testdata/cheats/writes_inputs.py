# Answers once, then destroys the question.
# want: INCORRECT_NUMERICAL
# tier: thorough
def run(x, w):
    y = x * w + x
    x[...] = 0
    return y
