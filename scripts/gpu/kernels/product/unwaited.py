# Work on a stream that nothing waits for: events of the current stream do not see it.
# want: caught or slow
import torch

stream = torch.cuda.Stream() if torch.cuda.is_available() else None


def run(a, b):
    if stream is None:
        return a @ b
    c = torch.empty_like(a)
    with torch.cuda.stream(stream):
        torch.mm(a, b, out=c)
    return c
