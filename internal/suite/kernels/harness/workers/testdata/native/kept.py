"""Libraries are kept, made anew, shared and removed as fib_native.py says. The compiler is replaced, nothing else."""

import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, sys.argv[1])
import fib_native as native
import fib_toolchain as toolchain
from fib_protocol import Fault

work = tempfile.mkdtemp(dir=sys.argv[2])
folder = os.path.join(work, "kept")
made, slow = [], 0.0


class Tools:
    binding, language, env, ldflags, includes = "torch", "cpp", dict(os.environ), [], []
    texts = ["compiler 1"]

    def __init__(self, *_):
        pass

    def identity(self):
        return iter(self.texts)


def compile_units(job, env):
    made.append(job)
    time.sleep(slow)
    with open(os.path.join(job["folder"], "main.cpp"), "rb") as f:
        content = f.read()
    if content == b"wrong":
        raise Fault("compile", "refused")
    if content != b"nothing":
        with open(os.path.join(job["out"], job["name"] + ".so"), "wb") as f:
            f.write(content)
    return "words"


native.Toolchain, native.compile_units = Tools, compile_units
native.function = lambda entry, binding, symbol: open(entry.library, "rb").read()


def solution(files, device=None):
    where = tempfile.mkdtemp(dir=work)
    native.write(where, files)
    build = {"language": "cpp", "binding": "torch", "dir": where, "cache": folder}
    return native.load(build, device or {"kind": "cpu"}, "run")


def fault(kind, part, do, *args, **env):
    try:
        do(*args, **env)
    except Fault as e:
        assert e.kind == kind and part in e.message, (kind, part, e.kind, e.message)
        return
    raise AssertionError(f"no fault of {kind}: {part}")


def entries():
    return sorted(n for n in os.listdir(folder) if "." not in n)


# Made once, whatever the folder of the sources is; everything that decides it makes another.
assert solution([("main.cpp", b"one")]) == (b"one", False)
assert solution([("main.cpp", b"one")]) == (b"one", True) and len(made) == 1
assert solution([("main.cpp", b"one"), ("a.h", b"")]) == (b"one", False)
assert solution([("main.cpp", b"one")], {"kind": "cuda", "arch": "9.0"}) == (b"one", False)
Tools.texts = ["compiler 2"]
assert solution([("main.cpp", b"one")]) == (b"one", False)
assert solution([("main.cp", b""), ("main.cpp", b"pone")])[1] is False and len(entries()) == 5

# What is damaged, cut off or a link is made anew; what a killed build left is no obstacle.
library = made[-1]["name"]
kept = next(e for e in entries() if library.endswith(e[:24]))
path = os.path.join(folder, kept, library + ".so")
for damage in (lambda: open(path, "wb").write(b"po"), lambda: os.unlink(path), lambda: (os.unlink(path), os.symlink("/etc/hostname", path))):
    damage()
    os.makedirs(os.path.join(folder, kept + ".new", "out"), exist_ok=True)
    assert solution([("main.cp", b""), ("main.cpp", b"pone")]) == (b"pone", False)
    assert not os.path.exists(os.path.join(folder, kept + ".new"))

# A failed build keeps nothing and does not stand in the way of the next.
before = entries()
for _ in range(2):
    fault("compile", "refused", solution, [("main.cpp", b"wrong")])
fault("compile", "without a library", solution, [("main.cpp", b"nothing")])
assert entries() == before

# Hostile names and files.
for name in ("a b.cpp", "$(touch x).cpp", "-o.cpp", "a\nb.cpp", "d/-x.cpp", "ü.cpp"):
    fault("compile", "use letters", solution, [(name, b"")])
fault("compile", "there is no source of cpp", solution, [("main.cu", b"")])
where = tempfile.mkdtemp(dir=work)
os.symlink("/etc/passwd", os.path.join(where, "main.cpp"))
fault("compile", "no regular file", native.sources, where)

# Two at once build once, and the second waits.
slow, count, results = 0.2, len(made), []
threads = [threading.Thread(target=lambda: results.append(solution([("main.cpp", b"both")]))) for _ in range(2)]
for t in threads:
    t.start()
for t in threads:
    t.join()
slow = 0.0
assert sorted(results) == [(b"both", False), (b"both", True)] and len(made) == count + 1, results

