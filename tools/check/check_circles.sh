#!/usr/bin/env bash
# check_circles.sh BUILD...: source files that call each other in a circle, by the symbols of their object files (BUILD is a build folder, or a
# folder of objects). Files below others are handed a function or a table of them, and never reach back by name. Each circle is printed once,
# with the symbols that close it.
set -o pipefail
[ $# -gt 0 ] || { echo "usage: check_circles.sh BUILD..." >&2; exit 2; }
objects=""
for object in $(find "$@" -name '*.c.o' \( -path '*/src/*/CMakeFiles/kw_*.dir/*' -o -not -path '*/CMakeFiles/*' \) | sort); do
    source=$(sed -E 's,.*/src/([a-z]+)/CMakeFiles/kw_[a-z_]+\.dir/(.*)\.o$,src/\1/\2,' <<<"$object")
    case $source in
    src/*) [ -f "$(dirname "$0")/../../$source" ] || continue ;; # of a source that was moved since
    esac
    objects="$objects $object"
done
[ -n "$objects" ] || { echo "check_circles.sh: no object files in $*" >&2; exit 2; }
# shellcheck disable=SC2086
nm -A $objects | awk '
    {
        colon = index($0, ".o:")
        file = substr($0, 1, colon - 1)
        gsub(/CMakeFiles\/kw_[a-z_]*\.dir\//, "", file)
        count = split(substr($0, colon + 3), word, " ")
        kind = word[count - 1]
        symbol = word[count]
        if (kind ~ /^[TDRBGV]$/) where[symbol] = file
        if (kind == "U") needs[file] = needs[file] " " symbol
    }
    # Tarjan: strongly connected components.
    function walk(v,    i, n, list, w, size) {
        number[v] = low[v] = ++counter
        stack[++top] = v
        on[v] = 1
        n = split(needs[v], list, " ")
        for (i = 1; i <= n; i++) {
            if (!(list[i] in where) || (w = where[list[i]]) == v) continue
            if (!(w in number)) {
                walk(w)
                if (low[w] < low[v]) low[v] = low[w]
            } else if (on[w] && number[w] < low[v]) {
                low[v] = number[w]
            }
        }
        if (low[v] == number[v]) {
            size = 0
            do {
                w = stack[top--]
                on[w] = 0
                member[++size] = w
                circle[w] = v
            } while (w != v)
            if (size > 1) {
                found = 1
                print "a circle of files:"
                for (i = 1; i <= size; i++) show(member[i], v)
            }
        }
    }
    function show(v, of,    i, n, list) {
        n = split(needs[v], list, " ")
        for (i = 1; i <= n; i++)
            if ((list[i] in where) && where[list[i]] != v && circle[where[list[i]]] == of) print "  " v " needs " list[i] " of " where[list[i]]
    }
    END {
        for (v in needs) if (!(v in number)) walk(v)
        exit found
    }' >&2
