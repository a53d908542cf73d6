# gpu_spaces.awk: the table of docs/kernels/gpu-spaces.md out of tests/golden/gpu_spaces.txt (set, architecture, family, op, type, count, hash).
# tools/check/check_docs.sh holds the page against it, tools/golden.sh writes it anew.
function cell(set, arch) {
    return of(set, arch, "conv.igemm") " + " of(set, arch, "gemm.mma") " + " of(set, arch, "gemm.stream") "; " \
        of(set, arch, "conv.depthwise_block") " + " of(set, arch, "conv.direct_block") " + " of(set, arch, "conv.direct_1st_block") " + " of(set, arch, "conv.point_block")
}
function of(set, arch, family) { return count[set, arch, family] + 0 }
/^#/ { next }
{
    count[$1, $2, $3] += $6
    if (!($2 in seen)) { seen[$2] = 1; arch[++archs] = $2 }
}
END {
    print "| architecture | tiny | default | full-tests | full |"
    print "|---|---|---|---|---|"
    for (i = 1; i <= archs; i++) {
        a = arch[i]
        printf "| %s | %s | %s | %s | %s |\n", a, cell("tiny", a), cell("default", a), cell("full-tests", a), cell("full", a)
    }
}
