#!/usr/bin/env python3
"""make_pictures.py [KWRIGHT]: the pictures of the pages (docs/pictures/*.svg), which follow a page's light or dark colours.
The chain is drawn from CHAIN below; results from docs/pictures/peers.csv (class, ratio to the peer's speed, peer, page); the roofline from layers.csv,
the selections from selection.csv. Given a kwright, the last two are made anew first, of the rows in data/ that no model trains on."""
import csv
import gzip
import html
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "pictures"
NETWORKS = [("resnet50", "ResNet-50", "a"), ("mobilenetv2", "MobileNetV2", "b"), ("bert", "BERT base", "c")]
SELECTORS = [("model", "the compiled-in model", "a"), ("estimate", "the estimate alone", "b"), ("single", "the single best kernel", "c"),
             ("random", "chance", "d")]
STYLE = """<style>
text { font: 13px sans-serif; fill: #24292f } .small { font-size: 11px; fill: #57606a } .box { fill: #ddf4ff; stroke: #54aeff }
.out { fill: #dafbe1; stroke: #4ac26b } line, path { stroke: #8c959f; fill: none } .ahead { fill: #4ac26b } .behind { fill: #e16f24 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 } .box { fill: #121d2f; stroke: #1f6feb }
.out { fill: #12261e; stroke: #238636 } line, path { stroke: #656d76 } }
</style>"""
PLOT_STYLE = """<style>
circle.a { fill: #0969da } circle.b { fill: #bc4c00 } circle.c { fill: #1a7f37 } circle.d { fill: #8c959f } line.grid { stroke: #d0d7de }
path.a { stroke: #0969da } path.b { stroke: #bc4c00 } path.c { stroke: #1a7f37 } path.d { stroke: #8c959f } path { stroke-width: 2 }
@media (prefers-color-scheme: dark) { circle.a { fill: #58a6ff } circle.b { fill: #f0883e } circle.c { fill: #3fb950 } line.grid { stroke: #30363d }
path.a { stroke: #58a6ff } path.b { stroke: #f0883e } path.c { stroke: #3fb950 } }
</style>"""
CHAIN = [("problem", "what to compute", "box"), ("config", "a point of a family's space", "box"), ("source", "one text for CPU and GPU", "box"),
         ("blob", "compiled, cached", "box"), ("kernel", "loaded", "box"), ("record", "verified, timed", "box"), ("plan", "runs in microseconds", "out")]
STEPS = ["rules, model", "generate", "jit", "load", "measure", "select"]


def document(width, height, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
            f"{STYLE}\n{body}</svg>\n")


def chain():
    box, gap, top, height = 128, 62, 34, 46
    parts = ['<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
             '<path d="M0 0 8 4 0 8"/></marker></defs>']
    for i, (noun, meaning, kind) in enumerate(CHAIN):
        x = 6 + i * (box + gap) * 0.78
        w = box * 0.78
        parts.append(f'<rect class="{kind}" x="{x:.0f}" y="{top}" width="{w:.0f}" height="{height}" rx="6"/>'
                     f'<text x="{x + w / 2:.0f}" y="{top + height / 2:.0f}" text-anchor="middle" dominant-baseline="central">{noun}</text>')
        parts.append(f'<text class="small" x="{x + w / 2:.0f}" y="{top + height + 15 + 14 * (i % 2)}" text-anchor="middle">{html.escape(meaning)}</text>')
        if i:
            start = x - gap * 0.78
            parts.append(f'<line x1="{start:.0f}" y1="{top + height / 2}" x2="{x - 2:.0f}" y2="{top + height / 2}" marker-end="url(#tip)"/>'
                         f'<text class="small" x="{(start + x) / 2:.0f}" y="{top + height / 2 - 30:.0f}" text-anchor="middle">{STEPS[i - 1]}</text>')
    last = 6 + 5 * (box + gap) * 0.78 + box * 0.39
    parts.append(f'<path d="M{last:.0f} {top + height + 36} v22 H{6 + 0.39 * box + (box + gap) * 0.78:.0f} v-22" marker-end="url(#tip)"/>'
                 f'<text class="small" x="{last - 300:.0f}" y="{top + height + 74}" text-anchor="middle">rows of a sweep teach a model, and wisdom remembers winners</text>')
    return document(1036, 160, "\n".join(parts))


