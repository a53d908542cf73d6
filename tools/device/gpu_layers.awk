# gpu_layers.awk: the tables behind gpu_layers.sh; wants json_field.awk. Files: the list of layers, the other library's times, our rows.

# The same key for a problem of the list and for a canonical one.
function key_of(text,    words, i, n, part, letter, k) {
    n = split(text, words, " ")
    split("", part)
    part["g"] = 1
    for (i = 4; i <= n; i++) { letter = substr(words[i], 1, 1); part[letter] = substr(words[i], 2) }
    k = part["i"]
    gsub(/[0-9]+/, "1", k)
    if (!("s" in part)) part["s"] = k
    if (!("d" in part)) part["d"] = k
    gsub(/1/, "0", k)
    if (!("p" in part)) part["p"] = k
    k = words[2] " n" part["n"] " g" part["g"] " c" part["c"] " k" part["k"]
    return k " i" part["i"] " f" part["f"] " s" part["s"] " p" part["p"] " d" part["d"]
}
function class_of(key,    part, words, i) {
    split(key, words, " ")
    for (i in words) part[substr(words[i], 1, 1)] = substr(words[i], 2)
    if (part["g"] == part["c"] && part["g"] > 1) return "depthwise"
    if (part["g"] > 1) return "grouped"
    return part["f"] ~ /^1(x1)*$/ ? "pointwise" : "dense"
}
# A kernel in few words: its family, tile, waves, instruction and what is not usual.
function brief(config,    words, n, i, pair, v, text) {
    n = split(config, words, " ")
    for (i = 4; i <= n; i++) { split(words[i], pair, "="); v[pair[1]] = pair[2] }
    if (!("tile_m" in v)) { text = words[1]; for (i = 4; i <= n; i++) text = text " " words[i]; return text }
    text = words[1] " " v["tile_m"] "x" v["tile_n"] "x" v["tile_k"] " waves " v["wave_m"] "x" v["wave_n"] " " v["pipe"]
    text = text " vec " v["vec_a"] "," v["vec_b"] "," v["vec_c"]
    if (v["merge"] > 1) text = text " merge " v["merge"]
    if (v["split_k"] != 1) text = text " split_k " v["split_k"]
    if (v["streamk"] != "off") text = text " streamk " v["streamk"]
    if (v["spec"] != "default") text = text " " v["spec"]
    return text
}
FNR == 1 { file++ }
file == 1 {
    if ($0 ~ /^#/ || !NF) next
    name = $1
    sub(/:$/, "", name)
    sub(/^[^ ]+ +/, "")
    order[++layers] = name
    key[name] = key_of($0)
}
file == 2 {
    if (FNR == 1) { for (i = 1; i <= split($0, head, ","); i++) column[head[i]] = i; next }
    split($0, cell, ",")
    place = cell[column["name"]] SUBSEP "conv_" cell[column["dir"]]
    us = 1000 * cell[column["warm_ms"]]
    if (!(place in theirs) || us < theirs[place]) theirs[place] = us
}
file == 3 && /"line":"row"/ {
    split(field($0, "problem"), words, " ")
    place = key_of(field($0, "problem")) SUBSEP words[1]
    tried[place]++
    if (field($0, "outcome") !~ /^(good|slow)$/) next
    us = field($0, "time_ns") / 1000
    if (us > 0 && (!(place in ours) || us < ours[place])) { ours[place] = us; kernel[place] = brief(field($0, "config")) }
}
END {
    split("conv_fwd conv_bwd_data conv_bwd_weight", ops, " ")
    split("dense pointwise grouped depthwise", classes, " ")
    for (i = 1; i <= layers; i++) for (o = 1; o <= 3; o++) {
        place = key[order[i]] SUBSEP ops[o]
        other = order[i] SUBSEP ops[o]
        wanted++
        if (!(place in ours)) { missing = missing (missing ? ", " : "") order[i] " " ops[o]; continue }
        have++
        line = sprintf("| %s | %s | %.1f |", order[i], substr(ops[o], 6), ours[place])
        if (other in theirs) {
            ratio = ours[place] / theirs[other]
            line = line sprintf(" %.1f | %.2f |", theirs[other], ratio)
            for (c = 1; c <= 2; c++) {
                group = (c == 1 ? class_of(key[order[i]]) : "all") SUBSEP ops[o]
                sum[group] += log(ratio)
                number[group]++
                faster[group] += ratio < 1
            }
        } else line = line "  |  |"
        rows[++count] = line " " kernel[place] " |"
    }
    printf "%d of %d layers and directions have a time.%s\n\n", have, wanted, missing ? " Without: " missing "." : ""
    print "| class | direction | layers | our time over theirs, geometric mean | faster on |\n|---|---|---:|---:|---:|"
    classes[5] = "all"
    for (c = 1; c <= 5; c++) for (o = 1; o <= 3; o++) {
        group = classes[c] SUBSEP ops[o]
        if (!number[group]) continue
        mean = exp(sum[group] / number[group])
        printf "| %s | %s | %d | %.2f | %d |\n", classes[c], substr(ops[o], 6), number[group], mean, faster[group]
    }
    print "\n| layer | direction | us | theirs, us | ratio | our kernel |\n|---|---|---:|---:|---:|---|"
    for (i = 1; i <= count; i++) print rows[i]
}
