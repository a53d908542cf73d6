"""What needs a GPU: plans and operators on tensors of PyTorch, CuPy and JAX, in streams and CUDA graphs, and compiled. One table; a row is one check.

python check.py [--device N] [NAME ...]

Each check stands alone, so that one that fails hides no other. Values are whole numbers of which every sum is exact in each type, so equal is equal.
"""

import argparse
import os
import sys
import time
import traceback

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

import numpy as np
import torch
import torch.nn.functional as F

import kernelwright as kw
from kernelwright import _kw

CHECKS = {}
D = torch.device("cuda", 0)
MODE = {"mode": "predict"}


def check(function):
    CHECKS[function.__name__] = function
    return function


def whole(*shape, dtype=torch.bfloat16, like=torch.contiguous_format):
    """Small whole numbers on the device."""
    return torch.randint(-3, 4, shape, device=D).to(dtype).contiguous(memory_format=like)


def equal(a, b):
    if not torch.equal(a, b.to(a.dtype)):
        off = (a.double() - b.double()).abs().max().item()
        raise AssertionError(f"differs by up to {off:g} of {b.double().abs().max().item():g}")


def refused(call, says, kind=kw.Error):
    try:
        call()
    except kind as error:
        assert says in str(error) and "\n" not in str(error), f"says {error}"
    else:
        raise AssertionError(f"is not refused, which should say: {says}")


def exact_conv(x, w, **where):
    return F.conv2d(x.double(), w.double(), **where)


@check
def torch_products():
    said = []
    for dtype, turned in ((torch.bfloat16, True), (torch.float16, False), (torch.float32, True)):
        x, w = whole(96, 64, dtype=dtype), whole(80, 64, dtype=dtype)
        w = w.t() if turned else w.t().contiguous()
        y = kw.matmul(x, w, **MODE)
        assert y.is_cuda and y.dtype == dtype
        equal(y, x.double() @ w.double())
        said.append(str(dtype).removeprefix("torch."))
    b = whole(80)
    equal(kw.matmul(x.bfloat16(), w.bfloat16(), bias=b, epilogue="relu", **MODE), (x.double() @ w.double() + b.double()).relu())
    return ", ".join(said) + ", bias+relu"


@check
def torch_convolutions():
    x, w = whole(2, 16, 14, 14, like=torch.channels_last), whole(24, 16, 3, 3, like=torch.channels_last)
    y = kw.conv2d(x, w, padding=1, **MODE)
    equal(y, exact_conv(x, w, padding=1))
    assert y.is_contiguous(memory_format=torch.channels_last)
    equal(kw.conv2d(x.contiguous(), w.contiguous(), padding=1, **MODE), exact_conv(x, w, padding=1))
    gy = whole(2, 24, 14, 14, like=torch.channels_last)
    gx, gw, _ = torch.ops.aten.convolution_backward(
        gy.double(), x.double(), w.double(), None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1, [True, True, False]
    )
    equal(kw.conv_backward_data(w, gy, x.shape, padding=1, **MODE), gx)
    equal(kw.conv_backward_weight(x, gy, w.shape, padding=1, **MODE), gw)
    return "forward, channels last and first, both gradients"


@check
def groups_and_parts():
    """Grouped products, also in a graph that reads other ends at each replay; views that begin anywhere; slices of channels."""
    ends = torch.tensor([10, 10, 70], dtype=torch.int32, device=D)
    x, w = whole(96, 64), whole(3, 64, 80)

    def want():
        y, begin = torch.zeros(96, 80, device=D, dtype=torch.float64), 0
        for g, end in enumerate(ends.tolist()):
            y[begin:end] = x[begin:end].double() @ w[g].double()
            begin = end
        return y, begin

    def same(y):
        exact, rows = want()
        equal(y[:rows], exact[:rows])

    same(kw.grouped_matmul(x, w, ends, **MODE))
    same(kw.grouped_matmul(x, w.transpose(1, 2).contiguous().transpose(1, 2), ends, **MODE))
    out = torch.zeros(96, 80, dtype=x.dtype, device=D)
    kw.grouped_matmul(x, w, ends, out=out, **MODE)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kw.grouped_matmul(x, w, ends, out=out, **MODE)
    for values in ([0, 50, 96], [96, 96, 96], [1, 2, 3]):
        ends.copy_(torch.tensor(values))
        graph.replay()
        same(out)
    room = whole(96 * 64 + 3)
    odd = room[3:].view(96, 64)
    kw.matmul(room[: 96 * 64].view(96, 64), w[0], **MODE)
    equal(kw.matmul(odd, w[0], **MODE), odd.double() @ w[0].double())
    refused(lambda: kw.matmul(odd, w[0], copy="never", **MODE), "no multiple of 16 bytes", kw.ArrayError)
    image, filters = whole(2, 48, 9, 9, like=torch.channels_last)[:, 16:32], whole(8, 16, 3, 3, like=torch.channels_last)
    equal(kw.conv2d(image, filters, padding=1, **MODE), exact_conv(image, filters, padding=1))
    return "4 sets of ends, odd addresses, slices"


