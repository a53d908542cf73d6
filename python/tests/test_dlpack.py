"""Arrays of other libraries: __dlpack__ in both of its forms, and the C exchange API, played by ctypes over NumPy memory."""

import array
import ctypes
import gc
import os
import sys
import types

import numpy as np
import pytest

import kernelwright as kw
from kernelwright import _arrays, _kw, _toolchain

GEMM = "gemm fp32 rrr m4 n4 k4"
A = np.arange(16, dtype="f4").reshape(4, 4)


class Exports:
    """An array that knows __dlpack__ alone."""

    def __init__(self, value, versioned=True):
        self.value, self.versioned = value, versioned

    def __dlpack__(self, **options):
        if not self.versioned and "max_version" in options:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.value.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.value.__dlpack_device__()


@pytest.mark.parametrize("versioned", [True, False])
def test_dlpack_capsules(cpu, versioned):
    plan = cpu.plan(GEMM, mode="frozen")
    y = np.zeros((4, 4), "f4")
    before = sys.getrefcount(A)
    for _ in range(10):
        plan.run(Exports(A, versioned), Exports(A, versioned), Exports(y, versioned))
    np.testing.assert_array_equal(y, A @ A)
    assert sys.getrefcount(A) == before


def test_a_read_only_capsule_is_no_result(cpu):
    plan = cpu.plan(GEMM, mode="frozen")
    y = np.zeros((4, 4), "f4")
    y.flags.writeable = False
    with pytest.raises(kw.ArrayError, match="y: is read-only"):
        plan.run(A, A, Exports(y))


@pytest.mark.parametrize("wrong", [A.astype("f8"), A.astype("i4"), A[:2], A.T, A.astype("c8"), A.astype("?"), np.zeros((2,) * 9, "f4")])
def test_bad_capsules_get_one_line_and_are_given_back(cpu, wrong):
    plan = cpu.plan(GEMM, mode="frozen")
    before = sys.getrefcount(wrong)
    with pytest.raises(kw.ArrayError) as caught:
        plan.run(Exports(wrong), A, np.zeros((4, 4), "f4"))
    assert "\n" not in str(caught.value)
    del caught
    gc.collect()
    assert sys.getrefcount(wrong) == before


def test_what_an_export_raises_comes_through(cpu):
    class Freed:
        def __dlpack__(self, **options):
            raise BufferError("was freed")

    class Liar:
        def __dlpack__(self, **options):
            return 5

    plan = cpu.plan(GEMM, mode="frozen")
    with pytest.raises(BufferError, match="was freed"):
        plan.run(Freed(), A, np.zeros((4, 4), "f4"))
    with pytest.raises(ValueError):
        plan.run(Liar(), A, np.zeros((4, 4), "f4"))


def test_buffers_of_the_standard_library(cpu):
    plan = cpu.plan(GEMM, mode="frozen")
    y = array.array("f", [0] * 16)
    plan.run(memoryview(A), A, y)
    np.testing.assert_array_equal(np.array(y).reshape(4, 4), A @ A)
    with pytest.raises(kw.ArrayError, match="x: elements are 'B' of 1 bytes"):
        plan.run(bytes(64), A, y)
    with pytest.raises(ValueError, match="released"):
        view = memoryview(A)
        view.release()
        plan.run(view, A, y)


# --- the exchange API --------------------------------------------------------------------------------------------


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", Device),
        ("ndim", ctypes.c_int32),
        ("dtype", DType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


ALLOCATE = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p)
TO_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
BORROW = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(Tensor))
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Exchange(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("older", ctypes.c_void_p),
        ("allocate", ALLOCATE),
        ("from_object", ctypes.c_void_p),
        ("to_object", TO_OBJECT),
        ("borrow", BORROW),
        ("current_stream", STREAM),
    ]


