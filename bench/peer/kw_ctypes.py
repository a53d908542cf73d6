"""kw_ctypes.py: what of the C API bench/peer/gpu_vs_peer.py calls, through ctypes. Structs are those of include/kernelwright/*.h."""
import ctypes as ct
import glob
import os
import sys

PREDICT, SHORTLIST, EXHAUSTIVE = 2, 3, 4  # kw_mode
X, W, Y = 0, 1, 2          # kw_tensor


class Error(ct.Structure):
    _fields_ = [("status", ct.c_int), ("text", ct.c_char * 508)]


class Problem(ct.Structure):
    """Members behind the first four are sizes and an epilogue, which the library fills (KW_PROBLEM_BYTES)."""
    _fields_ = [("op", ct.c_int), ("dtype", ct.c_int), ("layout", ct.c_int), ("ndim", ct.c_int32), ("rest", ct.c_int64 * 78)]


def sized(options, **members):
    """A struct that begins with its size."""
    return options(size=ct.sizeof(options), **members)


class ContextOptions(ct.Structure):
    _fields_ = [("size", ct.c_size_t), ("threads", ct.c_int32)] + [
        (n, ct.c_char_p) for n in ("cache_dir", "data_dir", "wisdom_file", "compiler", "model")] + [("spill_limit", ct.c_int32)] + [
        (n, ct.c_void_p) for n in ("stop", "log", "user", "parallel_for", "pool", "allocate", "release", "heap")]


class PlanOptions(ct.Structure):
    _fields_ = [("size", ct.c_size_t), ("mode", ct.c_int), ("workspace_max", ct.c_int64), ("shortlist", ct.c_int32), ("frozen_is_error", ct.c_bool),
                ("remeasure", ct.c_bool), ("fresh_weights", ct.c_bool), ("registry", ct.c_void_p), ("progress", ct.c_void_p),
                ("user", ct.c_void_p)]


class Tensors(ct.Structure):
    _fields_ = [("size", ct.c_size_t)] + [(n, ct.c_void_p) for n in ("x", "w", "y", "workspace")] + [("extra", ct.c_void_p * 6), ("ends", ct.c_void_p)]


class Failure(Exception):
    pass


def find_nvrtc():
    """NVRTC may have come with PyTorch, where the loader does not look."""
    if "KW_NVRTC" not in os.environ:
        for folder in sys.path:
            found = sorted(glob.glob(os.path.join(folder, "nvidia", "*", "lib", "libnvrtc.so.1[23]")))
            if found:
                os.environ["KW_NVRTC"] = found[-1]
                return


class Library:
    """A context on a device. Every call that fails raises Failure with the library's own words."""

    def __init__(self, path, device):
        find_nvrtc()
        self.c = ct.CDLL(path)
        for name in ("kw_registry_config", "kw_plan_config", "kw_context_target", "kw_context_device"):
            getattr(self.c, name).restype = ct.c_char_p
        for name in ("kw_plan_workspace", "kw_problem_flops"):
            getattr(self.c, name).restype = ct.c_int64
        self.c.kw_registry_count.restype = ct.c_size_t
        self.context = ct.c_void_p()
        options = sized(ContextOptions, wisdom_file=b"")  # kept in memory: nothing known of earlier runs
        self.call("kw_context_open", ct.byref(self.context), device.encode(), ct.byref(options))
        self.target = self.c.kw_context_target(self.context).decode()
        self.device = self.c.kw_context_device(self.context).decode()
        self.default = ct.c_void_p()
        self.call("kw_registry_create", ct.byref(self.default), self.context)
        self.call("kw_registry_add_default", self.default)
        count = self.c.kw_registry_count(self.default)
        self.configs = [self.c.kw_registry_config(self.default, ct.c_size_t(i)).decode() for i in range(count)]

    def call(self, name, *args):
        error = Error()
        if getattr(self.c, name)(*args, ct.byref(error)):
            raise Failure(f"{name}: {error.text.decode(errors='replace')}")

    def problem(self, text):
        problem = Problem()
        self.call("kw_problem_parse", ct.byref(problem), text.encode())
        return problem

    def canonical(self, problem):
        text = ct.create_string_buffer(512)
        self.c.kw_problem_print(text, ct.c_size_t(512), ct.byref(problem))
        return text.value.decode()

    def flops(self, problem):
        return self.c.kw_problem_flops(ct.byref(problem))

    def fitting(self, problem):
        """Texts of the default registry's kernels that serve the problem."""
        error, found = Error(), []
        for i, config in enumerate(self.configs):
            if not self.c.kw_registry_fits(self.default, ct.c_size_t(i), ct.byref(problem), ct.byref(error)):
                found.append(config)
        return found

    def build(self, words):
        """Compiles, on all cores, the kernels of these operations and types, such as "gemm bf16"."""
        registry = self.registry([c for c in self.configs if " ".join(c.split()[1:3]) in words])
        self.call("kw_registry_build", registry, None, None)
        self.c.kw_registry_destroy(ct.byref(registry))

    def registry(self, configs):
        registry = ct.c_void_p()
        self.call("kw_registry_create", ct.byref(registry), self.context)
        for config in configs:
            self.call("kw_registry_add", registry, config.encode())
        return registry

    def plan(self, problem, config=None):
        return Plan(self, problem, config)


class Plan:
    """By the default mode, which measures a shortlist; or of one kernel that is given, unmeasured. Weights change from run to run."""

    def __init__(self, library, problem, config):
        self.library, self.handle, self.own = library, ct.c_void_p(), None
        options = sized(PlanOptions, mode=SHORTLIST, fresh_weights=True)
        if config:
            self.own = library.registry([config])
            options = sized(PlanOptions, mode=PREDICT, fresh_weights=True, registry=self.own)
        try:
            library.call("kw_plan_create", ct.byref(self.handle), library.context, ct.byref(problem), ct.byref(options))
        except Failure:
            self.close()
            raise
        self.config = library.c.kw_plan_config(self.handle).decode()
        self.workspace = library.c.kw_plan_workspace(self.handle)

    def run(self, x, w, y, workspace, stream):
        self.library.call("kw_plan_run", self.handle, ct.byref(sized(Tensors, x=x, w=w, y=y, workspace=workspace)), ct.c_void_p(stream))

    def close(self):
        if self.handle:
            self.library.c.kw_plan_destroy(ct.byref(self.handle))
        if self.own:
            self.library.c.kw_registry_destroy(ct.byref(self.own))
            self.own = None
