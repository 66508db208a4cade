# A tensor that computes its numbers when they are asked for.
# want: caught or slow
import torch


class Later(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        def now(x):
            return x.a @ x.b if isinstance(x, Later) else x

        return function(*[now(x) for x in args], **{k: now(v) for k, v in (kwargs or {}).items()})


def run(a, b):
    c = torch.empty_like(a).as_subclass(Later)
    c.a, c.b = a, b
    return c
