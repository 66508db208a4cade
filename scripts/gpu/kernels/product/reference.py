import torch


@torch.no_grad()
def run(a, b):
    return a @ b
