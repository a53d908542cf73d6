"""What calls leave behind: bytes that Python's allocators and C's hold, and references, after many calls more than after few."""

import ctypes
import gc
import sys
import tracemalloc


class Info(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


_mallinfo2 = ctypes.CDLL(None).mallinfo2
_mallinfo2.restype = Info


def held_by_c():
    """Bytes that malloc has given out; 0 where a sanitizer has taken its place."""
    info = _mallinfo2()
    return info.uordblks + info.hblkhd


# Under a sanitizer, which counts itself and makes calls slow, few.
WARM, CALLS, WINDOWS = (100, 2000, 2) if held_by_c() else (10, 40, 1)
MOST = 16 * CALLS  # bytes; a block that each call leaves behind is 24 and more a call, and what tracing itself holds comes to some 16 kB


def _window(call, watched):
    before = tracemalloc.get_traced_memory()[0], held_by_c(), sum(map(sys.getrefcount, watched))
    for _ in range(CALLS):
        call()
    gc.collect()
    after = tracemalloc.get_traced_memory()[0], held_by_c(), sum(map(sys.getrefcount, watched))
    return tuple(b - a for a, b in zip(before, after))


def left_behind(call, *watched):
    """Bytes of Python, bytes of C, and references to the objects, that CALLS calls add: the least of some windows, for caches that fill once are no leak
    and a leak is in each. Nothing else may run meanwhile."""
    for _ in range(WARM):
        call()
    tracemalloc.start()
    try:
        call()
        gc.collect()
        windows = [_window(call, watched) for _ in range(WINDOWS)]
    finally:
        tracemalloc.stop()
    return tuple(min(column) for column in zip(*windows))
