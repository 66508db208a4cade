"""A worker of fib-worker/1 for functions on torch tensors, on any device that torch has.

With --trusted, which is for the worker that runs references only, functions
that torch cannot compute in float16 on this CPU get float32 and have their
results rounded back: torch before 2.2 has no float16 matrix product there.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fib_protocol  # first: it moves the standard streams
from fib_protocol import Fault
import fib_device
import fib_loop
import fib_native

import ctypes
import functools
import importlib.metadata
import importlib.util
import platform

import torch

KINDS = {
    name: getattr(torch, name)
    for name in fib_protocol.TAGS
    if isinstance(getattr(torch, name, None), torch.dtype)
}
NAMES = {kind: name for name, kind in KINDS.items()}
NAMES.pop(getattr(torch, "uint16", None), None)
# Languages that are libraries of Python: the module, and the package that has it.
MODULES = {
    "triton": ("triton", "triton"),
    "tilelang": ("tilelang", "tilelang"),
    "cutedsl": ("cutlass", "nvidia-cutlass-dsl"),
}
CHUNK = {"cpu": 1 << 18, "cuda": 1 << 24, "xpu": 1 << 24}  # elements at a time: bits in the cache of a CPU, few launches elsewhere
TRUSTED = "--trusted" in sys.argv[1:]


def signed(z):
    """A 64-bit word as int64, because torch computes with no unsigned one; sums and products wrap alike."""
    return z - (1 << 64) if z >> 63 else z


class Torch:
    def __init__(self):
        self.device = torch.device("cpu")
        self.scratch = []
        self.module = None  # torch.cuda and the like
        self.upcast = False

    def hello(self, device):
        self.device = torch.device(device or best_device())
        if self.device.index is None and self.device.type != "cpu":
            self.device = torch.device(self.device.type, 0)
        self.module = getattr(torch, self.device.type, None) if self.device.type != "cpu" else None
        self.upcast = TRUSTED and self.device.type == "cpu" and not half_works()
        if self.device.type == "cuda":
            torch.cuda.set_device(self.device)
        self.empty("uint8", [1])  # says now that there is no such device
        libs = {"torch": torch.__version__, "python": platform.python_version()}
        for name, version in (("cuda", torch.version.cuda), ("hip", getattr(torch.version, "hip", None))):
            libs.update({name: version} if version else {})
        if has_module("triton"):
            libs["triton"] = triton_version()
        libs.update(installed())
        timers = ["event", "wall"] if self.device.type == "cuda" else ["wall"]
        return {"devices": [describe_device(self.device)], "libs": libs, "timers": timers, "dtypes": list(KINDS) + ["float4_e2m1"]}

    def loader(self, build):
        """What compiles a solution that is not in Python; a Fault where this host cannot."""
        language = build["language"]
        if language in fib_native.UNITS and build.get("binding") in fib_native.EXPORT:
            return lambda build, symbol: fib_native.load(build, self.target(), symbol)
        if language != "python" and language not in MODULES:
            raise Fault("unsupported", f"this worker does not run {language} {build.get('binding', '')}: use another worker")
        if language in MODULES and not has_module(language):
            package = MODULES[language][1]
            raise Fault("unsupported", f"{language} needs the Python package {package}: install it for {sys.executable}")

    def target(self):
        """The device that code is compiled for."""
        if self.device.type != "cuda":
            return {"kind": "cpu"}
        if getattr(torch.version, "hip", None):
            p = torch.cuda.get_device_properties(self.device)
            return {"kind": "hip", "arch": getattr(p, "gcnArchName", p.name)}
        return {"kind": "cuda", "arch": "%d.%d" % torch.cuda.get_device_capability(self.device)}

    def kind_of(self, error):
        memory = getattr(torch.cuda, "OutOfMemoryError", MemoryError)
        text = fib_protocol.describe(error).lower()
        full = isinstance(error, (MemoryError, memory)) or "out of memory" in text or "can't allocate memory" in text
        return "oom" if full or "not enough memory" in text else "runtime"

    def kind(self, dtype):
        if dtype not in KINDS:
            raise Fault("unsupported", f"torch {torch.__version__} has no {dtype}: install a later one")
        return KINDS[dtype]

    def empty(self, dtype, shape):
        dtype, shape = fib_protocol.stored_as(dtype, shape)
        return torch.empty(shape, dtype=self.kind(dtype), device=self.device)

    def fits(self, value, dtype, shape):
        dtype, shape = fib_protocol.stored_as(dtype, shape)
        plain = type(value) is torch.Tensor and value.dtype == KINDS.get(dtype)
        return plain and list(value.shape) == shape and value.is_contiguous() and not value.requires_grad

    def fill(self, value, dtype, data):
        if data:
            self.bytes_of(value).copy_(torch.frombuffer(data, dtype=torch.uint8))
        return value

    def set(self, value, dtype, number):
        value.fill_(number)

    def bytes_of(self, value):
        return value.reshape(-1).view(torch.uint8)

    def poisoner(self, value):
        return functools.partial(self.bytes_of(value).fill_, 255)

    def argument(self, value):
        half = self.upcast and type(value) is torch.Tensor and value.dtype == torch.float16
        return value.float() if half else value

    def random(self, value, dtype, seed, columns):
        device = self.device if self.device.type in CHUNK else torch.device("cpu")  # 64-bit numbers are rare elsewhere
        flat, chunk = value.reshape(-1), CHUNK[device.type]
        chunk = columns * max(1, chunk // columns) if columns else chunk
        each = 2 if dtype == "float4_e2m1" else 1
        for start in range(0, flat.numel(), chunk):
            part = flat[start : start + chunk]
            z, x, y = self.words(part.numel() * each, device)
            mix(z, x, start * each, seed)
            part.copy_(probabilities(z, x, y, columns) if columns else numbers(z, x, y, dtype))

    def words(self, n, device):
        """Three tensors of n words. A CPU's are kept: malloc gives such memory back to the system in some processes, and
        making the numbers then takes three times as long there as in others."""
        if device.type != "cpu":
            return [torch.empty(n, dtype=torch.int64, device=device) for _ in range(3)]
        if not self.scratch or self.scratch[0].numel() < n:
            self.scratch = [torch.empty(n, dtype=torch.int64) for _ in range(3)]
        return [kept[:n] for kept in self.scratch]

    def output(self, name, value, declared):
        if type(value) is not torch.Tensor or value.layout != torch.strided or value.is_quantized:
            raise Fault("shape", f"output {name} is no plain torch.Tensor but {type(value).__name__}: return one that holds its numbers")
        if value.device != self.device:
            raise Fault("shape", f"output {name} lies on {value.device}, not on {self.device}")
        if self.upcast and declared == "float16" and value.dtype == torch.float32:
            value = value.to(torch.float16)
        if value.dtype not in NAMES:
            raise Fault("dtype", f"output {name} has the dtype {value.dtype}, which no definition has")
        return value.detach(), NAMES[value.dtype]

    def describe(self, value, dtype):
        return NAMES[value.dtype], list(value.shape)  # as it is by now, not as declared

    def read(self, value, dtype):
        """The bytes, without a copy where they lie in the host's memory already."""
        host = value.detach().contiguous().cpu()
        size = host.numel() * host.element_size()
        if not size:
            return memoryview(b"")
        view = (ctypes.c_char * size).from_address(host.data_ptr())
        view.owner = host  # the memory must live as long as the view
        return memoryview(view).cast("B")

    def clock(self, name):
        if name in ("", "event") and self.device.type == "cuda":
            return Event
        if name not in ("", "wall"):
            raise Fault("unsupported", f"there is no timer {name} for {self.device}: leave it open")
        return fib_loop.Wall

    def observer(self, cool):
        if self.device.type != "cuda":
            raise Fault("unsupported", f"{self.device} tells nothing of its own: time its calls")
        return fib_device.Observer(torch, self.device, self.sync, cool)

    def cooler(self):
        size = fib_protocol.cache_bytes()
        if self.device.type == "cuda":
            size = getattr(torch.cuda.get_device_properties(self.device), "L2_cache_size", 64 << 20)
        scratch = torch.empty(2 * size, dtype=torch.uint8, device=self.device)
        return scratch.zero_

    def healthy(self):
        try:
            self.sync()
            one = torch.zeros(1, device=self.device) + 1
            return one.item() == 1
        except RuntimeError:
            return False

    def sync(self):
        if self.module is not None:
            self.module.synchronize()

    def release(self):
        if hasattr(self.module, "empty_cache"):
            self.module.empty_cache()


