"""A HIP source is compiled by the real hipcc, for an AMD GPU that is not here: built, kept, loaded, and not called."""

import os
import sys

workers, work = sys.argv[1:]
sys.path.insert(0, workers)
import fib_native as native
from fib_protocol import Fault

device = {"kind": "hip", "arch": "gfx90a:sramecc+:xnack-"}
build = {"language": "hip", "binding": "tvm-ffi", "dir": os.path.join(work, "source"), "cache": os.path.join(work, "kept")}
function, kept = native.load(build, device, "run")
assert callable(function) and not kept
assert native.load(build, device, "run")[1]
(library,) = [os.path.join(r, n) for r, _, names in os.walk(build["cache"]) for n in names if n.endswith(".so")]
with open(library, "rb") as f:
    assert b"amdgcn-amd-amdhsa--gfx90a" in f.read(), "the library has no code for the device"
try:
    native.load(dict(build, language="cuda"), device, "run")
    raise AssertionError("cuda is built for AMD by tvm-ffi")
except Fault as e:
    assert e.kind == "unsupported" and "binding torch" in e.message
sys.stderr.flush()
os._exit(0)
