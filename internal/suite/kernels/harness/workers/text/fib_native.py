"""Solutions in C++, CUDA and HIP: compiled into a library, which is kept by all that decides it, and loaded.

A kept library has a folder of its own, named by the digest of sources, flags,
compilers, torch and the device's architecture. It is made in a folder beside
that and renamed, under a lock, so that one that is there is whole. What was
used longest ago is removed when all take more than LIMIT.
"""

import fib_protocol  # first: it moves the standard streams
from fib_protocol import Fault, describe, tail
from fib_toolchain import Toolchain

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys

try:
    import fcntl
except ImportError:  # Windows, where nothing is built
    fcntl = None

LIMIT = 4 << 30  # bytes of a folder of kept libraries
LOG = 64 << 10  # bytes of the compiler's words that are kept
MAX_FILES, MAX_BYTES = 4096, 64 << 20
HOST = (".cpp", ".cc", ".cxx", ".c")
UNITS = {"cpp": HOST, "cuda": HOST + (".cu",), "hip": HOST + (".cu", ".hip")}
# Names of files that ninja and shells take as they are.
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*")
EXPORT = {"torch": "PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)", "tvm-ffi": "TVM_FFI_DLL_EXPORT_TYPED_FUNC"}


def load(build, device, symbol):
    """The function of a solution, and whether its library was there already."""
    tools = Toolchain(build["language"], build["binding"], device, build.get("dependencies") or [])
    files = sources(os.path.abspath(build["dir"]))
    units = [f for f, _ in files if f.endswith(UNITS[build["language"]])]
    for unit in units:
        if not PLAIN.fullmatch(unit):
            raise Fault("compile", f"a source is named {unit[:200]!r}: use letters, digits and ._+- for those that are compiled")
    if not units:
        raise Fault("compile", f"there is no source of {build['language']}: name files {', '.join(UNITS[build['language']])}")
    key = digest(files, list(tools.identity()) + [json.dumps(device, sort_keys=True)])
    folder = build.get("cache") or os.path.join(os.path.abspath(build["dir"]), ".built")
    entry = Entry(folder, key)
    with Lock(entry.path):
        kept = entry.whole()
        if not kept:
            entry.make(files, units, tools)
        os.utime(entry.path)
    evict(folder, key)
    return function(entry, build["binding"], symbol), kept


def sources(folder):
    """The files of a solution with their contents, sorted by path."""
    files, total = [], 0
    for root, _, names in os.walk(folder):
        if ".built" in os.path.relpath(root, folder).split(os.sep):
            continue
        for name in names:
            path = os.path.join(root, name)
            if os.path.islink(path) or not os.path.isfile(path):
                raise Fault("compile", f"{name[:200]!r} is no regular file: remove it from the solution's folder")
            total += os.path.getsize(path)
            if len(files) == MAX_FILES or total > MAX_BYTES:
                raise Fault("compile", f"the sources are more than {MAX_FILES} files or {MAX_BYTES >> 20} MiB: leave out what is not compiled")
            with open(path, "rb") as f:
                files.append((os.path.relpath(path, folder).replace(os.sep, "/"), f.read()))
    return sorted(files)


def digest(files, texts):
    h = hashlib.sha256()
    for part in [p.encode() for p in texts] + [b for name, data in files for b in (name.encode("utf-8", "surrogateescape"), data)]:
        h.update(len(part).to_bytes(8, "little"))
        h.update(part)
    return h.hexdigest()


class Lock:
    """An exclusive lock on a library's folder, in a file beside it that goes with the folder, while others may wait for it."""

    def __init__(self, folder, wait=True):
        self.folder, self.path, self.wait, self.file = folder, folder + ".lock", wait, None

    def __enter__(self):
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if self.wait else fcntl.LOCK_NB))
                if os.stat(self.path).st_ino == os.fstat(file).st_ino:
                    self.file = file
                    return self
            except FileNotFoundError:
                pass
            except BaseException:
                os.close(file)
                raise
            os.close(file)

    def __exit__(self, *_):
        try:
            if not os.path.isdir(self.folder):
                os.unlink(self.path)
        except FileNotFoundError:  # the whole folder was removed
            pass
        os.close(self.file)


