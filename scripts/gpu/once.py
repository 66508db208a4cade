"""Calls one kernel in Triton once, for tools that watch it: python3 once.py [beyond]

With `beyond` it writes one number behind the end of its output.
"""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def scale(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


n = 1 << 20
x = torch.ones(n, device="cuda")
y = torch.empty(n, device="cuda")
if sys.argv[1:] == ["beyond"]:
    n = 1 << 24  # far behind the end of what torch has reserved
    x = torch.ones(n, device="cuda")
scale[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
torch.cuda.synchronize()
print(y[:4].tolist())
