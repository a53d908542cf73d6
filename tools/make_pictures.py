#!/usr/bin/env python3
"""make_pictures.py: the two pictures of README.md (docs/pictures/*.svg), which follow the page's light or dark colours.
The chain is drawn from CHAIN below; the results from docs/pictures/peers.csv (class, ratio to the peer's speed, peer, page)."""
import csv
import html
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "docs" / "pictures"
STYLE = """<style>
text { font: 13px sans-serif; fill: #24292f } .small { font-size: 11px; fill: #57606a } .box { fill: #ddf4ff; stroke: #54aeff }
.out { fill: #dafbe1; stroke: #4ac26b } line, path { stroke: #8c959f; fill: none } .ahead { fill: #4ac26b } .behind { fill: #e16f24 }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small { fill: #9198a1 } .box { fill: #121d2f; stroke: #1f6feb }
.out { fill: #12261e; stroke: #238636 } line, path { stroke: #656d76 } }
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


if __name__ == "__main__":
    (FOLDER / "chain.svg").write_text(chain())
    (FOLDER / "results.svg").write_text(results())
