# gpu_check.awk MANIFEST CATALOG VERDICTS: what became of each kernel. A kernel is right when it compiled, says so where it spills, and each
# of its pairs is right. Prints a line for each fault, then: kernels, right ones, not right ones, compiled, spilling, pairs right, pairs, pairs
# without a verdict. With bounded a missing verdict is no fault; compiled is "found" where there was a compiler. With beside a kernel may
# be without problems: then that architecture plays the same text.

function field(line, name,    at, rest) {
    at = index(line, "\"" name "\":\"")
    if (!at) return ""
    rest = substr(line, at + length(name) + 4)
    return substr(rest, 1, index(rest, "\"") - 1)
}
function fault(config, what) {
    if (!(config in wrong)) print "FAILED: " what
    wrong[config] = 1
}

FNR == 1 { file++ }
file == 1 && $1 == "config" { name[++count] = substr($0, 8); number[name[count]] = count }
file == 1 && $1 == "problem" { problem[++problems] = substr($0, 9) }
file == 1 && $1 == "pair" && $2 != "none" {
    split($2, range, "-")
    if (!range[2]) range[2] = range[1]
    split(problem[$3], asked, " ")
    for (i = range[1] + 0; i <= range[2] + 0; i++) {
        # A range also covers kernels of other operations and types, which are not meant.
        split(name[i], kernel, " ")
        if (kernel[2] != asked[1] || kernel[3] != asked[2]) continue
        wanted[i, problem[$3]] = 1
        of[i]++
        pairs++
    }
}
file == 2 && /^# failed: / {
    config = substr($0, 11)
    sub(/: .*/, "", config)
    why[config] = $0
}
file == 2 && / # file=/ {
    config = $0
    sub(/^# /, "", config)
    sub(/ # file=.*/, "", config)
    compiles[config] = 1
    if (match($0, /spills=[0-9]+/) && substr($0, RSTART + 7, RLENGTH - 7) + 0 > 0) {
        spills++
        if ($0 !~ /outcome: spills/ && $0 !~ /outcome: too much/) why[config] = "spills, and its outcome does not say so"
    }
}
file == 3 && /"line":"row"/ {
    config = field($0, "config")
    text = field($0, "problem")
    i = number[config]
    if (!((i, text) in wanted)) next
    delete wanted[i, text]
    seen[i]++
    if (field($0, "outcome") == "good") {
        right[i]++
        verified++
    } else {
        fault(i, field($0, "outcome") ": " field($0, "detail") "\n  kwright check --device emu:" arch " --config '" config "' '" text "'")
    }
}
END {
    for (i = 1; i <= count; i++) {
        config = name[i]
        sub(/ fpmath=tf32$/, "", config) # it was compiled as it is listed
        if (config in compiles) compile_count++
        else if (compiled == "found") fault(i, (config in why ? why[config] : config ": not in the catalog"))
        if (config in why) fault(i, config ": " why[config])
        left += of[i] - seen[i]
        if (!of[i] && !beside) fault(i, config ": no problem")
        if (seen[i] < of[i] && !bounded) fault(i, config ": " of[i] - seen[i] " of " of[i] " pairs have no verdict")
        if (i in wrong) bad++
        else if (seen[i] == of[i]) good++
    }
    print count, good + 0, bad + 0, compile_count + 0, spills + 0, verified + 0, pairs + 0, left + 0
}