def plans():
    """A product, a convolution and its gradient of w, with their tensors."""
    out = []
    for line, shapes in (
        ("gemm bf16 rcr m64 n96 k128 epilogue=bias:bf16+gelu", None),
        ("conv_fwd bf16 ngchw n2 c32 k32 i14x14 f3x3 p1x1", None),
        ("conv_bwd_weight bf16 nhwgc n4 c32 k32 i14x14 f3x3 p1x1", None),
    ):
        plan = kw.plan(line, device="cuda:0", **MODE)
        tensors, result = [], None
        for name, dtype, written, views in plan.operands():
            extent, stride = views[0]
            t = torch.empty_strided(extent, stride, dtype=torch.bfloat16, device=D)
            t.copy_(torch.zeros_like(t) if written else whole(*extent))
            tensors.append(t)
            result = t if written else result
        out.append((plan, tensors, result))
    return out


@check
def streams():
    """What a stream still has to write is waited for, and the result is there for what comes next in it."""
    side, workspaces = torch.cuda.Stream(), []
    for plan, tensors, result in plans():
        plan.run(*tensors)
        torch.cuda.synchronize()
        want = result.clone()
        late = [t.clone() for t in tensors]
        for t in tensors:
            t.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(50_000_000)
            for t, value in zip(tensors, late):
                if t is not result:
                    t.copy_(value)
            plan.run(*tensors)
            seen = result.clone()
        side.synchronize()
        equal(seen, want)
        for stream in (side, side.cuda_stream):
            result.zero_()
            torch.cuda.synchronize()
            plan.run(*tensors, stream=stream)
            side.synchronize()
            equal(result, want)
        workspaces.append(plan.workspace)
    return f"workspaces of {', '.join(map(str, workspaces))} bytes"


@check
def two_streams_at_once():
    """One plan with a workspace, queued in two streams."""
    plan, tensors, result = plans()[2]
    other = [torch.empty_like(t) if t is result else whole(*t.shape).to(memory_format=torch.preserve_format) for t in tensors]
    other = [torch.empty_strided(t.shape, t.stride(), dtype=t.dtype, device=D).copy_(o) for t, o in zip(tensors, other)]
    sets, want = (tensors, other), []
    for s in sets:
        plan.run(*s)
        torch.cuda.synchronize()
        want.append(s[1].clone())
    streams = [torch.cuda.Stream() for _ in sets]
    for _ in range(50):
        for stream, s in zip(streams, sets):
            with torch.cuda.stream(stream):
                plan.run(*s)
    torch.cuda.synchronize()
    for s, w in zip(sets, want):
        equal(s[1], w)
    return "50 runs in each"


@check
def cuda_graphs():
    """A graph of three plans and functions of new results; replays are equal bit for bit, also of other inputs."""
    three = plans()
    x, w = whole(64, 128), whole(96, 128).t()

    def work():
        for plan, tensors, _ in three:
            plan.run(*tensors)
        return kw.matmul(x, w, epilogue="gelu", **MODE)

    work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = work()
    results = [r for _, _, r in three] + [y]
    for turn in range(20):
        if turn:
            x.copy_(whole(64, 128))
            for _, tensors, result in three:
                for t in tensors:
                    if t is not result:
                        t.copy_(whole(*t.shape))
        eager = work()
        want = [r.clone() for _, _, r in three] + [eager]
        for r in results:
            r.fill_(7)
        graph.replay()
        torch.cuda.synchronize()
        for r, e in zip(results, want):
            equal(r, e)
    return "20 replays of four launches"


@check
def no_plan_inside_a_graph():
    import kernelwright.torch as kwt

    x, w = whole(33, 40), whole(17, 40)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in (kwt.linear, lambda x, w: kw.matmul(x, w.t(), **MODE)):
            refused(lambda call=call: call(x, w), "none can be made while a CUDA graph is captured")
        y = x + 1
    graph.replay()
    equal(y, x + 1)
    return "refused in one line, and the capture goes on"


