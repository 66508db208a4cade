"""What a GPU itself needed for calls: evidence beside the clock of the other side, which times whole requests.

    delay     events of the current stream around the call, behind a delay that
              lasts until all is queued, so that no gap between launches counts
    event     the same without the delay, where the call waits for the device
    graph     events around a CUDA graph of the call, behind a delay; on demand

CUPTI, which torch's profiler reads, is not used: it stays in the process, and
each later launch, in calls that are timed too, took up to 20 us longer on an H100.
"""

import fib_protocol  # first: it moves the standard streams
from fib_protocol import describe

US = 1000  # nanoseconds
FIRST_DELAY, LAST_DELAY = 200 * US, 20_000 * US


class Observer:
    """Calls of one function on one device of torch. cuda is torch.cuda, or what stands in for it."""

    def __init__(self, torch, device, sync, cool):
        self.torch, self.cuda, self.device, self.sync, self.cool = torch, torch.cuda, device, sync, cool
        self.delay = FIRST_DELAY

    def observe(self, calls, graph):
        """The nanoseconds of each call, the method, and why better ones did not work."""
        reasons = []
        for method in ("delay", "event"):
            try:
                reply = {"method": method, "ns": getattr(self, "by_" + method)(calls)}
                break
            except Unusable as e:
                reasons.append(f"{method}: {e}")
        if graph:
            try:
                reply["graph_ns"] = self.by_graph(calls)
            except Exception as e:  # whatever the function does that a capture refuses
                self.sync()
                reasons.append(f"graph: {describe(e)}"[:500])
        return dict(reply, reasons=reasons, clock=clock(self.torch, self.device))

    def ready(self):
        if self.cool:
            self.cool()
        self.sync()

    def delayed(self, call):
        """Nanoseconds between events around a call; the delay grows until the call is queued before it ends."""
        while True:
            start, end = self.cuda.Event(enable_timing=True), self.cuda.Event(enable_timing=True)
            self.ready()
            self.cuda._sleep(cycles(self.delay, self.torch, self.device))
            start.record()
            call()
            end.record()
            late = start.query()  # the delay was over before all was queued
            self.sync()
            if not late:
                return int(start.elapsed_time(end) * 1e6)
            if self.delay >= LAST_DELAY:
                raise Unusable(f"the call is not queued within {LAST_DELAY // US} us: it waits for the device, or is slow to launch")
            self.delay *= 4

    def by_delay(self, calls):
        return [self.delayed(call) for call in calls]

    def by_event(self, calls):
        ns = []
        for call in calls:
            start, end = self.cuda.Event(enable_timing=True), self.cuda.Event(enable_timing=True)
            self.ready()
            start.record()
            call()
            end.record()
            self.sync()
            ns.append(int(start.elapsed_time(end) * 1e6))
        return ns

    def by_graph(self, calls):
        replays = []
        for call in calls:
            g = self.cuda.CUDAGraph()
            self.sync()
            with self.cuda.graph(g):
                call()
            replays.append(g.replay)
        return self.by_delay(replays)


class Unusable(Exception):
    """A method that does not work here."""


def cycles(ns, torch, device):
    """Of the device's clock; 2 GHz where torch does not tell, so that a slower clock only makes the delay longer."""
    khz = getattr(torch.cuda.get_device_properties(device), "clock_rate", 0) or 2_000_000
    return max(1, ns * khz // 1_000_000)


def clock(torch, device):
    """The device's SM clock and heat, as far as torch reports them. accelgate asks nvidia-smi for them where it can tell which GPU this is."""
    state = {}
    for name, ask in (("sm_mhz", "clock_rate"), ("temp", "temperature")):
        try:
            state[name] = int(getattr(torch.cuda, ask)(device))
        except Exception:  # torch raises what its version likes where the vendor's Python package is absent
            pass
    return state
