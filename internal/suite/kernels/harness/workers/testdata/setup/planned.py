# Plans by indices that setup gets as the calls do, and writes down what setup and the calls got.
import json
import os

import numpy as np

kept = []  # by all calls of setup
LOG = os.path.join(os.path.dirname(os.path.abspath(__file__)), "seen.jsonl")


def note(what, values, indptr, bias, scale):
    with open(LOG, "a") as f:
        seen = {"what": what, "values": values.tobytes().hex(), "indptr": indptr.tolist(), "bias": bias.tobytes().hex(), "scale": scale}
        f.write(json.dumps(seen) + "\n")


def demand_others(*tensors):
    if any(np.shares_memory(a, b) for a in kept for b in tensors):
        raise ValueError("a tensor of an earlier setup is one of this call")


def setup(values, indptr, bias, scale):
    note("setup", values, indptr, bias, scale)
    demand_others(values, indptr, bias)
    kept.extend([values, indptr, bias])
    return {"starts": indptr[:-1].astype(np.int64)}


def run(values, indptr, bias, scale, starts):
    note("run", values, indptr, bias, scale)
    demand_others(values, indptr, bias)
    return np.add.reduceat(values, starts) * np.float32(scale) + bias
