"""What compiles solutions in C++, CUDA and HIP here, and what of it decides the library."""

import fib_protocol  # first: it moves the standard streams
from fib_protocol import Fault

import ctypes.util
import importlib.util
import os
import platform
import shutil
import subprocess
import sys
import sysconfig

# Variables that compilers and torch's builder read.
READ = (
    "CXX CPATH CPLUS_INCLUDE_PATH LIBRARY_PATH CUDA_HOME TORCH_CUDA_ARCH_LIST TVM_FFI_CUDA_ARCH_LIST NVCC_CCBIN NVCC_PREPEND_FLAGS "
    "NVCC_APPEND_FLAGS ROCM_HOME PYTORCH_ROCM_ARCH TVM_FFI_ROCM_ARCH_LIST HIPCC_COMPILE_FLAGS_APPEND CUTLASS_PATH"
).split()
# Libraries by the names that solutions give in their dependencies.
LIBRARIES = {"cuda": ["-lcuda"], "cublas": ["-lcublas", "-lcublasLt"], "cudnn": ["-lcudnn"]}
NO_DEVICE_ARCH = "8.0"  # of code for a device, compiled where there is none


class Toolchain:
    """The environment of the compiler and what identifies it.

    device is {"kind": "cpu", "cuda" or "hip", "arch": "9.0" or "gfx942"}.
    A Fault of the kind unsupported says what is missing and how to get it.
    """

    def __init__(self, language, binding, device, dependencies):
        if os.name != "posix":
            raise missing(f"{language} is not built on {platform.system()}: measure it on Linux")
        self.language, self.binding = language, binding
        beside = os.path.dirname(sys.executable)  # where pip puts ninja
        self.env = dict(os.environ, PATH=os.environ.get("PATH", os.defpath) + os.pathsep + beside)
        self.programs = [self.program(os.environ.get("CXX") or "c++", "install g++, or name a compiler in CXX")]
        self.programs.append(self.program("ninja", "install ninja-build, or the Python package ninja"))
        self.find_python()
        if language == "hip" or (language == "cuda" and device["kind"] == "hip"):
            self.find_hip(device)
        elif language == "cuda":
            self.find_cuda(device)
        self.includes, self.ldflags = self.depend(dependencies)

    def program(self, name, advice):
        found = shutil.which(name, path=self.env["PATH"])
        if not found:
            raise missing(f"there is no {name}, which builds {self.language} with the binding {self.binding}: {advice}")
        return os.path.realpath(found)

    def find_python(self):
        if self.binding == "tvm-ffi":
            need_module("tvm_ffi", "the binding tvm-ffi needs the Python package apache-tvm-ffi: install it")
            return
        need_module("setuptools", "torch builds extensions with the Python package setuptools: install it")
        if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
            raise missing("there is no Python.h, which the binding torch includes: install python3-dev")
        import torch

        own = os.path.join(os.path.dirname(torch.__file__), "include")  # extension.h of packages lies here or in the API's folder, by version
        places = (own, os.path.join(own, "torch", "csrc", "api", "include"), "/usr/include", "/usr/local/include")
        if not any(os.path.exists(os.path.join(p, "torch/extension.h")) for p in places):
            raise missing("this torch has no torch/extension.h: install its headers, on Debian libtorch-dev")

    def find_cuda(self, device):
        home = self.env.get("CUDA_HOME") or self.env.get("CUDA_PATH")
        on_path = shutil.which("nvcc", path=self.env["PATH"])
        home = home or (os.path.dirname(os.path.dirname(on_path)) if on_path else "/usr/local/cuda")
        nvcc = os.path.join(home, "bin", "nvcc")
        if not os.access(nvcc, os.X_OK):
            only = "only NVRTC is here, which compiles no host code" if has_nvrtc() else f"{nvcc} does not exist"
            raise missing(f"there is no nvcc, which builds cuda: {only}: install the CUDA toolkit, or name its folder in CUDA_HOME")
        self.programs.append(os.path.realpath(nvcc))
        self.env["CUDA_HOME"] = home
        arch = device.get("arch") or NO_DEVICE_ARCH
        if device["kind"] == "cpu":
            self.env.setdefault("TORCH_CUDA_ARCH_LIST", arch)
        self.env.setdefault("TVM_FFI_CUDA_ARCH_LIST", arch)  # which otherwise asks the first GPU of the host

    def find_hip(self, device):
        if device["kind"] != "hip":
            raise missing("hip needs an AMD GPU and a torch that is built for ROCm: install that torch")
        home = self.env.get("ROCM_HOME") or self.env.get("ROCM_PATH") or "/opt/rocm"
        if self.language == "cuda" and self.binding == "tvm-ffi":
            raise missing("tvm-ffi does not translate cuda for an AMD GPU: use the binding torch, which does, or the language hip")
        hipcc = os.path.join(home, "bin", "hipcc")
        if not os.access(hipcc, os.X_OK):
            hipcc = self.program("hipcc", "install ROCm, or name its folder in ROCM_HOME")
            home = os.path.dirname(os.path.dirname(hipcc))
        self.programs.append(os.path.realpath(hipcc))
        self.env["ROCM_HOME"] = home
        self.env.setdefault("TVM_FFI_ROCM_ARCH_LIST", device["arch"].split(":")[0])  # without the features behind it

    def depend(self, dependencies):
        includes, ldflags = [], []
        for name in dependencies:
            ldflags += LIBRARIES.get(name, [])
            if name == "cutlass":
                home = self.env.get("CUTLASS_PATH", "")
                if not os.path.isdir(os.path.join(home, "include")) or not home:
                    raise missing("the solution depends on cutlass: name the folder that has its include in CUTLASS_PATH")
                includes.append(os.path.join(home, "include"))
        return includes, ldflags

    def identity(self):
        """Texts that change where another library may come out."""
        import torch

        yield from (self.language, self.binding, torch.__version__, str(torch.version.git_version), platform.machine())
        yield from (sys.implementation.cache_tag, sysconfig.get_config_var("EXT_SUFFIX") or "")
        for program in self.programs:
            yield program
            yield version(program, self.env)
        if self.binding == "tvm-ffi":
            import tvm_ffi

            yield str(getattr(tvm_ffi, "__version__", ""))
        yield from self.includes + self.ldflags
        for name in READ:
            yield f"{name}={self.env.get(name, '')}"


def missing(text):
    return Fault("unsupported", text)


def need_module(name, text):
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise missing(text)


def has_nvrtc():
    try:
        return bool(ctypes.util.find_library("nvrtc") or importlib.util.find_spec("nvidia.cuda_nvrtc"))
    except (ImportError, ValueError):
        return False


def version(program, env):
    try:
        out = subprocess.run([program, "--version"], env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as e:
        raise missing(f"{program} --version does not answer ({e}): repair or remove it") from None
    return (out.stdout + out.stderr)[:4096].decode(errors="replace")
