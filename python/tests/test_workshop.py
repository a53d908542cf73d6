"""Kernels, registries, stores and models: what Python adds is names; the numbers are the library's."""

import gc
import json
import os
import pathlib
import pickle
import resource
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import kernelwright as kw

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROBLEM = "gemm fp32 rrr m64 n64 k64"


@pytest.fixture
def registry(cpu):
    return kw.Registry(cpu)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A store that a sweep of a few kernels on two problems made."""
    folder = tmp_path_factory.mktemp("sweep")
    path = str(folder / "r.db")
    seen = []
    kernels = kw.configs(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'")
    assert kernels
    facts = kw.sweep(kernels[:3], [PROBLEM, "gemm fp32 rrr m32 n64 k16"], out=path, batches=5, progress=seen.append)
    return path, facts, seen


def test_problems_are_values():
    p = kw.Problem("conv_fwd bf16 nhwgc n2 g2 c4 k6 i5x7 f3x3 p1 epilogue=bias:bf16+relu")
    assert (p.op, p.dtype, p.layout, p.ndim, p.result) == ("conv_fwd", "bf16", "channels_last", 2, "y")
    assert p.shape("x") == (2, 4, 5, 7) and p.shape("w") == (6, 2, 3, 3) and p.shape("y") == (2, 6, 5, 7)
    assert p.strides("x") == (140, 1, 28, 4) and p.extras == [("bias", "bf16", 6)]
    assert p == pickle.loads(pickle.dumps(p)) == kw.Problem(str(p)) and len({p, kw.Problem(p)}) == 1
    assert kw.Problem("./bin/MIOpenDriver convbfp16 -n 2 -c 4 -H 5 -W 7 -k 6 -y 3 -x 3 -p 1 -q 1 -F 1").layout == "channels_first"


def test_problems_by_their_sizes():
    assert kw.Problem.gemm(4, 5, 6, layout="rcr", words="epilogue=relu") == kw.Problem("gemm fp32 rcr m4 n5 k6 epilogue=relu")
    for last, order in ((True, ("nwgc", "nhwgc", "ndhwgc")), (False, ("ngcw", "ngchw", "ngcdhw"))):
        for ndim in (1, 2, 3):
            made = kw.Problem.conv("bwd_data", n=2, g=2, c=4, k=6, i=(9,) * ndim, f=[3] * ndim, s=2, p=(1,) * ndim, dtype="bf16", channels_last=last)
            each = [f"{letter}{'x'.join([value] * ndim)}" for letter, value in (("i", "9"), ("f", "3"), ("s", "2"), ("p", "1"))]
            assert made == kw.Problem(f"conv_bwd_data bf16 {order[ndim - 1]} n2 g2 c4 k6 {' '.join(each)}")
    with pytest.raises(ValueError, match="has 4 extents"):
        kw.Problem.conv("fwd", c=1, k=1, i=(1,) * 4, f=(1,) * 4)
    with pytest.raises(kw.MalformedError, match="names no operation"):
        kw.Problem.conv("forward", c=1, k=1, i=(1,), f=(1,))


def test_configs_and_problems_as_tables():
    found = kw.configs(set="tiny")
    table = kw.Table.of(found)
    assert len(table) == len(found) and {c.family for c in found} == set(table["family"])
    assert [row["tile_m"] for row in table] == [c.axes.get("tile_m") for c in found]
    assert list(kw.Table.of(kw.Registry(configs=found))) == list(table)
    listed = kw.problems("bert")
    table = kw.Table.of(listed)
    assert table["name"] == [name for name, _ in listed] and table["flops"] == [p.flops for _, p in listed] and table["k"][0] == listed[0][1].shape("x")[-1]
    assert kw.Problem("conv_fwd fp32 nhwgc n1 c4 k4 i6x7 f3x3 p1:0x1 epilogue=relu").to_dict()["i"] == "6x7"
    pytest.importorskip("pandas")
    assert list(table.to_pandas()["problem"]) == [str(p) for _, p in listed]


def test_axes_of_a_config_are_replaced():
    config = kw.configs(set="tiny")[0]
    name, value = next(iter(config.axes.items()))
    assert config.replace() == config and config.replace(**{name: value}) == config
    with pytest.raises(ValueError, match="has no axis colour; it has"):
        config.replace(colour=3)
    purple = config.replace(**{name: "purple"})
    assert "=purple is not one of" in purple.refusal("x86-64-v4")
    with pytest.raises(kw.IllegalError, match="=purple is not one of"):
        kw.Registry(configs=[purple])


def test_configs_are_filtered_and_say_what_they_are():
    every = kw.configs(set="default", arch="gfx942")
    some = kw.configs(set="default", arch="gfx942", filter=lambda c: c.op == "gemm")
    assert 0 < len(some) < len(every) and all(c.op == "gemm" for c in some)
    assert kw.configs(set="default", arch="gfx942", filter="c.op == 'gemm'") == some
    one = some[0]
    assert one.to_dict()["family"] == one.family and f"{next(iter(one.axes))}=" in one.text
    assert one.refusal("gfx942") is None and "kernel" in one.source("gfx942")
    assert kw.Config(one.text.replace(f"={list(one.axes.values())[0]} ", "=12345 ", 1)).refusal("gfx942")
    assert len(kw.configs(set="full", arch="gfx942", limit=7)) == 7
    assert "gfx942" in kw.names("arch") and "tiny" in kw.names("set") and one.family in kw.describe()
    with pytest.raises(kw.MissingError, match="gfx94x"):
        kw.configs(set="tiny", arch="gfx94x")


def test_lists_of_cks_dispatcher_are_read(cpu, tmp_path):
    good = {"tile_m": 64, "tile_n": 64, "tile_k": 32, "wave": "1x1x1", "warp": "32x32x8", "vector_sizes": [1, 1, 1], "pipeline": "compv3"}
    path = tmp_path / "kernels.json"
    path.write_text(json.dumps({"variant": "forward", "datatype": "bf16", "instances": [good, good | {"tile_m": 97}]}))
    with pytest.warns(UserWarning, match="1 of 2 instances cannot be made here.*rule tile_by_waves"):
        listed = kw.Registry(cpu).load(str(path))
    assert [config.family for config in listed] == ["conv.igemm"]


def test_registry_round_trip_by_json(registry, cpu, tmp_path):
    registry.add_space(set="tiny")
    path = str(tmp_path / "r.json")
    registry.save(path)
    again = kw.Registry(cpu).load(path)
    assert list(again) == list(registry) == list(kw.Registry.from_json(registry.to_json())) and len(again) > 0
    assert json.loads(registry.to_json())["configs"]
    again.keep("c.op == 'gemm'")
    count = len(again)
    assert 0 < count < len(registry)
    again.keep(lambda c: c.dtype == "fp32")
    assert 0 < len(again) <= count
    with pytest.raises(kw.MissingError, match="family no is not known"):
        kw.Registry(cpu, ["no such thing"])
    with pytest.raises(IndexError):
        again[len(again)]
    with pytest.raises(ZeroDivisionError):
        again.keep(lambda c: 1 // 0)


def test_build_select_run_and_measure(registry, cpu):
    registry.add_space(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'")
    serving = registry.serving(PROBLEM)
    assert serving and registry.refusal(serving[0], PROBLEM) is None
    seen = []
    report = registry.build(PROBLEM, jobs=2, progress=seen.append)
    assert 0 < report["built"] + report["cached"] <= len(serving) and not report["failed"] and seen
    record = registry.measure(serving[0], PROBLEM)
    assert record["outcome"] == "good" and record["time_ns"] > 0
    a = np.arange(64 * 64, dtype="f4").reshape(64, 64) % 7
    np.testing.assert_array_equal(registry.run(PROBLEM, a, a, mode="predict"), a @ a)
    plan = registry.select(PROBLEM, order=lambda c: -len(c.text))
    assert plan.config == max((registry[i].text for i in serving), key=len)
    table = registry.predict(PROBLEM)
    assert 0 < len(table) <= len(serving) and table["expected_ns"] == sorted(table["expected_ns"])
    assert list(registry.validate(PROBLEM)["outcome"]) == ["good"] * len(serving)


def test_two_registries_choose_by_themselves(cpu):
    every = kw.configs(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'")
    a, b = kw.Registry(cpu, every[:1]), kw.Registry(cpu).add_reference(PROBLEM)
    assert a.select(PROBLEM, mode="predict").config == every[0].text
    assert "reference" in b.select(PROBLEM, mode="predict").config


def test_tune_gives_a_table(cpu):
    table = kw.tune(["gemm fp32 m24 n24 k24", "conv_fwd fp32 nhwgc n1 c4 k4 i4 f3"], device=cpu, shortlist=2)
    assert len(table) == 2 and table["config"][0] and table["time_ns"][0] > 0 and not any(table["error"])
    assert list(table.to_pandas().columns) == list(table.columns) and table.to_arrow().num_rows == 2


def test_sweep_writes_rows(swept):
    path, facts, seen = swept
    assert facts["pairs"] >= 2 and facts["outcome"]["good"] > 0 and seen[-1]["phase"] == "measure"
    with kw.Store(path) as store:
        rows = store.rows()
        frame = rows.to_pandas()
        assert len(frame) == len(store) == facts["pairs"]
        good = frame[frame.outcome == "good"]
        assert (good.time_ns > 0).all() and set(good.problem) <= {str(kw.Problem(PROBLEM)), "gemm fp32 rrr b1 m32 n64 k16"}
        assert (good.half0_ns > 0).all() and good.config.str.startswith("gemm").all()
        assert store.runs["command"] == ["kernelwright.sweep"]
        assert len(store.rows(problem=PROBLEM)) < len(frame)
        assert store.counts["outcome"]["good"] == len(good) and store.path in repr(store)
        with pytest.raises(ValueError, match="outcome 'fine' is not known"):
            store.rows(outcome="fine")
    with pytest.raises(ValueError, match="is closed"):
        store.rows()
    again = kw.sweep(kw.configs(set="tiny", filter="c.op == 'gemm' and c.dtype == 'fp32'")[:3], PROBLEM, out=path, count_only=True)
    assert again["skipped"] == again["pairs"]


def test_rows_are_what_the_export_says(swept, tmp_path):
    path, *_ = swept
    with kw.Store(path) as store:
        rows = store.rows().to_dicts()
        store.export(tmp_path / "r.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "r.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "problem" in line and "config" in line]
    assert len(lines) == len(rows)
    for said, row in zip(sorted(lines, key=lambda r: (r["problem"], r["config"])), sorted(rows, key=lambda r: (r["problem"], r["config"]))):
        assert said["config"] == row["config"] and said.get("time_ns", 0) == row["time_ns"]
    with kw.Store(tmp_path / "b.db", write=True) as copy:
        assert copy.import_(tmp_path / "r.jsonl")["added"] == len(rows)
        assert copy.drop(outcome="good") > 0
        copy.check()
    assert kw.merge(str(tmp_path / "b.db"), [path])["known"] + kw.merge(str(tmp_path / "b.db"), [path])["known"] > 0


def test_report_and_verdicts(swept, tmp_path):
    path, *_ = swept
    assert "gemm" in kw.report(path, str(tmp_path / "r.html")) and (tmp_path / "r.html").stat().st_size > 10000
    table = kw.verdicts(path, baseline=path)
    assert set(table["verdict"]) == {"SAME"}


def test_evaluate_compare_and_search():
    data = ROOT / "data" / "x86-64-v4-bf16-fp32-gemm.jsonl.gz"
    estimate, single = kw.evaluate(data), kw.evaluate(data, by="random")
    assert 0 < estimate.figures["mean"]["value"] <= 1 and "efficiency" in str(estimate)
    comparison = kw.compare(estimate, single)
    assert comparison.figures["problem_groups"] > 0 and not comparison.accept() and comparison.fault
    assert kw.compare(estimate, estimate).accept()
    found = kw.search(PROBLEM, set="tiny", method="all", top=2)
    assert len(found) == 2 and found["predicted_ns"][0] <= found["predicted_ns"][1]


def test_features_are_what_training_sees():
    data = ROOT / "data" / "x86-64-v4-bf16-fp32-gemm.jsonl.gz"
    f = kw.features(data, op="gemm", quantity="time")
    assert f.values.shape == (len(f), len(f.columns)) and len(f) > 1000 and "tile_m" in f.columns["name"]
    good = np.array(f.outcome) == "good"
    assert (f.time_ns[good] > 0).all() and (np.diff(f.group) >= 0).all() and len(set(f.shape)) <= len(set(f.group))
    at = f.columns["name"].index("tile_m")
    tiled = int(np.flatnonzero(~np.isnan(f.values[:, at]))[0])
    problem, config = f.pair(tiled)
    assert problem.startswith("gemm fp32") and f.values[tiled, at] == kw.Config(config).axes["tile_m"]
    assert list(f.to_pandas().columns)[-1] == "outcome"
    with pytest.raises(kw.IllegalError, match="count from 0"):
        f.pair(len(f))
    with pytest.raises(kw.MissingError, match="quantity speed"):
        kw.features(data, quantity="speed")


def test_train_writes_a_model(tmp_path):
    if not os.environ.get("KW_LIGHTGBM"):
        pytest.skip("LightGBM is not here; tools/lightgbm.sh library fetches it")
    seen = []
    data = ROOT / "data" / "x86-64-v4-bf16-fp32-gemm.jsonl.gz"
    report = kw.train(data, out=tmp_path / "m", folds=2, trees=20, rounds=-1, progress=seen.append)
    assert report["trees"] > 0 and seen and (tmp_path / "m" / "model.spec").exists()
    assert kw.evaluate(data, by=tmp_path / "m", in_sample=True).figures["mean"]["value"] > 0.5


def test_contexts_and_registries_end_in_any_order(tmp_path):
    for _ in range(3):
        context = kw.Context(threads=1, wisdom_file="", data_dir=str(tmp_path))
        registries = [kw.Registry(context, kw.configs(set="tiny")[:2]) for _ in range(3)]
        cycle = [context, *registries]
        cycle.append(cycle)
        del context, registries, cycle
        gc.collect()  # what lies in a cycle is ended in an order that nobody promises


def test_what_a_machine_does_at_most(cpu):
    assert cpu.peak("fp32") > 1e8 and cpu.bandwidth > 1e7
    with pytest.raises(kw.MissingError, match="type 'fp31' is not known"):
        cpu.peak("fp31")


def test_devices_say_why_there_is_none():
    found = kw.devices()
    assert any(d["device"].startswith("cpu") for d in found) and all(d["device"] for d in found)


def processor_seconds():
    """Of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("receiver", ["main", "other"])
