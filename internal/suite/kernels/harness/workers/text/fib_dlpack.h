/* What a kernel in C or C++ is called with: the structures of DLPack 1.0
 * (https://dmlc.github.io/dlpack), for tensors in the host's memory.
 *
 * A kernel takes one DLTensor * for each input of its definition and then one
 * for each output, in the definition's order, and returns 0, or another number
 * if it failed. A scalar is a tensor without axes. All are contiguous
 * (strides is NULL) and begin at a multiple of 256 bytes. The structures live
 * only until the kernel returns.
 *
 *     #include "fib_dlpack.h"
 *     FIB_EXPORT int32_t add(const DLTensor *x, const DLTensor *y, DLTensor *sum);
 */
#ifndef FIB_DLPACK_H
#define FIB_DLPACK_H

#include <stdint.h>

#ifdef __cplusplus
#define FIB_EXPORT extern "C"
#else
#define FIB_EXPORT
#endif

enum { kDLCPU = 1 };

enum {
    kDLInt = 0,
    kDLUInt = 1,
    kDLFloat = 2,
    kDLBfloat = 4,
    kDLBool = 6,
    kDLFloat8_e4m3fn = 10,
    kDLFloat8_e5m2 = 12,
    kDLFloat4_e2m1fn = 17 /* two in a byte, the first in the low half */
};

typedef struct {
    int32_t device_type;
    int32_t device_id;
} DLDevice;

typedef struct {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
} DLDataType;

typedef struct {
    void *data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
} DLTensor;

#endif
