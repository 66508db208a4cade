"""How a GPU is observed, on a stand-in for torch.cuda that records what it is asked for. No GPU is here."""

import os
import sys
import types

sys.path.insert(0, sys.argv[1])
import fib_device as device

asked = []


class Event:
    """Stands for an event of a stream: the stream's clock is stream.now, in nanoseconds."""

    def __init__(self, enable_timing):
        assert enable_timing

    def record(self):
        stream.put(0)
        self.at = stream.now
        asked.append("record")

    def query(self):
        asked.append("query")
        return self.at <= stream.host

    def elapsed_time(self, other):
        return (other.at - self.at) / 1e6


class Stream:
    """Work begins when it is put there and what was there before has ended."""

    def __init__(self):
        self.now = self.host = 0

    def put(self, ns):
        self.now = max(self.now, self.host) + ns


class Graph:
    def replay(self):
        asked.append("replay")
        stream.put(70_000)


class Capture:
    def __init__(self, graph):
        pass

    def __enter__(self):
        asked.append("capture")

    def __exit__(self, *_):
        pass


def sleep(cycles):
    asked.append(f"sleep {cycles}")
    stream.put(cycles * 1000 // 2000)  # at 2 GHz


def sync():
    stream.host = max(stream.host, stream.now)
    asked.append("sync")


stream = Stream()
cuda = types.SimpleNamespace(
    Event=Event, _sleep=sleep, CUDAGraph=Graph, graph=Capture, get_device_properties=lambda d: types.SimpleNamespace(clock_rate=2_000_000)
)
torch = types.SimpleNamespace(cuda=cuda)


def kernels(launch, *lengths):
    """A call that launches kernels, each of which takes the host some time."""

    def call():
        asked.append("call")
        for ns in lengths:
            stream.host += launch
            stream.put(ns)

    return call


def observe(calls, graph=False, cool=None):
    asked.clear()
    return device.Observer(torch, 0, sync, cool).observe(calls, graph)


# Events count, and the gaps between launches do not: two kernels of 10 us, each 30 us to launch.
reply = observe([kernels(30_000, 10_000, 10_000)] * 3, cool=lambda: asked.append("cool"))
assert reply["method"] == "delay" and reply["ns"] == [20_000] * 3, reply
assert asked[:7] == ["cool", "sync", "sleep 400000", "record", "call", "record", "query"], asked
assert not reply["reasons"] and reply["clock"] == {}, reply

# A launch that takes longer than the delay lengthens it, and it stays so for the next call.
reply = observe([kernels(500_000, 10_000)] * 2)
assert reply["method"] == "delay" and reply["ns"] == [10_000] * 2, reply
assert [a for a in asked if a.startswith("sleep")] == ["sleep 400000", "sleep 1600000", "sleep 1600000"], asked

# A call that waits for the device is never queued before it: then its gaps count, and the method says so.
def waits():
    sync()
    stream.put(5_000)
    sync()


reply = observe([waits])
assert reply["method"] == "event" and reply["ns"] == [5_000] and "waits for the device" in reply["reasons"][0], reply

# A graph is captured once for each call and replayed; what cannot be captured is a reason and no failure.
reply = observe([kernels(1_000, 10_000)] * 2, graph=True)
assert reply["graph_ns"] == [70_000] * 2 and asked.count("capture") == 2 and asked.count("replay") == 2, (reply, asked)


class Refuses(Capture):
    def __enter__(self):
        raise RuntimeError("operation not permitted when stream is capturing")


cuda.graph = Refuses
reply = observe([kernels(1_000, 10_000)], graph=True)
assert "graph_ns" not in reply and "graph: RuntimeError" in reply["reasons"][-1] and reply["ns"] == [10_000], reply

# The device's state, as far as it is told.
cuda.clock_rate, cuda.temperature = lambda d: 1755, lambda d: 61
assert device.clock(torch, 1) == {"sm_mhz": 1755, "temp": 61}
del cuda.clock_rate
assert device.clock(torch, 1) == {"temp": 61}
assert "torch.profiler" not in sys.modules, "CUPTI stays in the process, and slows the calls that are timed"
sys.stderr.flush()
os._exit(0)
