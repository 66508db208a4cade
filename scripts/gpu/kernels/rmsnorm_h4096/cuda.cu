#include <cuda_bf16.h>

// One block a row, eight numbers a load.
__global__ void kernel(const uint4 *x, const uint4 *w, uint4 *y, int vectors) {
    const uint4 *row = x + (size_t)blockIdx.x * vectors;
    float sum = 0;
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        uint4 v = row[i];
        const __nv_bfloat162 *p = reinterpret_cast<const __nv_bfloat162 *>(&v);
        for (int k = 0; k < 4; k++) {
            float2 f = __bfloat1622float2(p[k]);
            sum += f.x * f.x + f.y * f.y;
        }
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    __shared__ float part[32];
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0;
    for (int i = 0; i < blockDim.x / 32; i++) sum += part[i];
    float scale = rsqrtf(sum / (8 * vectors) + 1e-6f);
    for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
        uint4 v = row[i], u = w[i];
        __nv_bfloat162 *p = reinterpret_cast<__nv_bfloat162 *>(&v), *q = reinterpret_cast<__nv_bfloat162 *>(&u);
        for (int k = 0; k < 4; k++) {
            float2 f = __bfloat1622float2(p[k]), g = __bfloat1622float2(q[k]);
            p[k] = __floats2bfloat162_rn(f.x * scale * g.x, f.y * scale * g.y);
        }
        y[(size_t)blockIdx.x * vectors + i] = v;
    }
}

void launch(const void *x, const void *w, void *y, int rows, int columns, cudaStream_t stream) {
    kernel<<<rows, 256, 0, stream>>>((const uint4 *)x, (const uint4 *)w, (uint4 *)y, columns / 8);
}
