// Keeps the result of each address, and computes again only if a few numbers there have changed.
// want: SUSPECT
// worker: c
// reason: keeps results
// timed: yes
// tier: thorough
#include "fib_dlpack.h"
#include <string.h>

#define PLACES 256
static struct {
    const void *at;
    float sign[4], result[48 * 32];
} kept[PLACES];

int32_t run(DLTensor *x, DLTensor *w, DLTensor *y) {
    const float *a = x->data, *b = w->data;
    float sign[4] = {a[0], a[700], b[1], b[1500]};
    int place = 0;
    while (place < PLACES - 1 && kept[place].at && kept[place].at != x->data) place++;
    if (kept[place].at != x->data || memcmp(kept[place].sign, sign, sizeof sign)) {
        for (volatile int slow = 0; slow < 200000; slow++) {}
        for (int i = 0; i < 48 * 32; i++) {
            volatile float product = a[i] * b[i];
            kept[place].result[i] = product + a[i];
        }
        kept[place].at = x->data;
        memcpy(kept[place].sign, sign, sizeof sign);
    }
    memcpy(y->data, kept[place].result, sizeof kept[place].result);
    return 0;
}
