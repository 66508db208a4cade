"""Stands in for a model of a benchmark: products of matrices on a device of torch, and what they took.

    python3 model.py cuda:0 [GIB]

GIB more of the device's memory are taken, and held for two seconds.
"""

import json
import sys
import time

import torch

device, gib, layers = torch.device(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 0, 8
torch.manual_seed(1)
size = 1024 if device.type == "cpu" else 4096
weights = torch.randn(size, size, device=device) / size**0.5
state = torch.ones(1, size, device=device)
held = torch.zeros(int(gib * (1 << 30)), dtype=torch.uint8, device=device)


def wait():
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def tokens(n, x):
    for _ in range(n):
        for _ in range(layers):
            x = torch.tanh(x @ weights)
        x.sum().item()
    return x


tokens(4, state)
wait()
start, n = time.perf_counter(), 64 if device.type == "cpu" else 512
last = tokens(n, state)
wait()
seconds = time.perf_counter() - start
if held.numel():
    time.sleep(2)
print(json.dumps({"decode_tps": n / seconds, "text": "finite" if bool(torch.isfinite(last).all()) else "broken"}))
