/* forest_text.c: works through the text line by line. The head lists the size of each tree's text, so the trees are written first. */
#include "learn/model/forest_text.h"

#include "base/number.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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
static void add_values(kw_text *slim, kw_word line) {
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
            add_values(trees, *line);
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

/* --- gzip --------------------------------------------------------------------------------------------------------- */

enum { GZIP_WINDOW = 15 + 16, CHUNK = 1 << 16 };

kw_status kw_gzip(kw_text *out, const void *data, size_t size, kw_error *err) {
    z_stream stream = {0};
    if (size > UINT32_MAX || deflateInit2(&stream, 9, Z_DEFLATED, GZIP_WINDOW, 9, Z_DEFAULT_STRATEGY) != Z_OK) {
        return kw_fail_memory(err, "compressing");
    }
    unsigned char *chunk = malloc(CHUNK);
    int code = chunk ? Z_OK : Z_MEM_ERROR;
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    while (code == Z_OK) {
        stream.next_out = chunk;
        stream.avail_out = CHUNK;
        code = deflate(&stream, Z_FINISH);
        kw_text_add_bytes(out, chunk, CHUNK - stream.avail_out);
    }
    deflateEnd(&stream);
    free(chunk);
    return code == Z_STREAM_END && !out->failed ? KW_OK : kw_fail_memory(err, "compressing");
}

kw_status kw_gunzip(kw_text *out, const void *data, size_t size, size_t limit, kw_error *err) {
    const unsigned char *bytes = data;
    if (size < 2 || bytes[0] != 0x1f || bytes[1] != 0x8b) {
        kw_text_add_bytes(out, data, size);
        return out->failed ? kw_fail_memory(err, "uncompressing") : KW_OK;
    }
    z_stream stream = {0};
    if (size > UINT32_MAX || inflateInit2(&stream, GZIP_WINDOW) != Z_OK) {
        return kw_fail_memory(err, "uncompressing");
    }
    unsigned char *chunk = malloc(CHUNK);
    int code = chunk ? Z_OK : Z_MEM_ERROR;
    stream.next_in = (Bytef *)(uintptr_t)data;
    stream.avail_in = (uInt)size;
    while (code == Z_OK && stream.total_out <= limit) {
        stream.next_out = chunk;
        stream.avail_out = CHUNK;
        code = inflate(&stream, Z_NO_FLUSH);
        kw_text_add_bytes(out, chunk, CHUNK - stream.avail_out);
    }
    bool beyond = stream.total_out > limit;
    inflateEnd(&stream);
    free(chunk);
    if (beyond) {
        return kw_fail(err, KW_ILLEGAL, "gzip data holds more than %zu bytes", limit);
    }
    if (out->failed || code == Z_MEM_ERROR) {
        return kw_fail_memory(err, "uncompressing");
    }
    return code == Z_STREAM_END ? KW_OK : kw_fail(err, KW_MALFORMED, "gzip data is damaged or cut off");
}
