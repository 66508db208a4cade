import math

import torch
import torch.nn.functional as F


def run(q, k, v):
    batch, heads, dim = q.shape
    grouped = q.reshape(batch, k.shape[1], -1, dim)  # heads that share keys are rows of one product
    if hasattr(F, "scaled_dot_product_attention"):
        return F.scaled_dot_product_attention(grouped, k, v).reshape(q.shape)
    weights = torch.softmax(grouped.float() @ k.float().transpose(2, 3) / math.sqrt(dim), dim=-1)
    return (weights @ v.float()).reshape(q.shape).to(q.dtype)
