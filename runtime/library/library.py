"""The model NAME. Written by burin.

The library is in the folder above this package, or in it. numpy is used where it is installed.
"""
from __future__ import annotations

import ctypes as c
import difflib
import json
import mmap
import os
import struct
import threading
from typing import Any, Iterable, Iterator, Mapping, Sequence

try:
    import numpy
except ImportError:
    numpy = None

# constants of the model


def _find_library() -> str:
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in (here, os.path.dirname(here)):
        path = os.path.join(folder, LIBRARY)
        if os.path.exists(path):
            return path
    raise ImportError("%s is not beside the package NAME: it must be in %s or in the folder above" % (LIBRARY, here))


_library = c.CDLL(_find_library())


class _State(c.Structure):
    _fields_ = [("session", c.c_void_p)]


_PROTOTYPES = {
    "error_text": (c.c_char_p, c.c_int),
    "state_bytes": (c.c_size_t, c.c_void_p),
    "init": (c.c_int, c.POINTER(_State), c.c_void_p, c.c_void_p, c.c_size_t),
    "close": (None, c.POINTER(_State)),
    "encode_memory": (c.c_size_t, c.c_size_t),
    "encode": (c.c_int64, c.c_char_p, c.c_size_t, c.c_void_p, c.c_size_t, c.c_void_p),
    "encode_part": (c.c_int64, c.c_char_p, c.c_size_t, c.c_void_p, c.c_size_t, c.c_void_p),
    "encode_marked": (c.c_int64, c.c_char_p, c.c_char_p, c.c_size_t, c.c_void_p, c.c_size_t, c.c_void_p),
    "token": (c.c_int32, c.c_char_p, c.c_size_t),
    "identity": (c.c_char_p,),
    "cpu": (c.c_char_p, c.POINTER(_State)),
    "verify": (c.c_int,),
}


class Error(Exception):
    """An error of the library: its number and its text."""

    def __init__(self, status: int):
        super().__init__(_call("error_text", status).decode())
        self.status = status


_OTHER_WORDS = {"n": "count", "max_tokens": "count", "max_new_tokens": "count", "n_predict": "count", "temp": "temperature",
                    "logit_bias": "bias", "repetition_penalty": "repeat_penalty", "n_threads": "threads"}


def _refuse_unknown(what: str, names: Iterable[str], known: Iterable[str]) -> None:
    known = sorted(known)
    for name in names:
        if name not in known:
            near = [_OTHER_WORDS[name]] if name in _OTHER_WORDS else difflib.get_close_matches(name, known, 1)
            hint = "did you mean %s?" % near[0] if near else "there are %s" % ", ".join(known)
            raise TypeError("%s has no setting %s: %s" % (what, name, hint))


def _call(name, *arguments):
    function = getattr(_library, "NAME_" + name)
    function.restype, *function.argtypes = _PROTOTYPES[name]
    return function(*arguments)


def _check(status):
    if status < 0:
        raise Error(status)
    return status


def _memory(size):
    block = mmap.mmap(-1, max(size, 1))
    return block, c.addressof(c.c_char.from_buffer(block))


def identity() -> str:
    """16 hex digits over architecture, weights and options."""
    return _call("identity").decode()


def verify() -> None:
    """Reads all weights; an Error when they are not as they were built."""
    _check(_call("verify"))


def encode(text: str | bytes, special: bool = True) -> list[int]:
    """The ids of a text; special: with what the tokenizer puts around it."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    ids = (c.c_int32 * (len(data) + 16))()
    block, memory = _memory(_call("encode_memory", len(data)))
    for _ in range(2):
        n = _call("encode" if special else "encode_part", data, len(data), ids, len(ids), memory)
        if n == -1:
            raise ValueError("the model has no tokenizer: give it token ids")
        if _check(n) <= len(ids):
            break
        ids = (c.c_int32 * n)()
    return list(ids[:n])


def token(text: str) -> int | None:
    """The id of exactly this token ("<|im_end|>"), or None."""
    data = text.encode()
    found = _call("token", data, len(data))
    return None if found < 0 else found


class _Model:
    """Its memory and its threads."""

    def _open(self, options):
        size = _call("state_bytes", c.byref(options))
        if not size:
            raise ValueError("an option is out of range")
        self._state = _State()
        self._block, memory = _memory(size)
        _check(_call("init", self._state, c.byref(options), memory, size))

    def close(self) -> None:
        """Ends its threads and frees its memory."""
        if getattr(self, "_state", None) is not None:
            _call("close", self._state)
            self._state = None

    def cpu(self) -> str:
        """Whose code runs here: "x86-64-v3"."""
        return _call("cpu", self._state).decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()
