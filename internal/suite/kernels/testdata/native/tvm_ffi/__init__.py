"""Stands in for the package apache-tvm-ffi: its names, its checks and its binary interface, without its headers.

A function is exported as __tvm_ffi_NAME and takes TVMFFIAny structures of 16
bytes, of which a tensor's has the type index 7 and a pointer to a DLTensor.
"""

import ctypes

__version__ = "0.1.0"
DLTENSOR = 7  # kTVMFFIDLTensorPtr


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Any(ctypes.Structure):
    _fields_ = [("type_index", ctypes.c_int32), ("small_len", ctypes.c_uint32), ("value", ctypes.c_uint64)]


class Module:
    def __init__(self, path):
        self._library = ctypes.CDLL(path)

    def __getattr__(self, name):
        try:
            function = getattr(self._library, "__tvm_ffi_" + name)
        except AttributeError:
            raise AttributeError(f"Module has no function '{name}'") from None
        return lambda *args: call(function, args)


def call(function, tensors):
    held, packed = [], (Any * len(tensors))()
    for slot, t in zip(packed, tensors):
        shape = (ctypes.c_int64 * t.dim())(*t.shape)
        d = DLTensor(t.data_ptr(), (ctypes.c_int32 * 2)(1, 0), t.dim(), 2, 32, 1, shape, None, 0)
        held += [shape, d]
        slot.type_index, slot.value = DLTENSOR, ctypes.addressof(d)
    result = Any()
    if function(None, packed, len(tensors), ctypes.byref(result)) != 0:
        raise RuntimeError("the function failed")


def load_module(path, keep_module_alive=True):
    if not isinstance(path, str):
        raise TypeError("a path is a str")
    return Module(path)
