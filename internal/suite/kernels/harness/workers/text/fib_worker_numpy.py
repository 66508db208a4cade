"""A worker of fib-worker/1 for functions on numpy arrays: float32, float64, float16, integers and truth values.

numpy has no bfloat16: such a tensor is an array of float32 that holds values
of bfloat16, and an output that was declared so is rounded when it is read.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fib_protocol  # first: it moves the standard streams
from fib_protocol import Fault
import fib_loop

import functools
import platform

import numpy as np

KINDS = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "bfloat16": np.float32,
    "int64": np.int64,
    "int32": np.int32,
    "int16": np.int16,
    "int8": np.int8,
    "uint8": np.uint8,
    "bool": np.bool_,
}
NAMES = {np.dtype(kind): name for name, kind in KINDS.items() if name != "bfloat16"}
CHUNK = 1 << 16  # elements whose bits stay in the cache


class Numpy:
    def hello(self, device):
        if device not in ("", "cpu"):
            raise Fault("unsupported", f"numpy has no device {device}: use cpu, or the worker for torch")
        cpu = {"id": "cpu", "name": platform.processor() or platform.machine() or "cpu", "kind": "cpu"}
        libs = {"numpy": np.__version__, "python": platform.python_version()}
        return {"devices": [cpu], "libs": libs, "timers": ["wall"], "dtypes": list(KINDS)}

    def loader(self, build):
        if build["language"] != "python":
            raise Fault("unsupported", f"this worker runs python on numpy, not {build['language']}: use another worker")

    def kind_of(self, error):
        return "oom" if isinstance(error, MemoryError) else "runtime"

    def empty(self, dtype, shape):
        if dtype not in KINDS:
            raise Fault("unsupported", f"numpy has no {dtype}: use the worker for torch")
        return np.empty(shape, KINDS[dtype])

    def fits(self, value, dtype, shape):
        plain = type(value) is np.ndarray and dtype in KINDS and value.dtype == KINDS[dtype]
        return plain and list(value.shape) == shape and value.flags.c_contiguous and value.flags.writeable

    def fill(self, value, dtype, data):
        raw = np.frombuffer(data, np.uint16 if dtype == "bfloat16" else value.dtype)
        value.reshape(-1)[:] = widened(raw) if dtype == "bfloat16" else raw
        return value

    def set(self, value, dtype, number):
        value.fill(number)

    def bytes_of(self, value):
        return value.reshape(-1).view(np.uint8)

    def poisoner(self, value):
        return functools.partial(self.bytes_of(value).fill, 255)

    def argument(self, value):
        return value

    def random(self, value, dtype, seed, columns):
        flat, step = value.reshape(-1), columns * max(1, CHUNK // columns) if columns else CHUNK
        for start in range(0, flat.size, step):
            part = flat[start : start + step]
            z = mixed(start, part.size, seed)
            part[:] = probabilities(z, columns) if columns else numbers(z, dtype)

    def output(self, name, value, declared):
        if type(value) is not np.ndarray:
            raise Fault("shape", f"output {name} is no numpy.ndarray but {type(value).__name__}")
        if value.dtype == np.float32 and declared == "bfloat16":
            return value, declared
        if value.dtype not in NAMES:
            raise Fault("dtype", f"output {name} has the dtype {value.dtype}, which no definition has")
        return value, NAMES[value.dtype]

    def describe(self, value, dtype):
        return dtype, list(value.shape)

    def read(self, value, dtype):
        value = np.ascontiguousarray(value)
        if dtype == "bfloat16":
            value = narrowed(value.reshape(-1))
        return memoryview(value.reshape(-1).view(np.uint8))

    def clock(self, name):
        if name not in ("", "wall"):
            raise Fault("unsupported", f"there is no timer {name} for numpy: use wall")
        return fib_loop.Wall

    def observer(self, cool):
        raise Fault("unsupported", "numpy has no device to observe: use the worker for torch")

    def cooler(self):
        scratch = np.zeros(2 * fib_protocol.cache_bytes(), np.uint8)
        return lambda: scratch.fill(1)

    def healthy(self):
        return True

    def sync(self):
        pass

    release = sync


def mixed(start, n, seed):
    """The bits of elements start to start+n, by splitmix64."""
    z = np.arange(start + 1, start + 1 + n, dtype=np.uint64)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(seed)
    z ^= z >> np.uint64(30)
    z *= np.uint64(0xBF58476D1CE4E5B9)
    z ^= z >> np.uint64(27)
    z *= np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return z


def numbers(z, dtype):
    if dtype in fib_protocol.MASKS:
        mask, offset = fib_protocol.MASKS[dtype]
        return (z & np.uint64(mask)).astype(np.int64) - offset
    x = normal(lanes(z))
    return widened(narrowed(x)) if dtype == "bfloat16" else x


def lanes(z):
    return z.view("<u2").reshape(-1, 4).sum(axis=1, dtype=np.int32)


def normal(s):
    return (s - 131070).astype(np.float32) * np.float32(2.642895e-05)


def probabilities(z, columns):
    """A softmax of integers, whose sum is exact in any order."""
    e = exponentials()[lanes(z)].reshape(-1, columns)
    return (e.astype(np.float64) / e.sum(axis=1, keepdims=True).astype(np.float64)).astype(np.float32).reshape(-1)


@functools.lru_cache(maxsize=1)
def exponentials():
    x = normal(np.arange(4 * 0xFFFF + 1, dtype=np.int32)).astype(np.float64)
    return np.rint(np.exp(x) * (1 << 24)).astype(np.int64)


def narrowed(x):
    """float32 to the bits of bfloat16, to nearest, ties to even."""
    u = x.view(np.uint32)
    rounded = (u + (np.uint32(0x7FFF) + (u >> np.uint32(16) & np.uint32(1)))) >> np.uint32(16)
    return np.where(np.isnan(x), u >> np.uint32(16) | np.uint32(0x40), rounded).astype(np.uint16)


def widened(bits):
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


if __name__ == "__main__":
    fib_loop.Worker(Numpy()).serve()