class Event:
    """Events of the device around what the call puts on the current stream, and what it waits for the host meanwhile.

    Work on other streams is waited for and not seen here; it shows when the
    other side times whole requests.
    """

    name = "event"

    @staticmethod
    def measure(call, args, sync, event=torch.cuda.Event):
        start, end = event(enable_timing=True), event(enable_timing=True)
        start.record()
        result = call(args)
        end.record()
        sync()
        return result, int(start.elapsed_time(end) * 1e6)


def best_device():
    for name in ("cuda", "xpu"):
        module = getattr(torch, name, None)
        if module is not None and module.is_available():
            return name
    mps = getattr(torch.backends, "mps", None)
    return "mps" if mps is not None and mps.is_available() else "cpu"


def describe_device(device):
    if device.type == "cpu":
        return {"id": "cpu", "name": platform.processor() or platform.machine() or "cpu", "kind": "cpu"}
    about = {"id": str(device), "name": str(device), "kind": device.type}
    module = getattr(torch, device.type, None)
    if hasattr(module, "get_device_properties"):
        p = module.get_device_properties(device)
        about.update(name=p.name, mem=int(p.total_memory), uuid=str(getattr(p, "uuid", "")))
    return about


def has_module(language):
    try:
        spec = importlib.util.find_spec(MODULES[language][0])
    except (ImportError, ValueError):
        return False
    if spec is None or language != "cutedsl":
        return spec is not None
    # Another package has a module cutlass, without the language.
    return any(os.path.exists(os.path.join(folder, "cute")) for folder in spec.submodule_search_locations or [])


