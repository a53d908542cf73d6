#!/usr/bin/env bash
# readers.sh KWRIGHT DOC DATA: runs the lines of docs/measuring/store.md that hand results to other programs (sqlite3, DuckDB, pyarrow), as they stand there.
# A program that is not installed is skipped with a note; 77 when none is.
set -eu
kwright=$(realpath "$1") doc=$(realpath "$2") data=$(realpath "$3")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
"$kwright" db import results.db "$data" >/dev/null
"$kwright" db export results.db --quiet --out results.csv
"$kwright" db export results.db --quiet --out results.jsonl
ran=0
try() { # program, how to ask whether it is there, which lines, how many there must be
    local lines count=0
    lines=$(grep -E "$3" "$doc" || true)
    if ! eval "$2" >/dev/null 2>&1; then
        echo "skipped: $1 is not installed"
        return
    fi
    while IFS= read -r line; do
        rm -f results.parquet
        eval "$line" >out
        case $1 in
        sqlite3) [ "$(wc -l <out)" -ge 2 ] || { echo "no rows: $line"; exit 1; } ;;
        *) [ -s results.parquet ] || { echo "no Parquet file: $line"; exit 1; } ;;
        esac
        count=$((count + 1))
    done <<<"$lines"
    [ $count -eq "$4" ] || { echo "$doc has $count lines for $1, not $4"; exit 1; }
    echo "$1: $count lines"
    ran=1
}
try sqlite3 'command -v sqlite3' '^sqlite3 ' 3
try duckdb 'python3 -c "import duckdb"' '^python3 -c .import duckdb' 2
try pyarrow 'python3 -c "import pyarrow"' '^python3 -c .import pyarrow' 2
[ $ran = 1 ] || exit 77