def results():
    with open(FOLDER / "peers.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    left, scale, row = 370, 260, 22
    one = left + scale
    parts = [f'<line x1="{one}" y1="24" x2="{one}" y2="{30 + row * len(rows)}"/>'
             f'<text class="small" x="{one}" y="16" text-anchor="middle">as fast as the peer</text>']
    for i, item in enumerate(rows):
        ratio, y = float(item["ratio"]), 30 + i * row
        end = left + scale * min(ratio, 2.2)
        kind = "ahead" if ratio >= 1 else "behind"
        parts.append(f'<text x="{left - 8}" y="{y + 14}" text-anchor="end">{html.escape(item["class"])}</text>'
                     f'<rect class="{kind}" x="{left}" y="{y + 3}" width="{end - left:.0f}" height="{row - 8}" rx="2"/>'
                     f'<text class="small" x="{end + 6:.0f}" y="{y + 14}">{item["ratio"]} of {html.escape(item["peer"])}</text>')
    return document(1036, 40 + row * len(rows), "\n".join(parts))


class Plot:
    """Two axes, logarithmic where their ends have no 0, and what is drawn between them."""

    def __init__(self, x, y, x_text, y_text):
        self.x, self.y, self.parts = x, y, []
        self.left, self.top, self.width, self.height = 60, 14, 560, 300
        for value in x[2]:
            at = self.at(value, y[0])[0]
            self.parts.append(f'<line class="grid" x1="{at:.1f}" y1="{self.top}" x2="{at:.1f}" y2="{self.top + self.height}"/>'
                              f'<text class="small" x="{at:.1f}" y="{self.top + self.height + 16}" text-anchor="middle">{value:g}</text>')
        for value in y[2]:
            at = self.at(x[0], value)[1]
            self.parts.append(f'<line class="grid" x1="{self.left}" y1="{at:.1f}" x2="{self.left + self.width}" y2="{at:.1f}"/>'
                              f'<text class="small" x="{self.left - 6}" y="{at + 4:.1f}" text-anchor="end">{value:g}</text>')
        middle = self.top + self.height / 2
        self.parts.append(f'<text x="{self.left + self.width / 2}" y="{self.top + self.height + 36}" text-anchor="middle">{x_text}</text>'
                          f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">{y_text}</text>')

    def at(self, x, y):
        def part(axis, value):
            low, high = axis[:2]
            return math.log(value / low) / math.log(high / low) if low > 0 else (value - low) / (high - low)

        return self.left + self.width * part(self.x, x), self.top + self.height * (1 - part(self.y, y))

    def path(self, kind, points):
        self.parts.append(f'<path class="{kind}" d="M' + " L".join(f"{x:.1f} {y:.1f}" for x, y in (self.at(*p) for p in points)) + '"/>')

    def legend(self, entries):
        for i, (kind, text) in enumerate(entries):
            y = self.top + 22 + 20 * i
            self.parts.append(f'<circle class="{kind}" cx="{self.left + self.width + 26}" cy="{y}" r="5"/>'
                              f'<text x="{self.left + self.width + 38}" y="{y + 4}">{html.escape(text)}</text>')

    def document(self):
        return document(1036, self.top + self.height + 46, "\n".join([PLOT_STYLE, *self.parts]))


def numbers(word, line, default):
    found = re.search(rf"\b{word}([0-9x]+)\b", line)
    return [int(v) for v in found[1].split("x")] if found else default


def work(problem):
    """Floating-point operations of a forward convolution or a product in fp32, and bytes of its tensors."""
    size = {w: numbers(w, problem, [1])[0] for w in ("b", "m", "n", "k", "g", "c")}
    if problem.startswith("gemm"):
        b, m, n, k = (size[w] for w in "bmnk")
        return 2 * b * m * n * k, 4 * b * (m * k + k * n + m * n)
    image, taps = numbers("i", problem, []), numbers("f", problem, [])
    some = [1] * len(image)
    steps, edges, gaps = (numbers(w, problem, d) for w, d in (("s", some), ("p", [0] * len(image)), ("d", some)))
    out = [(i + 2 * p - d * (f - 1) - 1) // s + 1 for i, f, s, p, d in zip(image, taps, steps, edges, gaps)]
    inside = [sum(0 <= o * s - p + t * d < i for o in range(e) for t in range(f))  # taps of an axis that meet the image, at all of its outputs
              for e, i, f, s, p, d in zip(out, image, taps, steps, edges, gaps)]
    y, w = size["n"] * size["k"] * math.prod(out), size["k"] * size["c"] // size["g"] * math.prod(taps)
    return 2 * size["n"] * size["k"] * size["c"] // size["g"] * math.prod(inside), 4 * (size["n"] * size["c"] * math.prod(image) + w + y)


def canonical(problem):
    """Sizes that are 1 or 0 if not said, left out."""
    return re.sub(r" (g1|b1|s1(x1)*|p0(x0)*|d1(x1)*)(?= |$)", "", problem)


def collect_layers():
    """layers.csv: each network's layers forward, with the rate of the fastest verified kernel; first the machine's two roofs."""
    best, roofs = {}, {}
    with gzip.open(ROOT / "data" / "x86-64-v4-bf16-fp32-networks.jsonl.gz", "rt") as file:
        for row in map(json.loads, file):
            if row["line"] == "run" and "roofs" in row:
                roofs = {name: float(value) for name, value in (r.split("=") for r in row["roofs"].split())}
            elif row.get("outcome") == "good":
                key = canonical(row["problem"])
                best[key] = min(best.get(key, math.inf), row["time_ns"])
    with open(FOLDER / "layers.csv", "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(["network", "layer", "flop_per_byte", "gflops"])
        out.writerow(["roof", "fp32, one thread", "", f"{roofs['fp32'] / 1e9:.1f}"])
        out.writerow(["roof", "memory, GB/s", "", f"{roofs['memory'] / 1e9:.1f}"])
        for line in (ROOT / "problems" / "demo.txt").read_text().splitlines():
            layer, _, problem = line.partition(":")
            network, key = layer.split(".")[0], canonical(problem.strip())
            if key in best and network in {n for n, _, _ in NETWORKS}:
                flops, size = work(key)
                out.writerow([network, layer.split(".", 1)[1].split("*")[0], f"{flops / size:.2f}", f"{flops / best[key]:.1f}"])


def collect_selections(kwright):
    """selection.csv: of each way to choose, the efficiency of its choices on networks that no model saw: the mean, and worst first at each half
    per cent of the problems."""
    with tempfile.TemporaryDirectory() as folder:
        store = f"{folder}/rows.db"
        subprocess.run([kwright, "db", "import", store, ROOT / "data" / "x86-64-v4-bf16-fp32-holdout.jsonl.gz"], check=True, stdout=subprocess.DEVNULL)
        with open(FOLDER / "selection.csv", "w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(["by", "share", "efficiency"])
            for name, _, _ in SELECTORS:
                how = ["--model", ROOT / "models" / "cpu"] if name == "model" else ["--selector", name]
                command = [kwright, "evaluate", store, *how, "--seed", "1", "--quiet", "--out", f"{folder}/{name}.csv"]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                with open(f"{folder}/{name}.csv", newline="") as groups:
                    values = sorted(float(group["efficiency"]) for group in csv.DictReader(groups))
                out.writerow([name, "mean", f"{sum(values) / len(values):.4f}"])
                for half in range(201):
                    out.writerow([name, half / 200, f"{values[min(len(values) - 1, half * len(values) // 200)]:.4f}"])


def rows_of(name):
    with open(FOLDER / name, newline="") as file:
        return list(csv.DictReader(file))


def roofline():
    rows = rows_of("layers.csv")
    peak, memory = (float(r["gflops"]) for r in rows[:2])
    plot = Plot((0.5, 500, [1, 10, 100]), (10, 200, [10, 20, 50, 100, 200]), "floating-point operations a byte", "GFLOP/s")
    plot.path("roof", [(0.5, memory / 2), (peak / memory, peak), (500, peak)])
    for network, _, kind in NETWORKS:
        for row in rows:
            if row["network"] == network:
                x, y = plot.at(float(row["flop_per_byte"]), float(row["gflops"]))
                title = f'{html.escape(row["layer"])}: {row["gflops"]} GFLOP/s'
                plot.parts.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{title}</title></circle>')
    counts = {n: sum(r["network"] == n for r in rows) for n, _, _ in NETWORKS}
    plot.legend([(kind, f"{text}, {counts[network]} layers") for network, text, kind in NETWORKS])
    notes = [f"roof: {peak:.0f} GFLOP/s, and {memory:.0f} GB/s from memory;", "what lies above the slope is read from caches.",
             "Fastest kernel of each layer, forward, fp32,", "one thread, batch 1 (2-core EPYC, Zen 4)."]
    for i, note in enumerate(notes):
        plot.parts.append(f'<text class="small" x="{plot.left + plot.width + 20}" y="{130 + 16 * i}">{note}</text>')
    return plot.document()


def selection():
    rows = rows_of("selection.csv")
    plot = Plot((0, 100, range(0, 101, 20)), (0, 100, range(0, 101, 20)), "% of the problems, worst choices first", "% of the fastest kernel's speed")
    means = []
    for name, text, kind in reversed(SELECTORS):
        points = [(100 * float(r["share"]), 100 * float(r["efficiency"])) for r in rows if r["by"] == name and r["share"] != "mean"]
        plot.path(kind, points)
        mean = next(float(r["efficiency"]) for r in rows if r["by"] == name and r["share"] == "mean")
        means.insert(0, (kind, f"{text}: {100 * mean:.1f} % in the mean"))
    plot.legend(means)
    notes = ["What the first choice is worth, nothing measured: 382", "problem groups of networks that no model trained on,",
             "15.2 kernels each (data/README.md)."]
    for i, note in enumerate(notes):
        plot.parts.append(f'<text class="small" x="{plot.left + plot.width + 20}" y="{130 + 16 * i}">{note}</text>')
    return plot.document()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        collect_layers()
        collect_selections(sys.argv[1])
    (FOLDER / "roofline.svg").write_text(roofline())
    (FOLDER / "selection.svg").write_text(selection())
    (FOLDER / "chain.svg").write_text(chain())
    (FOLDER / "results.svg").write_text(results())
