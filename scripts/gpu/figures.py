"""Computes the figures of a step of scripts/gpu.sh from what it left, and fails where they contradict the step's claim.

    python3 figures.py STEP [--run run.json] [--traces FOLDER] [--events FILE] [--sources FOLDER] [--noise FOLDER] [--device cpu] --to FIGURES.json

The last line of the output sums up.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys


def rounded(x):
    return float(f"{x:.5g}") if isinstance(x, float) else x


def medians(run):
    """The median of each metric and resource of each cell."""
    for result in run["results"]:
        values = {s["metric"]: statistics.median(s["values"]) for s in result.get("samples", []) if s.get("values")}
        for s in result.get("resources") or []:
            values.setdefault(s["metric"], statistics.median(s["values"]))
        yield result, values


def cell_of(result):
    cell = result["cell"]
    return cell.get("id") or "__".join(p["value"] for p in cell["params"])


def traces(folder):
    for file in sorted(pathlib.Path(folder).rglob("*.jsonl")):
        for line in file.read_text().splitlines():
            yield json.loads(line)


def of_device(gate):
    """Medians of what the device itself needed, in microseconds, over the trials of a trace."""
    found = {}
    for trial in gate.get("device") or []:
        for key in ("ns", "graph_ns"):
            found.setdefault(key, []).extend(trial.get(key) or [])
        found["method"] = trial.get("method")
        found.setdefault("sm_mhz", []).extend([trial["sm_mhz"]] if trial.get("sm_mhz") else [])
    times = {name: statistics.median(found[key]) / 1e3 for key, name in (("ns", "device_us"), ("graph_ns", "graph_us")) if found.get(key)}
    clock = {"sm_mhz": statistics.mean(found["sm_mhz"])} if found.get("sm_mhz") else {}
    return {**times, **clock, **({"method": found["method"]} if found.get("method") else {})}


def kernels(a):
    rows = []
    for t in traces(a.traces):
        e = t["evaluation"]
        p, gate = e.get("performance") or {}, e.get("gate") or {}
        row = {"definition": t["definition"], "solution": t["solution"], "status": gate.get("status") or e["status"]}
        if p:
            row.update(us=1e3 * p["latency_ms"], reference_us=1e3 * p["reference_latency_ms"], speedup=p["speedup_factor"])
        if row["status"] != "PASSED":
            row["log"] = (e.get("log") or "")[-400:]
        rows.append({**row, **of_device(gate)})
    run = json.load(open(a.run))
    skipped = [f"{cell_of(r)}: {r.get('reason', '')}"[:300] for r in run["results"] if r["outcome"] == "skipped"]
    warnings = sorted({w for r in run["results"] for w in r.get("warnings") or []})
    passed = sum(r["status"] == "PASSED" for r in rows)
    return {"cases": rows, "skipped": skipped, "warnings": warnings}, f"{passed} of {len(rows)} cases passed, {len(skipped)} skipped", passed == len(rows) > 0


SHARE = 0.8  # of the honest time, below which a cheat on a GPU has gained; on a CPU those of GPUs are honest


def cheats(a):
    rows = {r["solution"].removesuffix("_product"): r for r in kernels(a)[0]["cases"]}
    honest, wrong = rows.get("honest", {}).get("us"), []
    for name, row in rows.items():
        wants = re.search(r"# want: (.*)", pathlib.Path(a.sources, name + ".py").read_text())[1]
        gained = row["status"] == "PASSED" and (honest is None or row["us"] < SHARE * honest) and a.device != "cpu"
        row["verdict"] = "GAINED" if gained else "harmless" if row["status"] == "PASSED" else "caught"
        if gained or wants == "PASSED" and row["status"] != "PASSED":
            wrong.append(f"{name} {row['status']}")
    summary = ", ".join(f"{n} {r['verdict']}" for n, r in rows.items()) + (f"; WRONG: {', '.join(wrong)}" if wrong else "")
    return {"cases": list(rows.values())}, summary, honest is not None and not wrong


def timing(a):
    """Differences of accelgate's clock, and of what it reads of the device, from a program of its own."""
    rows, own = [], {e["thousands"]: e for e in json.load(open(a.events))}
    for t in traces(a.traces):
        n = t["workload"]["axes"]["thousands"]
        gate, p = t["evaluation"].get("gate") or {}, t["evaluation"].get("performance") or {}
        if not p:
            continue
        samples = sorted(gate["samples_ns"])
        row = {"thousands": n, "accelgate_us": 1e3 * p["latency_ms"], "accelgate_iqr_us": (samples[len(samples) * 3 // 4] - samples[len(samples) // 4]) / 1e3}
        row.update(of_device(gate), **{"own_" + k: v for k, v in own[n].items() if k != "thousands"})
        rows.append(row)
    words = [f"{r['accelgate_us']:.1f} us by accelgate, {r.get('device_us', 0):.1f} by the device, {r.get('own_events_us', 0):.1f} by events" for r in rows]
    return {"kernels": rows}, "; ".join(words), len(rows) > 0


def memory(a):
    seen = [v.get("peak_device_memory_mib") for _, v in medians(json.load(open(a.run)))]
    allocated = 8 * 1024
    over = [s - allocated for s in seen if s is not None]
    good = len(over) == len(seen) > 0 and all(0 <= o < 2048 for o in over)
    return {"allocated_mib": allocated, "seen_mib": seen}, f"8192 MiB allocated, {seen} MiB seen (the rest is torch's context)", good


DEVICE = "device_sm_clock_mhz device_memory_clock_mhz device_power_w device_memory_max_mib device_temperature_max_c device_busy_mean".split()


def endpoint(a):
    """Each cell has a server of its own, whose counter is read at each request's end, warm-up included."""
    rows, absent = [], set()
    counters = [json.loads(f.read_text()) for f in sorted(pathlib.Path(a.events).iterdir(), key=lambda f: int(f.stem))]
    for i, (result, values) in enumerate(medians(json.load(open(a.run)))):
        row = {"cell": cell_of(result), **{k: v for k, v in values.items() if k in DEVICE or "joule" in k or k in ("duration_s", "tpot_p50_ms")}}
        if i < len(counters):
            first, last = counters[i][0], counters[i][-1]
            row["counter_w"] = (last["mj"] - first["mj"]) / 1e3 / (last["at"] - first["at"])
        rows.append(row)
        absent |= {k for k in DEVICE + ["energy_joules_total"] if k not in values}
    words = [f"{r['cell']}: counter {r.get('counter_w', 0):.1f} W, accelgate {r.get('device_power_w', 0):.1f} W" for r in rows]
    return {"cells": rows}, "; ".join(words) + f"; absent: {sorted(absent)}", not (counters and absent)


def profile(a):
    found = []
    for t in traces(a.traces):
        gate = t["evaluation"].get("gate") or {}
        found += [{"solution": t["solution"], **{k: v for k, v in p.items() if k != "report"}, "report": json.dumps(p.get("report"))[:3000]} for p in gate.get("profile") or []]
    states = [f"{p['tool']} {p['state']} {p.get('note') or ''}".strip() for p in found]
    return {"tools": found}, "; ".join(states) or "no tool ran", bool(found) and all(p["state"] == "done" for p in found)


def model(a):
    rows = [{"cell": cell_of(r), "outcome": r["outcome"], **v, "health": r.get("health", {}).get("status")} for r, v in medians(json.load(open(a.run)))]
    return {"cells": rows}, f"{len(rows)} cell, {rows[0].get('decode_tps', 0):.1f} tok/s" if rows else "no cell", all(r["outcome"] == "passed" for r in rows)


WANTED = {"first": (0,), "unchanged": (0,), "slower": (0, 1), "slower-pairs": (1,), "unchanged-pairs": (0,), "unchanged-shared": (0, 3)}


def gate(a):
    """Pairs block a kernel that is 10 % slower, and one run against the baseline at least shows it; unchanged code is not red."""
    rows, wrong = [], []
    for name, codes in WANTED.items():
        file = pathlib.Path(a.run, name + ".json")
        if not file.exists():
            continue
        code, seconds = (int(n) for n in file.with_suffix(".exit").read_text().split())
        report = json.loads(file.read_text())
        verdicts = report["hosts"][0]["verdicts"]
        lost = {v["metric"]: v["change"] for v in verdicts if v["finding"] == "regressed"}
        keys = ("metric", "finding", "old", "new", "change", "interval", "blocks", "reason", "evidence", "health")
        rows.append({"run": name, "exit": code, "seconds": seconds, "title": report["title"], "verdicts": [{k: v.get(k) for k in keys} for v in verdicts]})
        if code not in codes or (name.startswith("slower") and a.device != "cpu" and "device_ms" not in lost):
            wrong.append(name)
    words = "; ".join(f"{r['run']}: exit {r['exit']}, {r['seconds']} s" for r in rows)
    return {"runs": rows}, words + (f"; WRONG: {', '.join(wrong)}" if wrong else ""), not wrong and len(rows) > 4


def noise(a):
    values = {}
    for file in pathlib.Path(a.noise).glob("*.jsonl"):
        for line in file.read_text().splitlines():
            pairs = json.loads(line)
            values.setdefault(pairs["w"], []).extend(pairs["A"] + pairs["B"])
    rows = [{"number": w, "rounds": len(v), "cv": statistics.stdev(v) / statistics.mean(v)} for w, v in values.items() if len(v) > 1]
    return {"cells": rows}, f"{len(rows)} numbers, {max((r['rounds'] for r in rows), default=0)} rounds", True


STEPS = {f.__name__: f for f in (kernels, cheats, timing, memory, endpoint, profile, model, gate, noise)}
parser = argparse.ArgumentParser()
parser.add_argument("step", choices=STEPS)
for name in ("run", "traces", "events", "sources", "noise", "device", "to"):
    parser.add_argument("--" + name)
args = parser.parse_args()
figures, summary, good = STEPS[args.step](args)
pathlib.Path(args.to).write_text(json.dumps(json.loads(json.dumps(figures), parse_float=lambda x: rounded(float(x)))))
print(summary)
sys.exit(0 if good else 1)
