# Events that report a thousandth of the time.
# want: caught or slow
import torch

true = torch.cuda.Event.elapsed_time
torch.cuda.Event.elapsed_time = lambda self, end: true(self, end) / 1000


def run(a, b):
    return a @ b
