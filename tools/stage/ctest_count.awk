# ctest_count.awk: reads what `ctest -V` printed and says what passed. A cmocka program counts by its cases, any other test as one; a program
# that ends badly counts at least one failure, and one more when it ended before it reported (a crash, a timeout). Skipped
# cases count as neither. Prints lines "fail NAME: WHY", "skip NAME: WHY", what a failed case printed and a failed program's last lines as "show
# TEXT", and last "count PASSED FAILED".

function settle(id, name, status,    failures, why, i, from) {
    ended[id] = 1
    for (i = 1; i <= bad_count[id]; i++) why = why " " bad[id, i]
    failures = bad_count[id]
    passed += good[id]
    if (status ~ /Skipped/) {
        print "skip " name ": by its exit code"
    } else if (status != "Passed" && (!failures || !reported[id])) {
        why = why " (" status ")"
        failures++
    } else if (status == "Passed" && running[id] != reported[id]) {
        why = why " (ended before it reported)"
        failures++
    } else if (status == "Passed" && !running[id]) {
        passed++
    }
    if (!failures) return
    failed += failures
    print "fail " name ":" why
    for (i = 1; i <= told_count[id]; i++) print "show " told[id, i]
    for (from = line_count[id] > 40 ? line_count[id] - 40 : 0; from < line_count[id]; from++) print "show " line[id, from]
}

# A case's first lines: what a sanitizer says of it when the program ends is longer than what anybody reads.
function tell(id,    at) {
    for (at = case_start[id]; at < line_count[id] - 1 && at < case_start[id] + 20; at++) told[id, ++told_count[id]] = line[id, at]
}

match($0, /^[0-9]+: /) {
    id = substr($0, 1, RLENGTH - 2) + 0
    text = substr($0, RLENGTH + 1)
    line[id, line_count[id]++] = text
    if (text ~ /^\[==========\] Running /) running[id]++
    else if (text ~ /^\[==========\] .* run\.$/) reported[id]++
    else if (text ~ /^\[       OK \] /) good[id]++
    else if (text ~ /^\[  SKIPPED \] [A-Za-z_]/ && !((id, text) in seen)) { seen[id, text] = 1; print "skip " substr(text, 14) ": " last_word[id] }
    else if (text ~ /^\[  FAILED  \] [A-Za-z_0-9]+$/ && !((id, text) in seen)) {
        seen[id, text] = 1
        bad[id, ++bad_count[id]] = substr(text, 14)
        tell(id)
    }
    if (text ~ /^\[ RUN      \] /) case_start[id] = line_count[id]
    if (text !~ /^\[/) last_word[id] = text
    next
}

match($0, /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: /) {
    rest = substr($0, RLENGTH + 1)
    id = substr($0, 1, RLENGTH - 2)
    sub(/.*#/, "", id)
    name = rest
    sub(/ .*/, "", name)
    status = rest ~ / Passed / ? "Passed" : rest
    sub(/^[^ ]+ [. ]*/, "", status)
    sub(/ +[0-9.]+ sec.*$/, "", status)
    gsub(/[*:]+/, " ", status)
    sub(/^ +/, "", status)
    sub(/ +$/, "", status)
    settle(id + 0, name, status)
}

END { print "count " passed + 0 " " failed + 0 }
