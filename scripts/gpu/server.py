"""Stands in for a server of language models: the streaming API of OpenAI, each token after products of matrices.

    python3 server.py cuda:0 8000 [FOLDER]

A file in FOLDER, one for each server, gets the device's count of energy, in millijoules, at the end of each request, where the
driver reports one.
"""

import ctypes
import json
import pathlib
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch

device, port = torch.device(sys.argv[1]), int(sys.argv[2])
size = 512 if device.type == "cpu" else 4096
weights = torch.randn(size, size, device=device) / size**0.5
one_at_a_time = threading.Lock()
counts = []
STARTED = time.monotonic_ns()


def energy():
    """What NVML has counted since the driver was loaded; None where it counts nothing."""
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
    except OSError:  # no driver
        return None
    handle, millijoules = ctypes.c_void_p(), ctypes.c_ulonglong()
    failed = nvml.nvmlInit_v2() or nvml.nvmlDeviceGetHandleByIndex_v2(device.index or 0, ctypes.byref(handle))
    failed = failed or nvml.nvmlDeviceGetTotalEnergyConsumption(handle, ctypes.byref(millijoules))
    return None if failed else millijoules.value


def record_energy():
    with one_at_a_time:
        millijoules = energy() if device.type == "cuda" and len(sys.argv) > 3 else None
        if millijoules is not None:
            counts.append({"at": time.monotonic(), "mj": millijoules})
            pathlib.Path(sys.argv[3], f"{STARTED}.json").write_text(json.dumps(counts))


def step():
    with one_at_a_time:
        (torch.ones(1, size, device=device) @ weights).sum().item()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each token is a packet

    def log_message(self, *_):
        pass

    def answer(self, body, kind="application/json"):
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/v1/models":
            self.answer(json.dumps({"object": "list", "data": [{"id": "stand-in", "object": "model"}]}).encode())
        else:
            self.answer(b"{}")

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = len(json.dumps(request.get("messages") or request.get("prompt") or "").split())
        count = int(request.get("max_completion_tokens") or request.get("max_tokens") or 16)
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i in range(count):
            step()
            self.event({"choices": [self.choice(f" t{i}", None)]})
        self.event({"choices": [self.choice("", "length")]})
        usage = {"prompt_tokens": words, "completion_tokens": count, "total_tokens": count + words}
        self.event({"choices": [], "usage": usage})
        self.chunk(b"data: [DONE]\n\n")
        self.chunk(b"")
        record_energy()

    def choice(self, text, finish):
        if self.path.endswith("/chat/completions"):
            return {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        return {"index": 0, "text": text, "finish_reason": finish}

    def event(self, fields):
        about = {"id": "x", "object": "chunk", "created": 0, "model": "stand-in"}
        self.chunk(b"data: " + json.dumps(dict(about, **fields)).encode() + b"\n\n")

    def chunk(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


step()
ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()
