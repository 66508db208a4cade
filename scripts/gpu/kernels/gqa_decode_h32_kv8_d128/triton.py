import torch
import triton
import triton.language as tl


@triton.jit
def kernel(q, k, v, out, tokens, scale, GROUP: tl.constexpr, DIM: tl.constexpr, STEP: tl.constexpr):
    pair = tl.program_id(0)  # of a sequence and a head of keys
    rows, dims, steps = tl.arange(0, 16), tl.arange(0, DIM), tl.arange(0, STEP)
    own = rows < GROUP
    query = tl.load(q + (pair * GROUP + rows)[:, None] * DIM + dims[None, :], mask=own[:, None], other=0.0)
    high = tl.full((16,), -float("inf"), dtype=tl.float32)
    total = tl.zeros((16,), dtype=tl.float32)
    sums = tl.zeros((16, DIM), dtype=tl.float32)
    for start in range(0, tokens, STEP):
        at = start + steps
        there = at < tokens
        base = (pair.to(tl.int64) * tokens + at) * DIM
        keys = tl.load(k + base[None, :] + dims[:, None], mask=there[None, :], other=0.0)
        logits = tl.where(there[None, :], tl.dot(query, keys) * scale, -float("inf"))
        top = tl.maximum(high, tl.max(logits, axis=1))
        weights = tl.exp(logits - top[:, None])
        shrink = tl.exp(high - top)
        values = tl.load(v + base[:, None] + dims[None, :], mask=there[:, None], other=0.0)
        total = total * shrink + tl.sum(weights, axis=1)
        sums = sums * shrink[:, None] + tl.dot(weights.to(tl.bfloat16), values)
        high = top
    sums = sums / total[:, None]
    tl.store(out + (pair * GROUP + rows)[:, None] * DIM + dims[None, :], sums.to(tl.bfloat16), mask=own[:, None])


def run(q, k, v):
    batch, heads, dim = q.shape
    out = torch.empty_like(q)
    kernel[(batch * k.shape[1],)](q, k, v, out, k.shape[2], dim**-0.5, GROUP=heads // k.shape[1], DIM=dim, STEP=64, num_warps=4)
    return out
