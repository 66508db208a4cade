/* Tensors of the C worker: formats, random numbers, safetensors files, SHA-256. */
#include "fib_dlpack.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 16 };

typedef struct {
    const char *name, *tag; /* in definitions, in safetensors files */
    uint8_t code, bits;     /* of DLPack */
} dtype;

static const dtype dtypes[] = {
    {"float64", "F64", kDLFloat, 64},
    {"float32", "F32", kDLFloat, 32},
    {"float16", "F16", kDLFloat, 16},
    {"bfloat16", "BF16", kDLBfloat, 16},
    {"float8_e4m3fn", "F8_E4M3", kDLFloat8_e4m3fn, 8},
    {"float8_e5m2", "F8_E5M2", kDLFloat8_e5m2, 8},
    {"int64", "I64", kDLInt, 64},
    {"int32", "I32", kDLInt, 32},
    {"int16", "I16", kDLInt, 16},
    {"int8", "I8", kDLInt, 8},
    {"uint8", "U8", kDLUInt, 8},
    {"bool", "BOOL", kDLBool, 8},
    {"float4_e2m1", "U8", kDLFloat4_e2m1fn, 4}, /* last: files call it uint8 */
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

typedef struct tensor tensor;
struct tensor {
    char *name;
    const dtype *type;
    int32_t rank;
    int64_t shape[MAX_RANK];
    size_t elements, bytes;
    unsigned char *data;
    tensor *next;
};

static const dtype *dtype_named(const char *name) {
    for (int i = 0; i < DTYPES; i++)
        if (!strcmp(dtypes[i].name, name)) return &dtypes[i];
    return NULL;
}

/* Sets elements and bytes; 0 if the shape cannot be. */
static int measure_tensor(tensor *t) {
    size_t n = 1;
    for (int i = 0; i < t->rank; i++) {
        if (t->shape[i] < 0) return 0;
        size_t axis = (size_t)t->shape[i];
        if (axis && n > (SIZE_MAX >> 8) / axis) return 0;
        n *= axis;
    }
    t->elements = n;
    t->bytes = (n * t->type->bits + 7) / 8;
    return t->type->bits != 4 || (t->rank && t->shape[t->rank - 1] % 2 == 0);
}

static DLTensor as_dlpack(tensor *t) {
    DLTensor d = {t->data, {kDLCPU, 0}, t->rank, {t->type->code, t->type->bits, 1}, t->shape, NULL, 0};
    return d;
}

/* The random numbers: element i is a function of i and the seed alone. */

static uint64_t mix(uint64_t i, uint64_t seed) {
    uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u + seed;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static int32_t lanes(uint64_t z) { return (int32_t)((z & 0xFFFF) + (z >> 16 & 0xFFFF) + (z >> 32 & 0xFFFF) + (z >> 48)); }

static float normal(int32_t s) { return (float)(s - 131070) * 2.642895e-05f; }

static uint32_t float_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static float bits_float(uint32_t u) {
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Rounds to a small format, to nearest, ties to even. Finite numbers in range only. */
static uint32_t narrow(float x, int fraction, uint32_t bias, int sign) {
    uint32_t bits = float_bits(x), s = bits >> 31 << sign;
    int drop = 23 - fraction;
    bits &= 0x7FFFFFFF;
    if (bits < (128 - bias) << 23) { /* below the smallest normal number: a sum whose last place is one of the format */
        uint32_t big = (128 - bias + (uint32_t)drop) << 23;
        return s | (float_bits(bits_float(bits) + bits_float(big)) - big);
    }
    return s | ((bits - ((127 - bias) << 23) + (1u << (drop - 1)) - 1 + (bits >> drop & 1)) >> drop);
}

static float clamped(float x) { return x < -2 ? -2 : x > 2 ? 2 : x; }

static void fill_random(tensor *t, uint64_t seed) {
    for (size_t i = 0; i < t->elements; i++) {
        uint64_t z = mix(i, seed), n = (z & 0x7FF) - 1024;
        float x = normal(lanes(z));
        double wide = x;
        size_t size = t->type->bits / 8;
        switch (t->type->code) {
        case kDLBool: n = z & 1; break;
        case kDLUInt: n = z; break;
        case kDLInt: n = size == 1 ? z - 128 : n; break;
        case kDLBfloat: n = (float_bits(x) + 0x7FFF + (float_bits(x) >> 16 & 1)) >> 16; break;
        case kDLFloat8_e4m3fn: n = narrow(clamped(x), 3, 7, 7); break;
        case kDLFloat8_e5m2: n = narrow(clamped(x), 2, 15, 7); break;
        case kDLFloat4_e2m1fn:
            n = narrow(clamped(x), 1, 1, 3);
            t->data[i / 2] = (unsigned char)(i % 2 ? t->data[i / 2] | n << 4 : n);
            continue;
        case kDLFloat:
            if (size == 8) memcpy(&n, &wide, 8);
            else n = size == 4 ? float_bits(x) : narrow(x, 10, 15, 15);
        }
        memcpy(t->data + i * size, &n, size); /* little endian, as safetensors */
    }
}

/* Rows of float32 that sum to one: a softmax of integers, whose sum is exact in any order. */
static int fill_probabilities(tensor *t, uint64_t seed) {
    static double table[4 * 0xFFFF + 1]; /* of integers */
    size_t columns = t->rank ? (size_t)t->shape[t->rank - 1] : 0;
    if (strcmp(t->type->name, "float32") || !columns || columns > 1 << 24) return 0;
    for (int32_t s = sizeof table / sizeof *table; *table == 0 && s-- > 0;) /* the first one last */
        table[s] = rint(exp((double)normal(s)) * (1 << 24));
    for (size_t row = 0; row < t->elements; row += columns) {
        double sum = 0; /* below 2^53 */
        for (size_t i = row; i < row + columns; i++) sum += table[lanes(mix(i, seed))];
        for (size_t i = row; i < row + columns; i++) ((float *)(void *)t->data)[i] = (float)(table[lanes(mix(i, seed))] / sum);
    }
    return 1;
}

/* Reads the number of a scalar; 0 if this format cannot be given by a number. */
static int fill_number(tensor *t, const char *text) {
    double wide = strtod(text, NULL);
    float x = (float)wide;
    int64_t n = strchr(text, '.') || strpbrk(text, "eE") ? (int64_t)wide : strtoll(text, NULL, 10);
    size_t size = t->type->bits / 8;
    if (t->type->code == kDLBool) n = !strcmp(text, "true") || wide != 0;
    if (t->type->code == kDLFloat && size == 8) memcpy(&n, &wide, 8);
    else if (t->type->code == kDLFloat && size == 4) n = float_bits(x);
    else if (t->type->code != kDLBool && t->type->code != kDLInt && t->type->code != kDLUInt) return 0;
    for (size_t i = 0; i < t->elements; i++) memcpy(t->data + i * size, &n, size);
    return 1;
}

/* SHA-256, FIPS 180-4. */

static uint32_t rotate(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void sha256_block(uint32_t h[8], const unsigned char *p, const uint32_t k[64]) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += v[i];
}

/* The constants are the fractions of the roots of the first primes. */
static void sha256_constants(uint32_t k[64], uint32_t h[8]) {
    for (int n = 0, p = 2; n < 64; p++) {
        int prime = 1;
        for (int d = 2; d * d <= p; d++) prime &= p % d != 0;
        if (!prime) continue;
        unsigned __int128 cube = 0, square = 0; /* floor(2^32 * root), by bisection */
        for (int bit = 35; bit >= 0; bit--) {
            unsigned __int128 c = cube | (unsigned __int128)1 << bit, s = square | (unsigned __int128)1 << bit;
            if (c * c * c <= (unsigned __int128)p << 96) cube = c;
            if (s * s <= (unsigned __int128)p << 64) square = s;
        }
        if (n < 8) h[n] = (uint32_t)square;
        k[n++] = (uint32_t)cube;
    }
}

static void sha256(const unsigned char *data, size_t n, char hex[65]) {
    uint32_t k[64], h[8];
    unsigned char last[128] = {0};
    size_t whole = n / 64 * 64, rest = n - whole, padded = rest < 56 ? 64 : 128;
    sha256_constants(k, h);
    for (size_t i = 0; i < whole; i += 64) sha256_block(h, data + i, k);
    if (rest) memcpy(last, data + whole, rest);
    last[rest] = 0x80;
    for (int i = 0; i < 8; i++) last[padded - 1 - (size_t)i] = (unsigned char)((uint64_t)n * 8 >> 8 * i);
    for (size_t i = 0; i < padded; i += 64) sha256_block(h, last + i, k);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", h[i]);
}