class Exchanged:
    """An array whose library has the exchange API."""

    def __init__(self, value, device=1):
        self.value, self.device = value, device
        self.shape = (ctypes.c_int64 * value.ndim)(*value.shape)
        self.strides = (ctypes.c_int64 * value.ndim)(*(s // value.itemsize for s in value.strides))


made = {}


def _borrow(of, out):
    code = {"f": 2, "i": 0, "u": 1}[of.value.dtype.kind]
    out[0] = Tensor(of.value.ctypes.data, Device(of.device, 0), of.value.ndim, DType(code, 8 * of.value.itemsize, 1), of.shape, of.strides, 0)
    return 0


def _allocate(prototype, out, user, set_error):
    p = prototype[0]
    memory = np.zeros([p.shape[i] for i in range(p.ndim)], {(2, 32): "f4", (2, 16): "f2"}[p.dtype.code, p.dtype.bits])
    kept = Exchanged(memory)
    tensor = Tensor(memory.ctypes.data, p.device, p.ndim, p.dtype, kept.shape, kept.strides, 0)
    one = Versioned((ctypes.c_uint32 * 2)(1, 3), None, ctypes.CFUNCTYPE(None, ctypes.c_void_p)(), 0, tensor)
    made[ctypes.addressof(one)] = (one, kept)
    out[0] = ctypes.addressof(one)
    return 0


def _to_object(address, out):
    one, kept = made.pop(address)
    t = one.tensor
    view = np.lib.stride_tricks.as_strided(
        kept.value, [t.shape[i] for i in range(t.ndim)], [t.strides[i] * kept.value.itemsize for i in range(t.ndim)]
    )
    object_ = Exchanged(view)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(object_))
    out[0] = id(object_)
    return 0


TABLE = Exchange(
    (ctypes.c_uint32 * 2)(1, 3), None, ALLOCATE(_allocate), None, TO_OBJECT(_to_object), BORROW(_borrow), STREAM(lambda *_: 0)
)
NAME = b"dlpack_exchange_api"
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
Exchanged.__dlpack_c_exchange_api__ = new_capsule(ctypes.addressof(TABLE), NAME, None)


def test_exchange_api_reads_and_makes_results(cpu):
    plan = cpu.plan("conv_fwd fp32 nhwgc n2 c3 k4 i5x5 f3x3 p1", mode="frozen")
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (2, 5, 5, 3)).astype("f4").transpose(0, 3, 1, 2)
    w = rng.integers(-3, 4, (4, 3, 3, 3)).astype("f4").transpose(0, 3, 1, 2)
    want = plan(x, w)
    got = plan(Exchanged(x), Exchanged(w))
    assert isinstance(got, Exchanged) and got.value.shape == (2, 4, 5, 5) and got.value.strides == want.strides
    np.testing.assert_array_equal(got.value, want)
    y = np.zeros((2, 5, 5, 4), "f4").transpose(0, 3, 1, 2)
    plan.run(Exchanged(x), Exchanged(w), Exchanged(y))
    np.testing.assert_array_equal(y, want)
    assert not made


def test_another_device_is_refused(cpu):
    plan = cpu.plan(GEMM, mode="frozen")
    with pytest.raises(kw.ArrayError, match="x: lies on device cuda:0, and the plan is for cpu"):
        plan.run(Exchanged(A, device=2), A, np.zeros((4, 4), "f4"))
    with pytest.raises(kw.ArrayError, match="w: elements are int32"):
        plan.run(A, Exchanged(A.astype("i4")), np.zeros((4, 4), "f4"))


def test_a_plan_of_the_host_has_no_stream(cpu):
    plan = cpu.plan(GEMM, mode="frozen")
    for call in (lambda: plan(A, A, stream=1), lambda: plan.run(A, A, np.zeros((4, 4), "f4"), stream=object())):
        with pytest.raises(kw.ArrayError, match="stream: the plan runs on the host, which has none"):
            call()
    assert plan(A, A, stream=None).shape == (4, 4)


def test_streams_of_libraries_without_the_exchange_api(monkeypatch):
    waited = []
    immutable = type("ArrayImpl", (), {"__module__": "jaxlib._jax", "block_until_ready": lambda self: waited.append(self)})()
    assert _arrays.stream_of((A, immutable, None)) is None and waited == [immutable]
    stream = types.SimpleNamespace(ptr=77)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=types.SimpleNamespace(get_current_stream=lambda: stream)))
    assert _arrays.stream_of((type("ndarray", (), {"__module__": "cupy"})(), A)) == 77
    assert _arrays.stream_of((A, A)) == 0


def test_nvrtc_of_a_python_package_is_found(tmp_path, monkeypatch):
    for name in ("KW_WORKER", "KW_NVRTC"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    for version in (12, 13):
        place = tmp_path / "nvidia" / f"cu{version}" / "lib"
        place.mkdir(parents=True)
        (place / f"libnvrtc.so.{version}").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    _toolchain.announce("emu:sm_90")
    assert "KW_WORKER" not in os.environ
    _toolchain.announce("cuda:0")
    assert os.environ["KW_NVRTC"].endswith("libnvrtc.so.13") and os.access(os.environ["KW_WORKER"], os.X_OK)
    monkeypatch.setenv("KW_NVRTC", "mine")
    _toolchain.announce("cuda:0")
    assert os.environ["KW_NVRTC"] == "mine"


def test_facts_differ_where_arrays_do(cpu):
    base = np.zeros((4, 6), "f4")
    others = [
        base.T,
        base[:, ::2],
        base[:2],
        base.reshape(2, 2, 6),
        base.astype("f8"),
        base.astype("i4"),
        base.astype(">f4"),
        base.view("u4"),
        Exchanged(base),
        Exchanged(base, device=2),
        Exchanged(base.astype("i4")),
        Exchanged(base.T),
        None,
    ]
    seen = [_kw.facts(base), *map(_kw.facts, others)]
    assert len(set(seen)) == len(seen) and None not in seen
    assert _kw.facts(base) == _kw.facts(base.copy()) and _kw.facts(base, base.T) != _kw.facts(base.T, base)
    for untold in (Exports(base), [1.0], 5, np.zeros((1,) * 9, "f4")):
        assert _kw.facts(untold) is None
    with pytest.raises(TypeError, match="up to 4 arrays, and got 5"):
        _kw.facts(*[base] * 5)
