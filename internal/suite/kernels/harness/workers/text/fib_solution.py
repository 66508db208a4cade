"""A solution: found, loaded, and called in the order of its own parameters."""

import fib_protocol  # first: it moves the standard streams
from fib_protocol import Fault, describe, tail
import fib_setup

import importlib.util
import inspect
import os
import sys

PREFIX = "fib_solution_"


def module_name(build):
    return PREFIX + str(build)


def order_of(params, inputs, outputs):
    """Where each parameter's value stands in inputs + outputs: by name where the names are the same, else by position."""
    names = inputs + outputs
    head, tail = params[: len(inputs)], params[len(inputs) :]
    if sorted(params) == sorted(names):
        return [names.index(p) for p in params]
    if sorted(head) != sorted(inputs):
        return list(range(len(names)))
    return [inputs.index(p) for p in head] + list(range(len(inputs), len(inputs) + len(tail)))


class Solution:
    """A loaded entry point, and the order in which it takes its arguments.

    load, where it is given, compiles and loads what is not in Python: it takes
    the build and the symbol, and returns the function and whether a kept library
    has it.
    """

    def __init__(self, build, load=None):
        self.dir = os.path.abspath(build["dir"])
        self.dps = bool(build["dps"])
        self.inputs = [p["name"] for p in build["inputs"] or []]
        self.outputs = [p["name"] for p in build["outputs"] or []]
        self.dtypes = [p["dtype"] for p in build["outputs"] or []]
        file, _, self.symbol = build["entry"].partition("::")
        self.kept = False
        self.setup = None  # of fib_setup
        if load:
            self.function, self.kept = load(build, self.symbol)
        else:
            self.function = self._load(file, self.symbol, module_name(build["id"]), bool(build.get("setup")))
        self.params = self._params()
        self.order = self._order()
        self.forget()

    def forget(self):
        """Drops what setup has prepared: it is for one workload."""
        if self.setup:
            self.function = self.setup.missing

    def prepare(self, values):
        if not self.setup:
            raise Fault("runtime", f"{self.symbol} has no setup")
        self.forget()
        self.function = self.setup.prepare(values)

    def _order(self):
        """None where the order is the definition's, or the function does not tell."""
        outputs = self.outputs if self.dps else []
        order = order_of(self.params, self.inputs, outputs) if self.params else []
        return None if order == list(range(len(order))) else order

    def enter(self):
        """Makes the solution's own files importable, and those of others not."""
        if sys.path and sys.path[0] == self.dir:
            return
        if sys.path and getattr(Solution, "_entered", None) == sys.path[0]:
            forget_modules(sys.path.pop(0))
        sys.path.insert(0, self.dir)
        Solution._entered = self.dir

    def _load(self, file, symbol, name, setup):
        self.enter()
        path = os.path.join(self.dir, file)
        try:
            spec = importlib.util.spec_from_file_location(name, path)
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module  # dataclasses and pickle look the module up
            spec.loader.exec_module(module)
        except BaseException as e:
            raise Fault("compile", f"import {file}: {describe(e)}", tail(e)) from None
        function = getattr(module, symbol, None)
        if not callable(function):
            raise Fault("compile", f"{file} has no function {symbol}: name the one to call after '::' in entry_point")
        if setup:
            self.setup = fib_setup.find(module, self.dir, function, self.inputs)
        return function

    def _params(self):
        try:
            params = list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            return []  # a compiled function need not tell
        names = self.inputs + (self.outputs if self.dps else [])
        if self.setup:
            params = fib_setup.without_state(params, names)
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.KEYWORD_ONLY) for p in params):
            return []
        required = sum(p.default is p.empty for p in params)
        if names and not required <= len(names) <= len(params):
            style = "inputs and outputs" if self.dps else "inputs"
            raise Fault(
                "compile",
                f"{self.symbol} takes {len(params)} arguments, the definition has {len(names)} {style}: "
                "give it one parameter for each, in the definition's order",
            )
        return [p.name for p in params][: len(names) or None]

    def call(self, values):
        if self.order is not None:
            values = [values[i] for i in self.order]
        return self.function(*values)


def forget_modules(directory):
    """Two solutions may both have a file kernel.py."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and file.startswith(directory + os.sep) and not name.startswith(PREFIX):
            del sys.modules[name]
    importlib.invalidate_caches()
