import torch
import triton
import triton.language as tl


@triton.jit
def kernel(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    left = a + (rows % M)[:, None] * K + ks[None, :]
    right = b + columns[None, :] * K + ks[:, None]
    sums = tl.zeros((BM, BN), dtype=tl.float32)
    for _ in range(0, K, BK):
        sums = tl.dot(tl.load(left), tl.load(right), sums)
        left += BK
        right += BK
    tl.store(c + rows[:, None] * N + columns[None, :], sums.to(tl.float16), mask=rows[:, None] < M)


def run(A, B):
    M, K = A.shape
    N = B.shape[0]
    C = torch.empty((M, N), dtype=A.dtype, device=A.device)
    kernel[(triton.cdiv(M, 128), N // 128)](A, B, C, M, N, K, BM=128, BN=128, BK=64, num_warps=8, num_stages=4)
    return C
