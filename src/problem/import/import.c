/* import.c: which tool a line is of. MIOpenDriver and benchdnn are known by their program's name wherever it stands (log lines have text
 * before it), else by the first word; all else is our own text. */
#include "problem/import/import.h"

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

kw_status kw_problem_import(kw_problem *problem, const char *line, kw_error *err) {
    kw_scan scan = kw_scan_string(line), rest = scan;
    kw_word word, second;
    kw_problem result;
    bool first = true;
    while (kw_scan_word(&rest, &word)) {
        kw_status status;
        kw_scan ahead = rest;
        if (is_program_name(word, "MIOpenDriver")) {
            status = kw_import_miopen(&result, rest, err);
        } else if (is_program_name(word, "benchdnn")) {
            status = kw_import_benchdnn(&result, rest, err);
        } else if (first && (kw_import_miopen_names(word) ||
                             (kw_word_is(word, "gemm") && kw_scan_word(&ahead, &second) && kw_word_starts(second, "-")))) {
            status = kw_import_miopen(&result, scan, err);
        } else if (first && (kw_word_starts(word, "--") || kw_import_benchdnn_names(word))) {
            status = kw_import_benchdnn(&result, scan, err);
        } else {
            first = false;
            continue;
        }
        if (!status) {
            status = kw_problem_check(&result, err);
        }
        if (!status) {
            *problem = result;
        }
        return status;
    }
    return kw_problem_parse(problem, line, err);
}