@check
def refusals():
    plan, (x, w, y, *more), _ = plans()[0]
    cpu = kw.plan("gemm fp32 rrr m4 n4 k4", mode="frozen")
    refused(lambda: plan.run(x.cpu(), w, y, *more), "x: lies on device cpu, and the plan is for cuda:0", kw.ArrayError)
    refused(lambda: plan.run(x, w.cpu(), y, *more), "w: lies on device cpu", kw.ArrayError)
    refused(lambda: plan.run(np.zeros((64, 128), "u2"), w, y, *more), "x: lies on device cpu", kw.ArrayError)
    refused(lambda: plan.run(x.float(), w, y, *more), "x: elements are float32", kw.ArrayError)
    room = torch.zeros(64 * 128 + 1, dtype=torch.bfloat16, device=D)
    refused(lambda: plan.run(room[1:].view(64, 128), w, y, *more), "no multiple of 16 bytes", kw.ArrayError)
    refused(lambda: plan.run(x, w, y, *more, stream="fast"), "'fast' is no stream", kw.ArrayError)
    refused(lambda: plan.run(x, w, y, *more, stream=-4), "-4 is no stream", kw.ArrayError)
    a = torch.ones(4, 4, device=D)
    refused(lambda: cpu(a, a), "x: lies on device cuda:0, and the plan is for cpu", kw.ArrayError)
    refused(lambda: cpu(a.cpu(), a.cpu(), stream=1), "stream: the plan runs on the host", kw.ArrayError)
    refused(lambda: kw.matmul(a, a.cpu(), **MODE), "w: lies on device cpu", kw.ArrayError)
    refused(lambda: kw.plan("gemm fp32 rrr m4 n4 k4", device="cuda:77"), "77")
    return "11 of one line"


@check
def operators():
    import kernelwright.torch as kwt

    for dtype in (torch.bfloat16, torch.float32):
        x, w, b = whole(2, 8, 12, 12, dtype=dtype), whole(16, 8, 3, 3, dtype=dtype), whole(16, dtype=dtype)
        for t in (x, w, b):
            t.requires_grad_()
        with kwt.plan_mode("predict"):
            y = kwt.conv(x, w, b, 1, 1)
            gy = whole(*y.shape, dtype=dtype)
            got = (y, *torch.autograd.grad(y, (x, w, b), gy))
        want = F.conv2d(x.double(), w.double(), b.double(), padding=1)
        for a, e in zip(got, (want, *torch.autograd.grad(want, (x, w, b), gy.double()))):
            equal(a, e)
        a, v = whole(5, 7, 32, dtype=dtype).requires_grad_(), whole(24, 32, dtype=dtype).requires_grad_()
        with kwt.plan_mode("predict"):
            z = kwt.linear(a, v)
            got = (z, *torch.autograd.grad(z.sum(), (a, v)))
        want = F.linear(a.double(), v.double())
        for g, e in zip(got, (want, *torch.autograd.grad(want.sum(), (a, v)))):
            equal(g, e)
    where = ([1, 1], [1, 1], [1, 1], 1)
    torch.library.opcheck(torch.ops.kernelwright.conv, (x.detach(), w.detach(), b.detach(), *where))
    torch.library.opcheck(torch.ops.kernelwright.linear, (a.detach(), v.detach(), None))
    return "bf16, fp32, with gradients; opcheck"