# What was used longest ago goes first, and what is in use stays.
native.LIMIT = 2 << 14
solution([("main.cpp", b"x" * (1 << 14))])
large = entries()
busy = next(e for e in large if e in before)
os.utime(os.path.join(folder, busy), (1, 1))
with native.Lock(os.path.join(folder, busy)):
    solution([("main.cpp", b"y" * (3 << 14))])
left = entries()
assert busy in left and len(left) == 2, left
assert native.size_of(folder) > native.LIMIT  # the one that was just made is never removed
assert not any(n.endswith(".lock") and n[:-5] not in left for n in os.listdir(folder))

# A toolchain says what is missing and how to get it.
empty = tempfile.mkdtemp(dir=work)
Real = toolchain.Toolchain
real_python, toolchain.Toolchain.find_python = Real.find_python, lambda self: None
path_before = os.environ["PATH"]
cpp = os.path.join(empty, "c++")
for name in ("c++", "ninja"):
    with open(os.path.join(empty, name), "w") as f:
        f.write("#!/bin/sh\necho stand-in 1\n")
    os.chmod(os.path.join(empty, name), 0o755)


def tools(language, binding, device, dependencies=(), **env):
    saved = dict(os.environ)
    os.environ.update(env)
    try:
        return Real(language, binding, device, dependencies)
    finally:
        os.environ.clear()
        os.environ.update(saved)


cpu, gpu = {"kind": "cpu"}, {"kind": "cuda", "arch": "9.0"}
sys_executable, toolchain.sys.executable = sys.executable, os.path.join(work, "python")
fault("unsupported", "no nowhere-c++", tools, "cpp", "torch", cpu, (), CXX="nowhere-c++", PATH=empty)
os.rename(os.path.join(empty, "ninja"), os.path.join(empty, "nin"))
fault("unsupported", "install ninja-build", tools, "cpp", "torch", cpu, (), PATH=empty)
os.rename(os.path.join(empty, "nin"), os.path.join(empty, "ninja"))
fault("unsupported", "install the CUDA toolkit", tools, "cuda", "torch", gpu, (), PATH=empty, CUDA_HOME="/nowhere")
was, toolchain.has_nvrtc = toolchain.has_nvrtc, lambda: True
fault("unsupported", "only NVRTC is here", tools, "cuda", "torch", gpu, (), PATH=empty, CUDA_HOME="/nowhere")
toolchain.has_nvrtc = was
fault("unsupported", "built for ROCm", tools, "hip", "torch", gpu, (), PATH=empty)
fault("unsupported", "install ROCm", tools, "cuda", "torch", {"kind": "hip", "arch": "gfx942"}, (), PATH=empty, ROCM_HOME="/nowhere")
fault("unsupported", "CUTLASS_PATH", tools, "cpp", "torch", cpu, ("cutlass",), PATH=empty)
Real.find_python = real_python
fault("unsupported", "install it", tools, "cpp", "tvm-ffi", cpu, (), PATH=empty)
Real.find_python = lambda self: None
os.makedirs(os.path.join(empty, "home", "bin"))
os.rename(os.path.join(empty, "ninja"), os.path.join(empty, "home", "bin", "nvcc"))
os.symlink(os.path.join(empty, "home", "bin", "nvcc"), os.path.join(empty, "ninja"))
os.symlink(os.path.join(empty, "home", "bin", "nvcc"), os.path.join(empty, "nvcc"))
t = tools("cuda", "tvm-ffi", gpu, ("cublas", "unknown"), PATH=empty, CUDA_HOME=os.path.join(empty, "home"))
assert t.env["TVM_FFI_CUDA_ARCH_LIST"] == "9.0" and t.ldflags == ["-lcublas", "-lcublasLt"], t.env
assert "TORCH_CUDA_ARCH_LIST" not in t.env or "TORCH_CUDA_ARCH_LIST" in os.environ  # torch asks the device itself
assert "stand-in 1" in toolchain.version(cpp, t.env)

# The first error of a compiler is the reason.
assert native.first_error("a\nx.cu(3): error: expected a }\nmore") == "x.cu(3): error: expected a }"
assert native.first_error("") == "the compiler said nothing" and native.first_error("only\n\n") == "only"
sys.stderr.flush()
os._exit(0)
