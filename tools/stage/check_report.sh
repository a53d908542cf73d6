#!/usr/bin/env bash
# check_report.sh [BUILD]: a report of made-up stores in a real browser, headless and without a network: every figure is there and drawn, in light
# and in dark; no text is clipped, no labels lie on each other; nothing is loaded; the chart library draws; it prints. The same for a page about
# an evaluation. Then a page of a store whose every figure is empty. KEEP=DIR leaves the pictures there to be looked at.
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
command -v chromium >/dev/null || { echo "no chromium; install it (apt-get install chromium)"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$1"; exit 1; }
# The browser's own messages are of no use here; what it could not do shows in what it wrote.
browse() {
    timeout 100 chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --user-data-dir="$work/profile" \
        --host-resolver-rules="MAP * ~NOTFOUND" --proxy-server=127.0.0.1:9 "$@" 2>"$work/messages" || fail "chromium failed: $(tail -n 5 "$work/messages")"
}
probed() { # PAGE: a copy with the probe, let in by the page's own nonce; its findings are then in $work/probe
    nonce=$(grep -om1 "nonce-[0-9a-f]*" "$1" | head -n 1 | cut -d- -f2)
    awk -v nonce="$nonce" -v probe=tests/unit/report/probe.js '
        /^<style nonce/ && !done { printf "<script nonce=\"%s\">\n", nonce; while ((getline line < probe) > 0) print line; print "</script>"; done = 1 }
        { print }' "$1" >"$work/probed.html"
    browse --window-size=1060,1000 --virtual-time-budget=20000 --dump-dom "file://$work/probed.html" >"$work/dom.html"
    sed -n '/<pre id="probe">/,/<\/pre>/p' "$work/dom.html" >"$work/probe"
}
said() { sed -n "s/^$1 //p" "$work/probe"; }
sound() { # NAME FIGURE ...: what the probe found on a page
    [ -z "$(said fault)" ] || fail "$1: faults: $(said fault)"
    [ "$(said loads)" = 0 ] || fail "$1: the page loads something"
    [ "$(said overlaps)" = 0 ] || fail "$1: $(said overlaps) labels lie on each other"
    [ "$(said wide)" = 0 ] || fail "$1: the page is $(said wide) pixels wider than its window"
    case $(said canvases) in
    [1-9]*) ;;
    *) fail "$1: the chart library drew nothing: $(said canvases); is libjs-chart.js installed?" ;;
    esac
    [ "$(said canvases | cut -d' ' -f1)" = "$(said canvases | cut -d' ' -f3)" ] && [ "$(said left)" = 0 ] || fail "$1: charts to point at: $(said canvases), left $(said left)"
    for figure in "${@:2}"; do
        said box | grep -q "^$figure-0 " || fail "$1: no chart in figure $figure"
    done
}
drawn() { # NAME: in light, in dark and on paper; the probe has looked at the page before
    height=$(said height)
    said box >"$work/boxes"
    browse --window-size="1060,$height" --screenshot="$work/$1-light.png" "file://$work/$1.html"
    browse --window-size="1060,$height" --blink-settings=preferredColorScheme=0 --screenshot="$work/$1-dark.png" "file://$work/$1.html"
    for scheme in light dark; do
        "$made/png_colours" "$work/$1-$scheme.png" 6 <"$work/boxes" >"$work/colours" || fail "$1, $scheme: $(cat "$work/colours")"
    done
    cmp -s "$work/$1-light.png" "$work/$1-dark.png" && fail "$1: the dark page is the light one"
    browse --print-to-pdf="$work/$1.pdf" "file://$work/$1.html"
    [ "$(head -c 5 "$work/$1.pdf")" = "%PDF-" ] && [ "$(wc -c <"$work/$1.pdf")" -gt 100000 ] || fail "$1: it does not print"
    echo "$1: $(wc -l <"$work/boxes") charts drawn in light and dark"
}
figures="roofline efficiency kernels heat failures drift speedup costs"
made=$build/tests/unit/report

"$made/make_store" "$work/results.db" 240
"$made/make_store" "$work/baseline.db" 200 0.93
"$build/kwright" report "$work/results.db" --html "$work/report.html" --baseline "$work/baseline.db" >/dev/null
"$build/kwright" report "$work/results.db" | grep -q "^  coverage    240 of 240" || fail "the summary lacks its coverage"
code=0 && "$build/kwright" report "$work/none.db" 2>"$work/messages" || code=$?
[ $code = 2 ] && grep -q "none.db" "$work/messages" || fail "a store that is not there: exit code $code, $(cat "$work/messages")"

probed "$work/report.html"
sound report $figures
drawn report

# What selections are worth: by the estimate, on the committed rows of networks' layers. There is no model, so no features.
"$build/kwright" evaluate data/x86-64-v4-bf16-fp32-networks.jsonl.gz --selector estimate --html "$work/selections.html" >/dev/null
probed "$work/selections.html"
sound selections predicted selections families lists residuals
drawn selections

"$made/make_store" "$work/empty.db" 0
"$build/kwright" report "$work/empty.db" --html "$work/empty.html" >/dev/null
browse --dump-dom "file://$work/empty.html" >"$work/dom.html"
for figure in $figures; do
    grep -q "<section id=\"$figure\">" "$work/dom.html" || fail "an empty store: no figure $figure"
done
if [ -n "${KEEP:-}" ]; then
    mkdir -p "$KEEP"
    cp "$work"/*.png "$work"/*.pdf "$work"/*.html "$work/probe" "$work/colours" "$KEEP"
fi
