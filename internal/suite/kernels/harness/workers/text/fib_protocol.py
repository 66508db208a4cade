"""What the Python workers share: the protocol fib-worker/1 and its loop.

One JSON object a line. A request {"seq", "op", ...} gets exactly one reply
{"seq", "ok", ..., "host_ns"} or {"seq", "ok": false, "error": {...}}. Lines
without "seq" are events: {"event": "alive"} once a second.

Importing this module takes the standard streams away from everything that is
imported later: the protocol moves to private descriptors, what is printed goes
to the standard error. It must therefore be imported first. It cannot hide the
descriptors from code in the same process (/proc/self/fd lists them), so the
other side must neither trust what a solution measures nor read a reply to
a number that it did not send.
"""

import os

import fib_isolation

fib_isolation.renounce()  # before any thread begins, as it is for one thread

_replies = os.dup(1)
_requests = os.dup(0)
os.dup2(2, 1)
_null = os.open(os.devnull, os.O_RDONLY)
os.dup2(_null, 0)
os.close(_null)


def _forget():
    """A forked child must not answer in its parent's place."""
    for descriptor in (_replies, _requests):
        try:
            os.close(descriptor)
        except OSError:
            pass


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget)

import json
import struct
import sys
import threading
import time
import traceback

sys.dont_write_bytecode = True  # one folder may hold different sources within a second

PROTO = "fib-worker/1"
TRACE_TAIL = 8192  # characters of a traceback that are sent
MAX_HEADER = 100 << 20  # bytes; the limit of the safetensors format's own reader

# Taken before any foreign code can replace it in the module time.
now_ns = time.perf_counter_ns

if sys.stdout is not None:
    sys.stdout.reconfigure(line_buffering=True)  # what is printed shall be in the log when the process dies


_lock = threading.Lock()


def send(message):
    line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
    with _lock:
        while line:
            line = line[os.write(_replies, line) :]


def _beat(seconds=0.9, sleep=time.sleep):
    while True:
        sleep(seconds)
        send({"event": "alive"})


# From now on: importing torch from a slow disk takes longer than a worker may be silent.
threading.Thread(target=_beat, daemon=True).start()


class Fault(Exception):
    """A request that failed. Kinds: compile, runtime, oom, shape, dtype, unsupported."""

    def __init__(self, kind, message, trace=""):
        super().__init__(message)
        self.kind, self.message, self.trace = kind, message, trace

    def reply(self):
        return {"kind": self.kind, "message": self.message[:4000], "trace": self.trace[-TRACE_TAIL:]}


def describe(error):
    try:
        text = str(error)
    except BaseException:  # the class is foreign
        text = ""
    return f"{type(error).__name__}: {text}"[:2000]


def tail(error):
    try:
        return "".join(traceback.format_exception(type(error), error, error.__traceback__))[-TRACE_TAIL:]
    except BaseException:
        return ""


# The safetensors format: a little-endian length, a JSON header, the bytes.

TAGS = {
    "float64": ("F64", 8),
    "float32": ("F32", 4),
    "float16": ("F16", 2),
    "bfloat16": ("BF16", 2),
    "float8_e4m3fn": ("F8_E4M3", 1),
    "float8_e5m2": ("F8_E5M2", 1),
    "int64": ("I64", 8),
    "int32": ("I32", 4),
    "int16": ("I16", 2),
    "int8": ("I8", 1),
    "uint8": ("U8", 1),
    "bool": ("BOOL", 1),
}
# Random integers are (bits & mask) - offset.
MASKS = {
    "bool": (1, 0),
    "int8": (0xFF, 128),
    "uint8": (0xFF, 0),
    "int16": (0x7FF, 1024),
    "int32": (0x7FF, 1024),
    "int64": (0x7FF, 1024),
}
DTYPES = {tag: name for name, (tag, _) in TAGS.items()}


def stored_as(dtype, shape):
    """How a tensor is kept in memory and in files: float4_e2m1 as bytes, two numbers in each along the last axis."""
    if dtype != "float4_e2m1":
        return dtype, list(shape)
    if not shape or shape[-1] % 2:
        raise Fault("unsupported", f"float4_e2m1 {shape} has no whole bytes along its last axis: make that even")
    return "uint8", shape[:-1] + [shape[-1] // 2]


def size_of(dtype, shape):
    """Bytes of a tensor."""
    dtype, shape = stored_as(dtype, shape)
    if dtype not in TAGS:
        raise Fault("unsupported", f"this worker has no dtype {dtype}: use another worker")
    count = TAGS[dtype][1]
    for n in shape:
        if not isinstance(n, int) or n < 0:
            raise Fault("runtime", f"a shape consists of sizes of 0 and more, not {shape!r}")
        count *= n
    return count


def read_tensor(path, key):
    """One tensor of a safetensors file: (dtype, shape, bytearray)."""
    try:
        with open(path, "rb") as f:
            return _read_tensor(f, path, key)
    except (OSError, ValueError, KeyError, TypeError, struct.error) as e:
        raise Fault("runtime", f"read tensor {key!r} of {path}: {e}") from None


def _read_tensor(f, path, key):
    (length,) = struct.unpack("<Q", f.read(8))
    if length > MAX_HEADER:
        raise ValueError(f"the header claims {length} bytes")
    header = json.loads(f.read(length))
    if key not in header:
        raise ValueError(f"the file has {sorted(k for k in header if k != '__metadata__')[:20]}")
    entry = header[key]
    dtype, shape, (begin, end) = DTYPES[entry["dtype"]], entry["shape"], entry["data_offsets"]
    if end - begin != size_of(dtype, shape) or begin < 0 or 8 + length + end > os.fstat(f.fileno()).st_size:
        raise ValueError(f"bytes {begin} to {end} do not hold {dtype} {shape}")
    f.seek(8 + length + begin)
    data = bytearray(end - begin)
    if f.readinto(data) != len(data):
        raise ValueError("the file ends too early")
    return dtype, shape, data


def write_tensors(path, tensors):
    """Writes [(name, dtype, shape, buffers)] as a safetensors file, which must not exist."""
    header, offset = {}, 0
    for name, dtype, shape, data in tensors:
        end = offset + size_of(dtype, shape)
        header[name] = {"dtype": TAGS[dtype][0], "shape": shape, "data_offsets": [offset, end]}
        if sum(len(b) for b in data) != end - offset:
            raise Fault("dtype", f"{name} holds no {dtype} any more: a function must not change what its outputs are")
        offset = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "xb") as f:
        f.write(struct.pack("<Q", len(text)))
        f.write(text)
        for _, _, _, buffers in tensors:
            for data in buffers:
                f.write(data)


def cache_bytes(default=32 << 20, most=1 << 30):
    """The largest cache of the CPU, where Linux tells."""
    folder = "/sys/devices/system/cpu/cpu0/cache"
    sizes = [default]
    try:
        for index in os.listdir(folder):
            if index.startswith("index"):
                with open(f"{folder}/{index}/size") as f:
                    sizes.append(int(f.read().strip().rstrip("K")) << 10)
    except (OSError, ValueError):
        pass
    return min(max(sizes), most)
