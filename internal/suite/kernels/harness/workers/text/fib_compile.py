"""Compiles a solution in C++, CUDA or HIP into a library: a program of its own, which fib_native.py runs.

The job is a JSON object on the standard input: binding, language, name, folder
(of the sources), units, out (an empty folder), ldflags and includes. The
library is out/name.so. Importing it here already tells what it lacks.
"""

import json
import sys

FLAGS = ["-O3"]


def with_torch(job):
    from torch.utils.cpp_extension import load

    load(
        name=job["name"],
        sources=job["units"],
        extra_cflags=FLAGS,
        extra_cuda_cflags=FLAGS,
        extra_ldflags=job["ldflags"],
        extra_include_paths=[job["folder"]] + job["includes"],
        build_directory=job["out"],
        with_cuda=job["language"] != "cpp",
        verbose=True,
    )


def with_tvm_ffi(job):
    import tvm_ffi.cpp

    device = [u for u in job["units"] if u.endswith((".cu", ".hip"))]
    host = [u for u in job["units"] if u not in device]
    more = {"backend": "hip"} if job["language"] == "hip" else {}  # which early versions do not have
    tvm_ffi.cpp.build(
        name=job["name"],
        cpp_files=host or None,
        cuda_files=device or None,
        extra_cflags=FLAGS,
        extra_cuda_cflags=FLAGS,
        extra_ldflags=job["ldflags"],
        extra_include_paths=[job["folder"]] + job["includes"],
        build_directory=job["out"],
        **more,
    )


if __name__ == "__main__":
    job = json.load(sys.stdin)
    {"torch": with_torch, "tvm-ffi": with_tvm_ffi}[job["binding"]](job)
