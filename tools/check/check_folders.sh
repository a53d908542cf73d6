#!/usr/bin/env bash
# check_folders.sh [ROOT]: a folder has one subject and at most 16 source files (tables of Lua, scripts and lists of CMake among them), a C file
# at most 600 lines. What may have more stands in tools/check/folders.txt, "PATH: REASON" a line; a path that needs no exception any more is
# an error, too. Tracked files count; below a ROOT that is no repository all do.
cd "${1:-$(dirname "$0")/../..}" || exit 3
files_limit=16 lines_limit=600
git ls-files --error-unmatch tools/check/folders.txt >/dev/null 2>&1 && list="git ls-files" || list="find . -type f -printf %P\n"
awk -v files="$files_limit" -v lines="$lines_limit" '
    function complain(text) {
        print text >"/dev/stderr"
        bad = 1
    }
    FILENAME == "tools/check/folders.txt" {
        if (/^#/ || !NF) next
        at = index($0, ": ")
        if (at < 2 || length($0) < at + 8) complain("tools/check/folders.txt: \"" $0 "\": PATH: REASON")
        excepted[substr($0, 1, at - 1)] = 1
        next
    }
    {
        total++
        folder = $0
        if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
        count[folder]++
        if ($0 ~ /\.[ch]$/) {
            length_of = 0
            while ((getline text <$0) > 0) length_of++
            close($0)
            if (length_of > lines) {
                if ($0 in excepted) needed[$0] = 1
                else complain($0 ": " length_of " lines; a C file has at most " lines ": split it by subject")
            }
        }
    }
    END {
        if (!total) complain("check_folders.sh: no source files")
        for (folder in count) {
            if (count[folder] <= files) continue
            if (folder in excepted) needed[folder] = 1
            else complain(folder ": " count[folder] " source files; a folder has at most " files ": give it folders by subject")
        }
        for (path in excepted) if (!(path in needed)) complain("tools/check/folders.txt: " path " needs no exception")
        exit bad
    }' tools/check/folders.txt <($list | grep -E '(\.(c|h|cc|cpp|py|sh|js|lua|awk|cmake)|CMakeLists\.txt)$')
