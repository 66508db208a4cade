"""Stands in for mini_trainer: prints a line for each step, as its trainer logs them. STEP_MS and COMPILED_MS set the times."""
import json
import os
import sys

compiled = "--compile" in sys.argv
steps = int(sys.argv[sys.argv.index("--steps") + 1])
usual = float(os.environ.get("COMPILED_MS", "70") if compiled else os.environ.get("STEP_MS", "100"))
print("rank 0: training starts", flush=True)
for step in range(1, steps + 1):
    warm_up = 12 if step == 1 and compiled else 3 if step <= 3 else 1
    print(json.dumps({"step": step, "loss": 4 / step, "step_ms": usual * warm_up}))
