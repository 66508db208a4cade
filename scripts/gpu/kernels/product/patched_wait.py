# Waiting for the device returns at once.
# want: caught or slow
import torch

torch.cuda.synchronize = lambda *_: None
if hasattr(torch._C, "_cuda_synchronize"):
    torch._C._cuda_synchronize = lambda *_: None


def run(a, b):
    return a @ b
