# Looks for the reference's output among all objects of the process before computing it.
# want: PASSED
# tier: thorough
# worker: torch
import gc

import torch

known = set()


def run(x, w):
    y = x * w + x
    key = float(x.double().sum())
    if key not in known and len(known) < 6:  # later ones would look like results that are kept
        known.add(key)
        for found in gc.get_objects():
            if type(found) is torch.Tensor and found is not y and found.shape == y.shape and torch.equal(found, y):
                raise RuntimeError("found the answer before it was computed")
    return y
