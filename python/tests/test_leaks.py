"""Calls leave nothing behind, whether they give a result or refuse: no reference, no byte of Python's or C's memory. tools/long/python_memory.sh runs these
under PYTHONMALLOC=debug and AddressSanitizer, too."""

import array
import ctypes

import numpy as np
import pytest

import kernelwright as kw
from kernelwright import _kw
from leaks import CALLS, MOST, held_by_c, left_behind
from test_dlpack import Exchanged, Exports

LINE = "conv_fwd fp32 nhwgc n1 c8 k8 i6x6 f3x3 p1x1 epilogue=bias:fp32+relu"
SANITIZED = not held_by_c()  # whose allocators count otherwise
X, W, B = (np.ones(shape, "f4") for shape in ((1, 6, 6, 8), (8, 3, 3, 8), (8,)))
Y = np.zeros((1, 6, 6, 8), "f4")
READ_ONLY = Y.copy()
READ_ONLY.flags.writeable = False
RELEASED = memoryview(Y)
RELEASED.release()
OBJECTS = X.astype(object)
SPACE = np.zeros(1 << 16, "f8")
SPACE = SPACE[-SPACE.ctypes.data % 64 // 8 :]  # workspace begins at a multiple of 64 bytes


class Raises:
    """Something whose memory was freed, and says so."""

    def __dlpack__(self, **options):
        raise BufferError("was freed")


class Liar:
    """What it gives is no capsule."""

    def __dlpack__(self, **options):
        return 5


# What is called, and the exception that it is to raise.
CALLED = {
    "run": (lambda p: p.run(X, W, Y, B), None),
    "run_at": (lambda p: p.run_at(*(a.ctypes.data for a in (X, W, Y, B, SPACE))), None),
    "a new result": (lambda p: p(X, W, B), None),
    "out": (lambda p: p(X, W, bias=B, out=Y), None),
    "capsules": (lambda p: p.run(Exports(X), Exports(W, False), Exports(Y), Exports(B)), None),
    "the exchange API": (lambda p: p(Exchanged(X), Exchanged(W), Exchanged(B)), None),
    "the standard library": (lambda p: p.run(X, W, array.array("f", bytes(4 * Y.size)), memoryview(B)), None),
    "a function": (lambda p: kw.conv2d(X, W, B, padding=1, axes="NHWC", mode="frozen"), None),
    "a product": (lambda p: kw.matmul(W[0, 0], W[0, 0].T, mode="frozen"), None),
    "packing": (lambda p: (p.pack(W), p.pack(None)), None),
    "time": (lambda p: p.time(X, W, Y, B, calls=1), None),
    "packing a type": (lambda p: p.pack(W.astype("f8")), kw.ArrayError),
    "facts": (lambda p: (_kw.facts(X, None, Exchanged(B)), _kw.facts(Raises()), p.operands()), None),
    "a type": (lambda p: p(X.astype("f8"), W, B), kw.ArrayError),
    "a type behind the exchange API": (lambda p: p(Exchanged(X.astype("i4")), W, B), kw.ArrayError),
    "strides": (lambda p: p(X[:, ::-1], W, B), kw.ArrayError),
    "strides behind a capsule": (lambda p: p(Exports(X[:, ::-1]), W, B), kw.ArrayError),
    "a device": (lambda p: p(Exchanged(X, device=2), W, B), kw.ArrayError),
    "objects": (lambda p: p(OBJECTS, W, B), kw.ArrayError),
    "a list": (lambda p: p([1.0], W, B), kw.ArrayError),
    "read-only": (lambda p: p.run(X, W, READ_ONLY, B), kw.ArrayError),
    "a read-only capsule": (lambda p: p.run(X, W, Exports(READ_ONLY), B), kw.ArrayError),
    "shared memory": (lambda p: p.run(X, W, X, B), kw.ArrayError),
    "released": (lambda p: p.run(X, W, RELEASED, B), ValueError),
    "freed": (lambda p: p(Raises(), W, B), BufferError),
    "no capsule": (lambda p: p(Liar(), W, B), ValueError),
    "a stream": (lambda p: p(X, W, B, stream=1), kw.ArrayError),
    "a missing array": (lambda p: p(X, W), TypeError),
    "an unknown name": (lambda p: p(X, W, scale=B), TypeError),
    "too few": (lambda p: p.run(X), TypeError),
    "no weights": (lambda p: p(X, None, B), kw.IllegalError),
    "a problem": (lambda p: kw.Problem("gemm fp32 m4"), kw.MalformedError),
    "a plan that is made and dropped": (lambda p: kw.Problem("gemm fp32 rrr m2 n2 k2").flops, None),
}


@pytest.fixture(scope="module")
def plan(cpu):
    made = cpu.plan(LINE, mode="frozen")
    yield made
    kw.clear_plans()


@pytest.mark.parametrize("name", CALLED)
def test_nothing_is_left_behind(plan, name):
    call, wrong = CALLED[name]

    def once():
        try:
            call(plan)
        except Exception as error:
            assert wrong and isinstance(error, wrong) and "\n" not in str(error)
        else:
            assert wrong is None

    python, c, references = left_behind(once, X, W, B, Y, READ_ONLY, OBJECTS, plan, None, kw.ArrayError, Exports, Exchanged)
    assert references < CALLS / 2, f"{references} references in {CALLS} calls"
    assert SANITIZED or (python < MOST and c < MOST), f"{python} bytes of Python and {c} of C in {CALLS} calls"
    kw.clear_plans()


def test_plans_that_are_dropped_leave_nothing(cpu):
    before = _kw.count()
    python, c, _ = left_behind(lambda: cpu.plan("gemm fp32 rrr m4 n4 k4", mode="frozen")(np.eye(4, dtype="f4"), np.eye(4, dtype="f4")))
    assert _kw.count() == before and (SANITIZED or (python < MOST and c < 8 * MOST)), (python, c)


def test_what_is_left_behind_is_found():
    kept, libc = [], ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    watched = object()
    assert left_behind(lambda: kept.append(bytearray(32)))[0] > MOST
    assert SANITIZED or left_behind(lambda: libc.malloc(64))[1] > MOST
    assert left_behind(lambda: ctypes.pythonapi.Py_IncRef(ctypes.py_object(watched)), watched)[2] == CALLS
