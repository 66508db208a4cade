import torch


def run(A, B):
    if A.is_cuda:
        return torch.nn.functional.linear(A, B)
    return torch.nn.functional.linear(A.float(), B.float()).half()