class Small(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(whole(16, 8, 3, 3))
        self.b = torch.nn.Parameter(whole(16))
        self.v = torch.nn.Parameter(whole(24, 1600))

    def forward(self, x):
        import kernelwright.torch as kwt

        return kwt.linear(torch.relu(kwt.conv(x, self.w, self.b, 1, 1)).flatten(1), self.v)


@check
def compiled():
    """torch.compile, also with its CUDA graphs, is eager bit for bit: what the operators give, and gradients that are theirs (w, v). That of b is a sum
    of PyTorch's."""
    import kernelwright.torch as kwt

    model, said = Small(), []
    x = whole(2, 8, 10, 10)
    with kwt.plan_mode("predict"):
        eager = model(x)
        want = [eager, *torch.autograd.grad(eager.float().square().sum(), tuple(model.parameters()))]
        for mode in (None, "reduce-overhead"):
            step = torch.compile(model, fullgraph=True, mode=mode)
            for _ in range(4):
                torch.compiler.cudagraph_mark_step_begin()
                y = step(x)
                got = [y.clone(), *torch.autograd.grad(y.float().square().sum(), tuple(model.parameters()))]
            for place, (a, e) in enumerate(zip(got, want)):
                if place == 2:
                    assert (a - e).abs().max() <= 0.02 * e.abs().max()
                else:
                    equal(a, e)
            said.append(str(mode or "default"))
    return " and ".join(said)


@check
def operators_in_graphs():
    """A CUDA graph of operators forward and backward: replays are eager bit for bit, also of other inputs."""
    import kernelwright.torch as kwt

    model, x = Small(), whole(2, 8, 10, 10)
    parameters = tuple(model.parameters())

    def step():
        y = model(x)
        return [y.detach(), *torch.autograd.grad(y.float().square().sum(), parameters)]

    with kwt.plan_mode("predict"):
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            held = step()
        for _ in range(20):
            x.copy_(whole(2, 8, 10, 10))
            want = step()
            for t in held:
                t.fill_(7)
            graph.replay()
            for a, e in zip(held, want):
                equal(a, e)
    return "20 replays, forward and three gradients"


@check
def optimized_for_graphs():
    """optimize races replays; what it replaced gives in a graph what it gives outside, bit for bit, forward and backward."""
    import kernelwright.torch as kwt

    said = []
    for mode in ("inference", "training"):
        model = torch.nn.Sequential(torch.nn.Conv2d(64, 64, 3, padding=1, groups=32, bias=False), torch.nn.ReLU()).to(D, torch.bfloat16)
        model, x = model.to(memory_format=torch.channels_last), whole(64, 64, 28, 28, like=torch.channels_last)
        with kwt.plan_mode("predict"):
            report = kwt.optimize(model, x, mode=mode, turns=5, graphs=True)
        parameters = tuple(model.parameters())

        def step():
            if mode == "inference":
                with torch.no_grad():
                    return [model(x)]
            y = model(x)
            return [y.detach(), *torch.autograd.grad(y.float().square().sum(), parameters)]

        for _ in range(2):
            step()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            held = step()
        for _ in range(3):
            x.copy_(whole(64, 64, 28, 28))
            want = step()
            graph.replay()
            for a, e in zip(held, want):
                equal(a, e)
        said.append(f"{mode} {report.model.ratio:.2f}, {report.kept}" if report.model else f"{mode}: nothing is faster")
    return "; ".join(said)


@check
def packed_weights():
    """An optimized layer sees new weights on the GPU, in order with what writes them; a CUDA graph holds no packed ones."""
    import kernelwright.torch as kwt
    from kernelwright.torch import _optimize
    from kernelwright.torch._race import Race

    real, _optimize.race = _optimize.race, lambda *_: Race(1.0, 2.0, 0.5, 0.01)
    try:

        def network():
            layers = torch.nn.Conv2d(16, 16, 3, padding=1, bias=False), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 1, bias=False)
            return torch.nn.Sequential(*layers).to(D, torch.bfloat16).eval()

        model, plain = network(), network()
        x = whole(2, 16, 14, 14)
        with kwt.plan_mode("predict"), torch.no_grad():
            for p in model.parameters():
                p.copy_(whole(*p.shape))
            report = kwt.optimize(model, x)
            graph = None
            for turn in range(3):
                torch.cuda._sleep(20_000_000)
                for p, q in zip(model.parameters(), plain.parameters()):
                    p.copy_(whole(*p.shape))
                    q.copy_(p)
                if graph is None:
                    equal(model(x), plain(x))
                    graph = torch.cuda.CUDAGraph()
                    with torch.cuda.graph(graph):
                        y = model(x)
                graph.replay()
                equal(y, plain(x))
                equal(model(x), plain(x))
    finally:
        _optimize.race = real
    wants = [m.forward.state[3].plan.wants_packing for m in model if "_kernelwright" in m.__dict__]
    return f"{sum(row.taken for row in report.rows)} layers, packed: {wants}"


