#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// A block has 64 x 64 results, a warp 32 x 32 of them, a step 32 numbers of each row; C = A B^T.
constexpr int TILE = 64, STEP = 32, PITCH = STEP + 8;

__global__ void kernel(const half *a, const half *b, half *c, int m, int n, int k) {
    __shared__ half left[TILE * PITCH], right[TILE * PITCH];
    __shared__ float out[TILE * TILE];
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE, warp = threadIdx.x / 32;
    int r = warp / 2 * 32, q = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (auto &line : sums)
        for (auto &sum : line) wmma::fill_fragment(sum, 0.0f);
    for (int at = 0; at < k; at += STEP) {
        for (int i = threadIdx.x; i < TILE * STEP / 8; i += blockDim.x) {
            int y = i / (STEP / 8), x = i % (STEP / 8) * 8;
            uint4 zero = {0, 0, 0, 0};
            *(uint4 *)(left + y * PITCH + x) = row + y < m ? *(const uint4 *)(a + (size_t)(row + y) * k + at + x) : zero;
            *(uint4 *)(right + y * PITCH + x) = *(const uint4 *)(b + (size_t)(column + y) * k + at + x);
        }
        __syncthreads();
        for (int s = 0; s < STEP; s += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> y[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(x[i], left + (r + 16 * i) * PITCH + s, PITCH);
                wmma::load_matrix_sync(y[i], right + (q + 16 * i) * PITCH + s, PITCH);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) wmma::mma_sync(sums[i][j], x[i], y[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(out + (r + 16 * i) * TILE + q + 16 * j, sums[i][j], TILE, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < TILE * TILE; i += blockDim.x)
        if (row + i / TILE < m) c[(size_t)(row + i / TILE) * n + column + i % TILE] = __float2half(out[i]);
}

void launch(const void *a, const void *b, void *c, int m, int n, int k, cudaStream_t stream) {
    kernel<<<dim3(n / TILE, (m + TILE - 1) / TILE), 128, 0, stream>>>((const half *)a, (const half *)b, (half *)c, m, n, k);
}