class Entry:
    """One library of a folder of kept ones."""

    def __init__(self, folder, key):
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.path = os.path.join(folder, key)
        self.name = "fib_native_" + key[:24]
        self.library = os.path.join(self.path, self.name + ".so")
        self.manifest = os.path.join(self.path, "sha256")

    def whole(self):
        """Whether the library is there as it was made."""
        try:
            with open(self.manifest) as f:
                return not os.path.islink(self.library) and f.read(65) == file_digest(self.library)
        except OSError:
            return False

    def make(self, files, units, tools):
        making = self.path + ".new"
        for left in (making, self.path):  # by a build that was ended, or damaged
            shutil.rmtree(left, ignore_errors=True)
        source, out = os.path.join(making, "source"), os.path.join(making, "out")
        try:
            write(source, files)
            os.makedirs(out, mode=0o700)
            words = compile_units(self.job(tools, source, out, units), tools.env)
            self.keep(making, out, words)
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def job(self, tools, source, out, units):
        return {
            "binding": tools.binding,
            "language": tools.language,
            "name": self.name,
            "folder": source,
            "units": [os.path.join(source, u) for u in units],
            "out": out,
            "ldflags": tools.ldflags,
            "includes": tools.includes,
        }

    def keep(self, making, out, words):
        built, kept = os.path.join(out, self.name + ".so"), os.path.join(making, "kept")
        if not os.path.isfile(built):
            raise Fault("compile", "the build ended without a library: look at its log", words)
        os.mkdir(kept, 0o700)
        os.rename(built, os.path.join(kept, self.name + ".so"))
        with open(os.path.join(kept, "build.log"), "w", errors="replace") as f:
            f.write(words)
        with open(os.path.join(kept, "sha256"), "w") as f:
            f.write(file_digest(os.path.join(kept, self.name + ".so")))
        os.rename(kept, self.path)


def write(folder, files):
    for name, data in files:
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "xb") as f:
            f.write(data)


def file_digest(path):
    h = hashlib.sha256()
    with open(path, "rb") as f:
        while chunk := f.read(1 << 20):
            h.update(chunk)
    return h.hexdigest()


def compile_units(job, env):
    """Runs the compiler, whose words go to the log at once: the build may be ended at any time."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fib_compile.py")
    child = subprocess.Popen(
        [sys.executable, program], env=env, cwd=job["out"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    child.stdin.write(json.dumps(job).encode())
    child.stdin.close()
    words = b""
    while chunk := os.read(child.stdout.fileno(), 1 << 16):
        os.write(2, chunk)
        words = (words + chunk)[-LOG:]
    text = words.decode(errors="replace")
    if child.wait() != 0:
        raise Fault("compile", f"the build failed: {first_error(text)}: correct the sources, the log has all words of the compiler", text)
    return text


def first_error(words):
    for line in words.splitlines():
        if re.search(r"\berror\b", line, re.IGNORECASE) and not line.lstrip().startswith(("raise ", "File ")):
            return line.strip()[:300]
    lines = [line for line in words.splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "the compiler said nothing"


def function(entry, binding, symbol):
    try:
        found = getattr(imported(entry) if binding == "torch" else module_of_tvm(entry), symbol, None)
    except BaseException as e:
        raise Fault("compile", f"load the library: {describe(e)}: correct what it exports", tail(e)) from None
    if not callable(found):
        raise Fault("compile", f"the library exports no function {symbol}: export it with {EXPORT[binding]}")
    return found if binding == "torch" else lambda *args: plain(found(*args))


def imported(entry):
    spec = importlib.util.spec_from_file_location(entry.name, entry.library)
    module = importlib.util.module_from_spec(spec)
    sys.modules[entry.name] = module
    spec.loader.exec_module(module)
    return module


def module_of_tvm(entry):
    import tvm_ffi

    return tvm_ffi.load_module(entry.library)


def plain(result):
    """What a function of tvm-ffi returned, as tensors of torch."""
    import torch

    if isinstance(result, (tuple, list)):
        return tuple(plain(r) for r in result)
    foreign = hasattr(result, "__dlpack__") and not isinstance(result, torch.Tensor)
    return torch.from_dlpack(result) if foreign else result


def evict(folder, used):
    """Removes the libraries that were used longest ago until the others take at most LIMIT bytes."""
    kept = sorted((time_of(e), e) for e in os.scandir(folder) if re.fullmatch("[0-9a-f]{64}", e.name))
    total = sum(size_of(e.path) for _, e in kept)
    for _, e in kept:
        if total <= LIMIT:
            return
        if e.name == used:
            continue
        total -= size_of(e.path)
        try:
            with Lock(e.path, wait=False):
                shutil.rmtree(e.path, ignore_errors=True)
        except OSError:  # it is in use, or gone
            pass


def time_of(e):
    try:
        return e.stat(follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def size_of(folder):
    total = 0
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(root, name)).st_size
            except OSError:
                pass
    return total
