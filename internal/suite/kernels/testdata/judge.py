#!/usr/bin/env python3
"""An evaluator of one's own, in plain Python: it computes gemm anew from the
inputs, and holds draws against the probabilities that they were drawn by.

    judge.py [--factor X] [--least N]

A factor other than 1 expects another product; N is how many draws there must be.

The object on standard input has
    protocol                        accelgate-evaluator/1
    definition, workload, axes      path of the definition's JSON, the workload's uuid, its axes
    inputs, reference, candidate    paths of safetensors, by the names of the definition; scalars are I64 or F64 without axes
    draws                           path of the outputs of many calls, [calls, ...], of a sampling case; otherwise ""
    mode, tolerance, outputs        settings, and those of single outputs; a tolerance of 0 leaves the choice to the evaluator
"""
import argparse
import json
import struct
import sys

FORMATS = {"F16": "e", "F32": "f", "F64": "d", "I32": "i", "I64": "q"}


def load(path):
    """Returns the tensors of a safetensors file by name: shape and flat values."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            low, high = entry["data_offsets"]
            code = FORMATS[entry["dtype"]]
            tensors[name] = entry["shape"], [x for (x,) in struct.iter_unpack("<" + code, data[low:high])]
    return tensors


def product(inputs, candidate, factor):
    (m, k), a = inputs["A"]
    (n, _), b = inputs["B"]
    shape, c = candidate["C"]
    if shape != [m, n]:
        return {"status": "INCORRECT_SHAPE"}
    worst = 0.0
    for i in range(m):
        row = a[i * k:(i + 1) * k]
        for j in range(n):
            want = factor * sum(x * y for x, y in zip(row, b[j * k:(j + 1) * k]))
            worst = max(worst, abs(want - c[i * n + j]))
    status = "PASSED" if worst < 0.1 else "INCORRECT_NUMERICAL"
    return {"status": status, "max_absolute_error": worst}


def drawn(inputs, candidate, draws, least):
    (rows, vocabulary), probs = inputs["probs"]
    _, limits = inputs["top_k"]
    (_, samples), = candidate.values()
    if draws is None:  # a single call
        ok = all(0 <= token < vocabulary for token in samples)
        return {"status": "PASSED" if ok else "INCORRECT_NUMERICAL", "log": "a single call"}
    (count, width), table = draws["samples"]
    if width != rows or count < least or table[:rows] != samples:
        return {"status": "INCORRECT_SHAPE", "log": "%d draws of %d rows, want at least %d of %d" % (count, width, least, rows)}
    worst = 0.0
    for row in range(rows):
        p = probs[row * vocabulary:(row + 1) * vocabulary]
        kept = sorted(range(vocabulary), key=lambda token: -p[token])[:limits[row]]
        total = sum(p[token] for token in kept)
        seen = [0] * vocabulary
        for token in table[row::rows]:
            seen[token] += 1
        expected = {token: p[token] / total for token in kept}
        worst = max(worst, sum(abs(seen[token] / count - expected.get(token, 0)) for token in range(vocabulary)) / 2)
    return {"status": "PASSED" if worst < 0.1 else "INCORRECT_NUMERICAL", "max_absolute_error": worst, "log": "distance %.3f" % worst}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--factor", type=float, default=1)
    parser.add_argument("--least", type=int, default=1)
    args = parser.parse_args()
    request = json.loads(sys.stdin.readline())
    if request["protocol"] != "accelgate-evaluator/1":
        sys.exit("unknown protocol")
    inputs, candidate = load(request["inputs"]), load(request["candidate"])
    if "A" in inputs:
        verdict = product(inputs, candidate, args.factor)
    else:
        draws = load(request["draws"]) if request["draws"] else None
        verdict = drawn(inputs, candidate, draws, args.least)
    print(json.dumps(verdict))


main()
