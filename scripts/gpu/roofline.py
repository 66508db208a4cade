"""What a device of torch reaches: copying, products of matrices, and how much memory it says is taken. Prints JSON.

    python3 roofline.py cuda:0
"""

import json
import sys

import torch

device = torch.device(sys.argv[1])
if device.type != "cuda":
    sys.exit("this needs a device of CUDA: name one such as cuda:0")
torch.cuda.set_device(device)


def seconds(work, times):
    """Of one call, by events behind calls that keep the device busy; the least of five."""
    lengths = []
    for _ in range(5):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        work()
        start.record()
        for _ in range(times):
            work()
        end.record()
        torch.cuda.synchronize()
        lengths.append(start.elapsed_time(end) / 1e3 / times)
    return min(lengths)


found = {"device": torch.cuda.get_device_name(device), "tflops": {}}
source = torch.empty(1 << 30, dtype=torch.uint8, device=device)
target = torch.empty_like(source)
found["copy_gb_per_s"] = 2 * source.numel() / seconds(lambda: target.copy_(source), 10) / 1e9
del target
n = 8192
for name in ("float32", "float16", "bfloat16"):
    a = torch.randn(n, n, device=device).to(getattr(torch, name))
    found["tflops"][name] = 2 * n**3 / seconds(lambda: a @ a, 5) / 1e12
small = torch.empty(1, device=device)
found["launch_us"] = 1e6 * seconds(lambda: small.add_(1), 200)
free, total = torch.cuda.mem_get_info(device)
found["memory"] = {"allocated": torch.cuda.max_memory_allocated(device), "reserved": torch.cuda.max_memory_reserved(device), "used_of_device": total - free}
print(json.dumps(found, indent=1))