@pytest.mark.parametrize("what", ["tune", "sweep"])
def test_ctrl_c_ends_it_cleanly(what, receiver, tmp_path):
    program = textwrap.dedent(
        f"""
        import signal, threading, time
        import kernelwright as kw
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have had it ignored for what runs behind
        if {receiver!r} == "other":  # the system may hand a signal to any thread that has not blocked it
            threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        c = kw.Context(cache_dir={str(tmp_path / "cache")!r}, data_dir={str(tmp_path)!r}, threads=1)
        print("begun", flush=True)
        try:
            if {what!r} == "tune":
                c.plan("conv_fwd fp32 nhwgc n4 c64 k64 i28x28 f3x3 p1x1", mode="exhaustive")
            else:
                kw.sweep("default", "conv_fwd fp32 nhwgc n4 c64 k64 i28x28 f3x3 p1x1", out={str(tmp_path / "r.db")!r}, cache_dir={str(tmp_path / "cache")!r})
        except KeyboardInterrupt:
            print("interrupted")
            print(c.plan("gemm fp32 m4 n4 k4", mode="frozen").config)
        """
    )
    before = processor_seconds()
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=180)  # of the clock, which runs on while others work
    assert out.startswith("interrupted\n") and "reference" in out and not err, (out, err)
    assert processor_seconds() - before < 15


@pytest.mark.parametrize("call", [lambda: kw.configs(set="tiny"), lambda: kw.problems("resnet50")])
def test_ctrl_c_between_c_and_a_function_is_not_lost(call):
    def press(frame, event, arg):
        if frame.f_code.co_name == "_called":
            sys.settrace(None)
            raise KeyboardInterrupt

    sys.settrace(press)
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
    finally:
        sys.settrace(None)


def test_import_is_quick():
    program = "import time; t = time.process_time(); import kernelwright; print(time.process_time() - t)"
    times = [float(subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout) for _ in range(5)]
    assert min(times) < 0.06


def test_no_such_name():
    with pytest.raises(AttributeError):
        kw.no_such_name