@check
def cupy_arrays():
    import cupy

    before = _kw.count()
    x, w = cupy.asarray(np.random.randint(-3, 4, (64, 96)).astype("f2")), cupy.asarray(np.random.randint(-3, 4, (80, 96)).astype("f2")).T
    y = kw.matmul(x, w, **MODE)
    assert isinstance(y, cupy.ndarray), type(y)
    assert bool((y == x.astype("f8") @ w.astype("f8")).all())
    out = cupy.zeros((64, 80), "f2")
    assert kw.matmul(x[:, :48], w[:48], out=out, **MODE) is out
    assert bool((out == x[:, :48].astype("f8") @ w[:48].astype("f8")).all())
    with cupy.cuda.Stream(non_blocking=True) as stream:
        late = cupy.zeros_like(x)
        stream.synchronize()
        torch.cuda._sleep(1)
        for _ in range(200):
            late += x  # queued work that the product has to come behind
        late -= 199 * x
        got = kw.matmul(late, w, **MODE)
        stream.synchronize()
        assert bool((got == y).all())
        kw.matmul(late, w, out=out, **MODE)
        stream.begin_capture()
        kw.matmul(late, w, out=out, **MODE)
        graph = stream.end_capture()
        out.fill(3)
        graph.launch(stream)
        stream.synchronize()
        assert bool((out == y).all())
    refused(lambda: kw.plan("gemm fp16 rcr m64 n80 k96", mode="frozen")(x, w), "x: lies on device cuda:0", kw.ArrayError)
    assert _kw.count() > before
    api = hasattr(cupy.ndarray, "__dlpack_c_exchange_api__")
    return f"{cupy.__version__}: new and given results, a stream, a graph; exchange API: {api}"


@check
def jax_arrays():
    import jax
    import jax.numpy as jnp

    place = jax.devices()[0]
    assert place.platform in ("gpu", "cuda"), place
    x, w = jnp.asarray(np.random.randint(-3, 4, (64, 96)), jnp.bfloat16), jnp.asarray(np.random.randint(-3, 4, (96, 80)), jnp.bfloat16)
    plan = kw.plan("gemm bf16 rrr m64 n80 k96", device="cuda:0", **MODE)
    want = np.asarray(x, "f8") @ np.asarray(w, "f8")
    for _ in range(3):
        y = plan(x + 0, w + 0)
        assert isinstance(y, jax.Array) and y.devices() == x.devices(), type(y)
        assert (np.asarray(y, "f8") == want).all()
    assert (np.asarray(kw.matmul(x, w, **MODE), "f8") == want).all()
    refused(lambda: plan.run(x, w, jnp.zeros((64, 80), jnp.bfloat16)), "arrays of JAX are read-only", kw.ArrayError)
    host = jax.devices("cpu")[0]
    refused(lambda: plan(jax.device_put(x, host), w), "x: lies on device cpu", kw.ArrayError)
    return f"{jax.__version__}: by plan and by matmul"


@check
def memory():
    """Nothing grows: plans, tensors and workspaces of 300 calls."""
    plan, tensors, result = plans()[2]
    x, w = whole(64, 128), whole(96, 128).t()
    for _ in range(3):
        plan.run(*tensors)
        kw.matmul(x, w, **MODE)
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated(), _kw.count()
    free = torch.cuda.mem_get_info()[0]
    for _ in range(300):
        plan.run(*tensors)
        kw.matmul(x, w, **MODE)
    torch.cuda.synchronize()
    assert (torch.cuda.memory_allocated(), _kw.count()) == before
    assert free - torch.cuda.mem_get_info()[0] <= 1 << 20
    return "300 calls of each"


@check
def call_costs():
    """us of the host a call, the kernel's own time hidden behind it or not: the least of 20 batches."""

    def least(call, count=100):
        best = 1e9
        for _ in range(20):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(count):
                call()
            best = min(best, (time.perf_counter() - start) / count)
        torch.cuda.synchronize()
        return f"{best * 1e6:.2f}"

    plan = kw.plan("gemm bf16 rrr m16 n16 k16", device="cuda:0", **MODE)
    x, w, y = whole(16, 16), whole(16, 16), whole(16, 16)
    return ", ".join(
        f"{name} {least(call)}"
        for name, call in (
            ("plan.run", lambda: plan.run(x, w, y)),
            ("plan(x, w)", lambda: plan(x, w)),
            ("kw.matmul", lambda: kw.matmul(x, w, **MODE)),
            ("torch.mm out", lambda: torch.mm(x, w, out=y)),
            ("torch.mm", lambda: torch.mm(x, w)),
        )
    )


def main():
    global D
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--device", type=int, default=0)
    arguments.add_argument("names", nargs="*")
    said = arguments.parse_args()
    D = torch.device("cuda", said.device)
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    failed = 0
    print(f"kernelwright {kw.__version__}, Python {sys.version.split()[0]}, torch {torch.__version__}, {torch.cuda.get_device_name(D)}\n")
    print("| check | s | | |\n|---|---|---|---|")
    for name in said.names or CHECKS:
        start = time.perf_counter()
        try:
            answer, detail = "ok", CHECKS[name]() or ""
        except Exception as error:
            answer, failed = "FAILED", failed + 1
            detail = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
            traceback.print_exc()
        print(f"| {name} | {time.perf_counter() - start:.1f} | {answer} | {detail} |", flush=True)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
