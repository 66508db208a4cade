"""Writes the kernels of folder kernels as a dataset of FlashInfer-Bench.

    python3 kernels.py cuda DATASET

The first argument, cuda or cpu, chooses the sizes. A folder has definition.json, with the workloads of each device, the
reference, and one file a solution: torch.py, triton.py, cuda.cu with cuda.cpp, and any other Python.
"""

import json
import pathlib
import sys

sizes, dataset = sys.argv[1], pathlib.Path(sys.argv[2])
HARDWARE = ["cuda", "cpu"]


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def solution(definition, file):
    language = file.stem if file.stem in ("triton", "cuda") else "python"
    files = [file, file.with_suffix(".cpp")] if language == "cuda" else [file]  # nvcc need not read torch's headers
    spec = {"language": language, "target_hardware": HARDWARE if language == "python" else ["cuda"], "entry_point": f"{files[-1].name}::run", "destination_passing_style": False}
    spec.update({"binding": "torch"} if language == "cuda" else {})
    return {
        "name": f"{file.stem}_{definition}",
        "definition": definition,
        "author": "accelgate",
        "spec": spec,
        "sources": [{"path": f.name, "content": f.read_text()} for f in files],
    }


for folder in sorted(pathlib.Path(__file__).with_name("kernels").iterdir()):
    definition, name = json.loads((folder / "definition.json").read_text()), folder.name
    workloads, op = definition.pop("workloads")[sizes], definition["op_type"]
    definition = {"name": name, **definition, "reference": (folder / "reference.py").read_text()}
    write(dataset / "definitions" / op / f"{name}.json", json.dumps(definition))
    lines = []
    for axes in workloads:
        uuid = "_".join(f"{k}{v}" for k, v in axes.items())
        workload = {"uuid": uuid, "axes": axes, "inputs": {i: {"type": "random"} for i in definition["inputs"]}}
        lines.append(json.dumps({"definition": name, "solution": None, "workload": workload, "evaluation": None}) + "\n")
    write(dataset / "workloads" / op / f"{name}.jsonl", "".join(lines))
    for file in folder.iterdir():
        if file.suffix in (".py", ".cu") and file.stem != "reference":
            made = solution(name, file)
            write(dataset / "solutions" / "accelgate" / op / name / f"{made['name']}.json", json.dumps(made))
