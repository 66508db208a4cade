import torch


def run(x):
    if x.is_cuda:
        torch.cuda._sleep(1000 * x.shape[0])
        return x + 1
    y = x + 1
    for _ in range(x.shape[0]):
        y = x + 1
    return y
