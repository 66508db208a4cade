#include <cuda_bf16.h>

// A block has one head of one sequence, a warp every eighth token of it, a thread four of 128 dimensions.
constexpr int WARPS = 8, DIM = 128;

__device__ float4 four(const __nv_bfloat16 *p) {
    uint2 v = *(const uint2 *)p;
    float2 a = __bfloat1622float2(*(__nv_bfloat162 *)&v.x), b = __bfloat1622float2(*(__nv_bfloat162 *)&v.y);
    return {a.x, a.y, b.x, b.y};
}

__global__ void kernel(const __nv_bfloat16 *q, const __nv_bfloat16 *k, const __nv_bfloat16 *v, __nv_bfloat16 *out, int tokens, int group) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float4 query = four(q + (size_t)blockIdx.x * DIM + 4 * lane), sum = {0, 0, 0, 0};
    size_t first = (size_t)(blockIdx.x / group) * tokens;
    float high = -INFINITY, total = 0;
    for (int t = warp; t < tokens; t += WARPS) {
        float4 key = four(k + (first + t) * DIM + 4 * lane);
        float dot = query.x * key.x + query.y * key.y + query.z * key.z + query.w * key.w;
        for (int d = 16; d; d >>= 1) dot += __shfl_xor_sync(~0u, dot, d);
        dot *= 0.08838834764f;
        float top = fmaxf(high, dot), shrink = __expf(high - top), weight = __expf(dot - top);
        float4 value = four(v + (first + t) * DIM + 4 * lane);
        sum = {sum.x * shrink + weight * value.x, sum.y * shrink + weight * value.y, sum.z * shrink + weight * value.z, sum.w * shrink + weight * value.w};
        total = total * shrink + weight;
        high = top;
    }
    __shared__ float highs[WARPS], totals[WARPS];
    __shared__ float4 sums[WARPS][32];
    sums[warp][lane] = sum;
    if (lane == 0) highs[warp] = high, totals[warp] = total;
    __syncthreads();
    if (warp) return;
    for (int i = 0; i < WARPS; i++) high = fmaxf(high, highs[i]);
    total = 0, sum = {0, 0, 0, 0};
    for (int i = 0; i < WARPS; i++) {
        float shrink = __expf(highs[i] - high);
        total += shrink * totals[i];
        sum = {sum.x + shrink * sums[i][lane].x, sum.y + shrink * sums[i][lane].y, sum.z + shrink * sums[i][lane].z, sum.w + shrink * sums[i][lane].w};
    }
    __nv_bfloat16 *to = out + (size_t)blockIdx.x * DIM + 4 * lane;
    to[0] = __float2bfloat16(sum.x / total), to[1] = __float2bfloat16(sum.y / total);
    to[2] = __float2bfloat16(sum.z / total), to[3] = __float2bfloat16(sum.w / total);
}

void launch(const void *q, const void *k, const void *v, void *out, int rows, int tokens, int group, cudaStream_t stream) {
    kernel<<<rows, 32 * WARPS, 0, stream>>>(
        (const __nv_bfloat16 *)q, (const __nv_bfloat16 *)k, (const __nv_bfloat16 *)v, (__nv_bfloat16 *)out, tokens, group);
}
