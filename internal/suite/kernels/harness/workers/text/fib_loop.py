"""The requests of fib-worker/1, on a backend: numpy or torch.

A backend makes, fills, checks and reads tensors and waits for the device; what
a request means is here. Tensors and scalars live in one table by name.
"""

import fib_protocol as protocol  # first: it moves the standard streams
from fib_protocol import Fault
import fib_isolation as isolation
from fib_solution import Solution

import gc
import hashlib
import json
import os
import sys


class Worker:
    def __init__(self, backend):
        self.backend = backend
        self.values = {}
        self.dtypes = {}  # of the names in values, as declared
        self.solutions = {}
        self.done = False

    def serve(self):
        """Answers requests until exit or the end of the input."""
        with os.fdopen(protocol._requests, "rb") as requests:
            for line in requests:
                self.answer(line)
                if self.done:
                    break
        sys.stdout.flush()
        os._exit(0)  # threads and exit handlers of a solution shall not keep the process

    def answer(self, line, now=protocol.now_ns):
        start, seq = now(), None
        try:
            request = json.loads(line)
            seq = request["seq"]
            reply = self.handle(request)
        except Fault as fault:
            reply = {"ok": False, "error": fault.reply()}
        except BaseException as e:
            fault = Fault(self.backend.kind_of(e), protocol.describe(e), protocol.tail(e))
            reply = {"ok": False, "error": fault.reply()}
        reply["seq"], reply["host_ns"] = seq, now() - start
        protocol.send(reply)

    def handle(self, request):
        handler = HANDLERS.get(request["op"])
        if handler is None:
            raise Fault("runtime", f"unknown operation {request['op']!r}")
        reply = handler(self, request) or {}
        self.backend.sync()
        reply["ok"] = True
        return reply

    # The operations.

    def hello(self, request):
        if request.get("proto") != protocol.PROTO:
            raise Fault("runtime", f"this worker uses {protocol.PROTO}, not {request.get('proto')!r}")
        if request.get("private"):
            isolation.conceal()
        reply = self.backend.hello(request.get("device", ""))
        return dict(reply, kind="python", proto=protocol.PROTO, pid=os.getpid())

    def build(self, request):
        key, load = request["id"], self.backend.loader(request)
        cached = key in self.solutions
        if not cached:
            self.solutions[key] = Solution(request, load)
        s = self.solutions[key]
        s.forget()
        return {"symbol": s.symbol, "params": s.params, "cached": cached or s.kept, "setup": s.setup and s.setup.takes}

    def setup(self, request):
        self.solution(request["id"]).prepare([self.backend.argument(self.value(name)) for name in request["args"]])

    def tensor(self, request):
        name, dtype, shape = request["name"], request["dtype"], request["shape"]
        if shape is None:
            self.values[name], self.dtypes[name] = scalar(dtype, request["scalar"]), dtype
            return {"bytes": 0}
        size = protocol.size_of(dtype, shape)
        value = self.make(self.reusable(name, dtype, shape), dtype, shape, request)
        self.values[name], self.dtypes[name] = value, dtype
        reply = {"bytes": size}
        if request.get("digest"):
            self.backend.sync()
            reply["digest"] = hashlib.sha256(self.backend.read(value, dtype)).hexdigest()
        return reply

    def reusable(self, name, dtype, shape):
        old = self.values.get(name)
        same = old is not None and self.dtypes[name] == dtype and self.backend.fits(old, dtype, shape)
        return old if same else None

    def make(self, old, dtype, shape, request):
        b = self.backend
        if request.get("file"):
            stored, dims, data = protocol.read_tensor(request["file"]["path"], request["file"]["key"])
            want = protocol.stored_as(dtype, shape)
            if (stored, dims) != want:
                raise Fault("runtime", f"the file has {stored} {dims}, not {want[0]} {want[1]}: correct the workload")
            return b.fill(b.empty(dtype, shape) if old is None else old, dtype, data)
        value = b.empty(dtype, shape) if old is None else old
        if request.get("random"):
            b.random(value, dtype, request["random"]["seed"], columns(request["random"], dtype, shape))
        elif "scalar" in request:
            b.set(value, dtype, scalar(dtype, request["scalar"]))
        elif request.get("alloc", {}).get("poison"):
            b.poisoner(value)()
        return value

    def run(self, request):
        s, names = self.solution(request["id"]), request["out"]
        args, repeat = self.arguments(s, request), max(1, request.get("repeat") or 1)
        save, saved = request.get("save"), {name: [] for name in names}
        for _ in range(repeat):
            if s is not NOTHING and s.dps:
                for name in names:
                    self.backend.poisoner(self.value(name))()
            self.keep(s, names, s.call(args))
            if save:
                self.backend.sync()
            for name in names if save else []:
                saved[name].append(bytes(self.read(name)) if repeat > 1 else self.read(name))
        return self.outputs(names, saved if save else None, request, repeat)

    def save(self, request):
        self.backend.sync()
        saved = {name: [self.read(name)] for name in request["names"]}
        return self.outputs(request["names"], saved, request, 1)

    def read(self, name):
        return self.backend.read(self.value(name), self.dtypes[name])

    def outputs(self, names, saved, request, repeat):
        described, tensors, path, digest = [], [], request.get("save"), hashlib.sha256()
        for name in names:
            dtype, shape = self.backend.describe(self.value(name), self.dtypes[name])
            shape = [repeat] + shape if repeat > 1 else shape
            described.append({"name": name, "dtype": dtype, "shape": shape})
            tensors.append((name, dtype, shape, saved[name] if saved else []))
        if not path:
            return {"outputs": described}
        protocol.write_tensors(path, tensors)
        if not request.get("digest"):
            return {"outputs": described}
        for name in names:
            for data in saved[name]:
                digest.update(data)
        return {"outputs": described, "digest": digest.hexdigest()}

    def solution(self, key):
        if key == "":
            return NOTHING
        if key not in self.solutions:
            raise Fault("runtime", f"nothing was built under the id {key!r}")
        self.solutions[key].enter()
        return self.solutions[key]

    def value(self, name):
        if name not in self.values:
            raise Fault("runtime", f"there is no tensor {name!r}")
        return self.values[name]

    def arguments(self, s, request):
        names = request["args"] + (request["out"] if s.dps else [])
        return [self.backend.argument(self.value(name)) for name in names]

    def keep(self, s, names, result):
        """Puts what a function returned under its names; the other style has put it there."""
        if s.dps:
            return
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        if len(results) != len(names):
            count = f"{len(results)} outputs were returned, the definition has {len(names)}"
            raise Fault("shape", count + ": return a tuple of all, in its order")
        for i, (name, value) in enumerate(zip(names, results)):
            declared = s.dtypes[i] if i < len(s.dtypes) else ""
            self.values[name], self.dtypes[name] = self.backend.output(name, value, declared)

    def time(self, request):
        s, b = self.solution(request["id"]), self.backend
        slots = [Slot(self, s, slot, request.get("poison")) for slot in request["slots"]]
        order, warmup = request["order"], request["warmup"]
        clock = b.clock(request.get("timer") or "")
        cool = b.cooler() if request.get("cold_cache") else None
        calls = [slots[order[i % len(order)]] for i in range(warmup + request["iters"])]
        was = gc.isenabled()
        gc.disable()
        try:
            ns = [measure(slot, clock, b.sync, cool) for slot in calls]
        finally:
            if was:
                gc.enable()
        for slot, described in zip(slots, request["slots"]):
            if slot.called:
                self.keep(s, described["out"], slot.result)
        return {"ns": ns[warmup:], "timer": clock.name}

    def observe(self, request):
        s, b = self.solution(request["id"]), self.backend
        slots = [Slot(self, s, slot, request.get("poison")) for slot in request["slots"]]
        calls = [slots[i % len(slots)].again for i in range(request["iters"])]
        observer = b.observer(b.cooler() if request.get("cold_cache") else None)
        return observer.observe(calls, bool(request.get("graph")))

    def check(self, request):
        return {"health": "ok" if self.backend.healthy() else "corrupted"}

    def release(self, request):
        for name in request["names"]:
            self.values.pop(name, None)
            self.dtypes.pop(name, None)
        self.backend.release()

    def exit(self, request):
        self.done = True


