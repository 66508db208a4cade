"""Times kernels of known length by events of the device, by torch's profiler (CUPTI) and by the host's clock. Prints JSON.

    python3 timing.py cuda:0

A kernel is that of the dataset's definition spin. Without a GPU the host's clock alone is read.
"""

import importlib.util
import json
import pathlib
import statistics
import sys
import time

import torch

device = torch.device(sys.argv[1])
kernels = pathlib.Path(__file__).with_name("kernels")
spec = importlib.util.spec_from_file_location("spin", kernels / "spin" / "reference.py")
spin = importlib.util.module_from_spec(spec)
spec.loader.exec_module(spin)
wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
CALLS = 50


def by_events(x):
    """Behind a delay that lasts until both kernels are queued, so that no gap between launches counts."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    wait()
    torch.cuda._sleep(400_000)
    start.record()
    spin.run(x)
    end.record()
    wait()
    return 1e3 * start.elapsed_time(end)


def by_host(x):
    wait()
    start = time.perf_counter_ns()
    spin.run(x)
    wait()
    return (time.perf_counter_ns() - start) / 1e3


def by_cupti(x):
    """Sums of the kernels' own times, a call."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiled:
        for _ in range(CALLS):
            spin.run(x)
        wait()
    work = [e for e in profiled.events() if not str(e.device_type).endswith("CPU")]
    return sum(e.time_range.end - e.time_range.start for e in work) / CALLS


rows = []
for axes in json.loads((kernels / "spin" / "definition.json").read_text())["workloads"][device.type]:
    x = torch.randn(axes["thousands"], device=device)
    row = dict(axes)
    for name, method in [("host", by_host)] + ([("events", by_events)] if device.type == "cuda" else []):
        times = [method(x) for _ in range(CALLS + 10)][10:]
        quartiles = statistics.quantiles(times, n=4)
        row.update({f"{name}_us": statistics.median(times), f"{name}_iqr_us": quartiles[2] - quartiles[0]})
    if device.type == "cuda":
        try:
            row["cupti_us"] = by_cupti(x)
        except Exception as e:  # absent, or in use
            row["cupti"] = f"{type(e).__name__}: {e}"
    rows.append(row)
print(json.dumps(rows))
