"""What a solution in Python prepares once for each workload: a function setup beside its entry point.

setup gets inputs of the definition, by their names or by position, and returns
a dictionary. The entry point gets its values as keyword arguments.
"""

import fib_protocol  # first: it moves the standard streams
from fib_protocol import Fault

import functools
import inspect
import os
import sys

NAME = "setup"
ADVICE = "return a dictionary of names and values, which the entry point gets as keyword arguments"


def find(module, directory, function, inputs):
    """The setup of a solution's own files, or None. One that was imported from elsewhere is another function."""
    hook = getattr(module, NAME, None)
    if not callable(hook) or hook is function:
        return None
    file = getattr(sys.modules.get(getattr(hook, "__module__", None)), "__file__", None)
    if not isinstance(file, str) or not os.path.abspath(file).startswith(directory + os.sep):
        return None
    return Setup(hook, function, inputs)


class Setup:
    """A function setup, and the inputs that it takes."""

    def __init__(self, hook, function, inputs):
        self.hook, self.function = hook, function
        self.takes, self.by_name = taken(hook, inputs)

    def prepare(self, values):
        """The entry point with what setup returns for the inputs that it takes."""
        state = self.hook(**dict(zip(self.takes, values))) if self.by_name else self.hook(*values)
        if state is None:
            return self.function
        if type(state) is not dict:
            raise Fault("runtime", f"setup returned a {type(state).__name__[:200]}: {ADVICE}")
        if not all(type(name) is str for name in state):
            raise Fault("runtime", f"setup returned a dictionary whose keys are not all texts: {ADVICE}")
        return functools.partial(self.function, **state)

    @staticmethod
    def missing(*_):
        raise Fault("runtime", "setup was not called for this workload: ask for it before the first call")


def taken(hook, inputs):
    """The inputs that a setup takes, and whether by their names."""
    try:
        params = list(inspect.signature(hook).parameters.values())
    except (TypeError, ValueError):
        return list(inputs), False
    named = [p for p in params if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    placed = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needed = [p.name for p in params if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    every = any(p.kind is p.VAR_KEYWORD for p in params)
    by_name = [p.name for p in named if p.name in inputs]
    if set(needed) <= set(by_name) and not any(p.kind is p.VAR_POSITIONAL for p in params):
        return list(inputs) if every else by_name, True
    enough = len(inputs) <= len(placed) or any(p.kind is p.VAR_POSITIONAL for p in params)
    if enough and set(needed) <= {p.name for p in placed[: len(inputs)]}:
        return list(inputs), False
    raise Fault(
        "compile",
        f"{NAME} needs {', '.join(needed)[:500]}, and the definition has the inputs {', '.join(inputs)[:500]}: "
        "name its parameters as inputs, or rename the function if it is for something else",
    )


def without_state(params, names):
    """The parameters of an entry point that stand for the definition's inputs and outputs, the first ones: setup gives the others."""
    if any(p.kind is p.VAR_POSITIONAL for p in params):
        return params
    own = [p for p in params if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)][: len(names)]
    late = [p.name for p in params if p not in own and p.name in names]
    if late:
        raise Fault("compile", f"the entry point has {late[0]} after parameters that the definition does not have: put what setup returns last")
    return own