HANDLERS = {
    name: getattr(Worker, name) for name in "hello build setup tensor run save time observe check release exit".split()
}


class Nothing:
    """The function of the empty id, which every worker has: it does nothing, with outputs that exist."""

    dps, dtypes, symbol, params = True, [], "", []

    def prepare(self, values):
        return None

    def call(self, values):
        return None


NOTHING = Nothing()


class Slot:
    """One set of arguments, and how to call with it."""

    def __init__(self, worker, solution, request, poison):
        self.args = worker.arguments(solution, request)
        self.call = solution.call
        self.result, self.called, self.drop = None, False, poison and not solution.dps
        outputs = [worker.value(name) for name in request["out"]] if solution.dps else []
        self.poison = [worker.backend.poisoner(v) for v in outputs] if poison else []

    def again(self):
        self.result = self.call(self.args)


def measure(slot, clock, sync, cool):
    """Nanoseconds of one call, from the call until the device has done the work."""
    for fill in slot.poison:
        fill()
    if slot.drop:
        slot.result = None
    if cool is not None:
        cool()
    sync()
    slot.result, ns = clock.measure(slot.call, slot.args, sync)
    slot.called = True
    return ns


class Wall:
    """The host's monotonic clock, taken before foreign code was loaded."""

    name = "wall"

    @staticmethod
    def measure(call, args, sync, now=protocol.now_ns):
        start = now()
        result = call(args)
        sync()
        return result, now() - start


def scalar(dtype, value):
    """A number as Python has it."""
    if dtype == "bool":
        return bool(value)
    return int(value) if "int" in dtype else float(value)


def columns(random, dtype, shape):
    """How many random numbers make a distribution that sums to one; 0 if they are independent."""
    dist = random.get("dist") or ""
    if dist == "":
        return 0
    if dist != "probabilities" or dtype != "float32" or not shape or not 0 < shape[-1] <= 1 << 24:
        raise Fault("unsupported", f"no random {dist} can be a {dtype} {shape}")
    return shape[-1]
