# agreement.awk: the comparison behind agreement.sh; wants json_field.awk, and first and second, the names of the two files.
function verdict(outcome) {
    if (outcome == "good" || outcome == "mistrusted" || outcome == "slow") return "right"
    if (outcome == "wrong" || outcome == "crashed" || outcome == "timed-out" || outcome == "timed_out") return "not right"
    return outcome
}
FNR == 1 { side++ }
{
    outcome = field($0, "outcome")
    config = field($0, "config")
    if (config == "" || outcome == "" || outcome == "unfit" || outcome == "untried") next
    key = config " | " field($0, "problem")
    said[side, key] = outcome
    detail[side, key] = field($0, "detail")
    if (!(key in keys)) keys[key] = 1
}
END {
    for (key in keys) {
        a = said[1, key]
        b = said[2, key]
        if (a == "") { only2++; continue }
        if (b == "") { only1++; continue }
        both++
        if (verdict(a) == verdict(b)) {
            same++
            if (verdict(a) == "right") right++
        } else {
            differ[key] = a " (" detail[1, key] ") here, " b " (" detail[2, key] ") there"
        }
    }
    printf "%d pairs have a verdict on both: the same on %d (%d right, %d not), different on %d\n", both, same, right, same - right, both - same
    printf "%d pairs only in %s, %d only in %s\n", only1, first, only2, second
    for (key in differ) printf "%s\n    %s\n", key, differ[key]
    exit both != same
}
