// No cheat, in another language than the reference.
// want: PASSED
// worker: c
// timed: yes
#include "fib_dlpack.h"

int32_t run(DLTensor *x, DLTensor *w, DLTensor *y) {
    const float *a = x->data, *b = w->data;
    float *c = y->data;
    int64_t n = x->shape[0] * x->shape[1];
    for (int64_t i = 0; i < n; i++) {
        volatile float product = a[i] * b[i];
        c[i] = product + a[i];
    }
    return 0;
}
