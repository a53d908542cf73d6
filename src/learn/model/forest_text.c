/* forest_text.c: works through the text line by line. The head lists the size of each tree's text, so the trees are written first. */
#include "learn/model/forest_text.h"

#include "base/format/number.h"

#include <string.h>

static bool is_scoring_line(kw_word line) {
    static const char *const keys[] = {
        "Tree=",        "num_leaves=", "num_cat=",        "split_feature=", "threshold=", "decision_type=", "left_child=",
        "right_child=", "leaf_value=", "cat_boundaries=", "cat_threshold=", "is_linear=", "shrinkage="};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (kw_word_starts(line, keys[i])) {
            return true;
        }
    }
    return false;
}

/* The leaf values with 7 digits each. */
static void add_line_values(kw_text *slim, kw_word line) {
    static const char key[] = "leaf_value=";
    kw_scan scan = {line.at + sizeof key - 1, line.at + line.size};
    kw_word word;
    const char *blank = "";
    kw_text_add(slim, key);
    while (kw_scan_word(&scan, &word)) {
        double value;
        if (kw_number_read(word, &value)) {
            char digits[64];
            kw_line out = {.data = digits, .capacity = sizeof digits};
            kw_line_addf(&out, "%.6e", value);
            kw_number_read((kw_word){digits, out.size}, &value);
            char shortest[KW_NUMBER_TEXT];
            kw_number_print(shortest, value);
            kw_text_add(slim, blank);
            kw_text_add(slim, shortest);
        }
        blank = " ";
    }
    kw_text_add(slim, "\n");
}

/* One tree, from its line "Tree=N" on; *line is left at the next one. */
static void add_compact_tree(kw_text *trees, kw_scan *scan, kw_word *line, bool *more) {
    do {
        if (kw_word_starts(*line, "leaf_value=")) {
            add_line_values(trees, *line);
        } else if (is_scoring_line(*line)) {
            kw_text_add_bytes(trees, line->at, line->size);
            kw_text_add(trees, "\n");
        }
        *more = kw_scan_line(scan, line);
    } while (*more && !kw_word_starts(*line, "Tree=") && !kw_word_is(*line, "end of trees"));
    kw_text_add(trees, "\n\n");
}

kw_status kw_forest_text_compact(kw_text *slim, const char *text, int64_t trees, kw_error *err) {
    kw_scan scan = kw_scan_string(text);
    kw_word line = {"", 0};
    kw_text body = {0}, sizes = {0};
    bool more;
    while ((more = kw_scan_line(&scan, &line)) && line.size && !kw_word_starts(line, "Tree=")) {
        if (!kw_word_starts(line, "tree_sizes=")) {
            kw_text_add_bytes(slim, line.at, line.size);
            kw_text_add(slim, "\n");
        }
    }
    while (more && !kw_word_starts(line, "Tree=")) {
        more = kw_scan_line(&scan, &line);
    }
    int64_t done = 0;
    while (more && done < trees && kw_word_starts(line, "Tree=")) {
        size_t before = body.size;
        add_compact_tree(&body, &scan, &line, &more);
        kw_text_addf(&sizes, "%s%zu", done ? " " : "", body.size - before);
        done++;
    }
    kw_text_addf(slim, "tree_sizes=%s\n\n", kw_text_string(&sizes));
    kw_text_add_bytes(slim, kw_text_string(&body), body.size);
    kw_text_add(slim, "end of trees\n");
    kw_status status = body.failed || sizes.failed || slim->failed ? kw_fail_memory(err, "the model's text") : KW_OK;
    if (!status && !done) {
        status = kw_fail(err, KW_MALFORMED, "the model's text has no tree");
    }
    kw_text_drop(&body);
    kw_text_drop(&sizes);
    return status;
}

int64_t kw_forest_text_trees(const char *text) {
    kw_scan scan = kw_scan_string(text);
    kw_word line;
    int64_t count = 0;
    while (kw_scan_line(&scan, &line)) {
        count += kw_word_starts(line, "Tree=");
    }
    return count;
}
