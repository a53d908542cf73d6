/* import.c: which tool a line is of. MIOpenDriver, benchdnn and hipblaslt-bench are known by their program's name wherever it stands (log
 * lines have text before it), else by the first word; all else is our own text. */
#include "problem/import/import.h"
#include "problem/tensors/filter.h"

#include <string.h>

/* The word as a path ends in this file name. */
static bool is_program_name(kw_word word, const char *name) {
    for (size_t i = word.size; i > 0; i--) {
        if (word.at[i - 1] == '/') {
            word = (kw_word){word.at + i, word.size - i};
            break;
        }
    }
    return kw_word_is(word, name);
}

/* Reads a line of another tool; *known: it is one. */
static kw_status import_known(kw_problem *problem, uint32_t *ops, bool *known, kw_scan scan, kw_error *err) {
    kw_scan rest = scan;
    kw_word word, second;
    *known = true;
    for (bool first = true; kw_scan_word(&rest, &word); first = false) {
        kw_scan ahead = rest;
        if (is_program_name(word, "MIOpenDriver")) {
            return kw_import_miopen(problem, ops, rest, err);
        }
        if (is_program_name(word, "benchdnn")) {
            return kw_import_benchdnn(problem, rest, err);
        }
        if (is_program_name(word, "hipblaslt-bench")) {
            return kw_import_hipblaslt(problem, rest, err);
        }
        if (first &&
            (kw_import_miopen_names(word) || (kw_word_is(word, "gemm") && kw_scan_word(&ahead, &second) && kw_word_starts(second, "-")))) {
            return kw_import_miopen(problem, ops, scan, err);
        }
        if (first && kw_import_tunable_names(word)) {
            return kw_import_tunable(problem, (kw_scan){word.at, scan.end}, err);
        }
        if (first && (kw_word_starts(word, "--") || kw_import_benchdnn_names(word))) {
            return kw_import_benchdnn(problem, scan, err);
        }
    }
    *known = false;
    return KW_OK;
}

kw_status kw_problem_import_all(kw_problem problems[KW_IMPORT_MAX], int *count, const char *line, kw_error *err) {
    kw_problem result;
    uint32_t ops = 0;
    bool known;
    kw_status status = import_known(&result, &ops, &known, kw_scan_string(line), err);
    *count = 0;
    status = status || known ? status : kw_problem_parse(&result, line, err);
    status = status || !known ? status : kw_problem_check(&result, err);
    if (status) {
        return status;
    }
    result.filter_order = kw_filter_order_normal(&result);
    ops = ops ? ops : 1u << result.op;
    for (int op = 0; op < KW_OP_COUNT && *count < KW_IMPORT_MAX; op++) {
        if (ops >> op & 1) {
            problems[*count] = result;
            problems[(*count)++].op = (kw_op)op;
        }
    }
    return KW_OK;
}

kw_status kw_problem_import(kw_problem *problem, const char *line, kw_error *err) {
    kw_problem all[KW_IMPORT_MAX];
    int count;
    kw_status status = kw_problem_import_all(all, &count, line, err);
    if (!status && count > 1) {
        return kw_fail(err, KW_ILLEGAL,
                       "the line means %d problems, one for each direction, and one is wanted; say which: -F 1 is conv_fwd, -F 2 "
                       "conv_bwd_data, -F 4 conv_bwd_weight",
                       count);
    }
    if (!status) {
        *problem = all[0];
    }
    return status;
}