def installed():
    """Versions of what else decides a result, for the traces."""
    found = {}
    for name, package in (("tilelang", "tilelang"), ("cutedsl", "nvidia-cutlass-dsl"), ("tvm_ffi", "apache-tvm-ffi")):
        try:
            found[name] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def triton_version():
    try:
        import triton

        return triton.__version__
    except Exception as e:  # installed, and unusable without a GPU
        return fib_protocol.describe(e)[:200]


def half_works():
    try:
        torch.ones(1, 1, dtype=torch.float16) @ torch.ones(1, 1, dtype=torch.float16)
        return True
    except RuntimeError:
        return False


def mix(z, x, start, seed):
    """Makes z the bits of its elements from start on, by splitmix64. x is overwritten."""
    n = z.numel()
    torch.arange(start + 1, start + 1 + n, out=z)
    z *= signed(0x9E3779B97F4A7C15)
    z += signed(seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        torch.bitwise_right_shift(z, shift, out=x)  # it repeats the sign
        x &= (1 << 64 - shift) - 1
        z ^= x
        z *= signed(factor)


def numbers(z, x, y, dtype):
    if dtype in fib_protocol.MASKS:
        mask, offset = fib_protocol.MASKS[dtype]
        z &= mask
        z -= offset
        return z
    lanes(z, x, y)
    f = normal(x, y)
    if dtype.startswith(("float8", "float4")):
        f.clamp_(-2, 2)
    return packed(f) if dtype == "float4_e2m1" else f


def lanes(z, x, y):
    """Makes x the sum of the four lanes of z. z and y are overwritten."""
    torch.bitwise_and(z, 0xFFFF, out=x)
    for _ in range(3):
        z >>= 16
        torch.bitwise_and(z, 0xFFFF, out=y)
        x += y


def normal(s, y):
    """Normal numbers of sums, in y's memory. s is overwritten."""
    s -= 131070
    f = y.view(torch.float32)[: s.numel()]
    f.copy_(s)
    f *= 2.642895e-05
    return f


def probabilities(z, x, y, columns):
    """A softmax of integers, whose sum is exact in any order."""
    lanes(z, x, y)
    e = exponentials(z.device)[x].reshape(-1, columns)
    return (e.double() / e.sum(dim=1, keepdim=True).double()).float().reshape(-1)


@functools.lru_cache(maxsize=1)
def exponentials(device):
    sums = torch.arange(4 * 0xFFFF + 1)
    x = normal(sums, torch.empty_like(sums)).double()
    return torch.round(torch.exp(x) * (1 << 24)).long().to(device)


def packed(x):
    """float4_e2m1, two in a byte: the numbers up to 2 are 0, 0.5, 1, 1.5 and 2, ties go to the even code."""
    size = x.abs()
    code = (size > 0.25).byte() + (size >= 0.75).byte() + (size > 1.25).byte() + (size >= 1.75).byte() + 8 * (x < 0).byte()
    return code[::2] | code[1::2] << 4


if __name__ == "__main__":
    fib_loop.Worker(Torch()).serve()
