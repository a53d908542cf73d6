/* forest_read.c: the frame of a LightGBM text model: opening, numbers, the order of the parts.
 *
 * The text is "tree", a head of key=value lines, an empty line, the trees, "end of trees", and notes that scoring does not need. Each
 * key is known, comes once, and has as many values as its rule says; tree_sizes must agree with where the trees are. Nothing is
 * believed: a count is only used once as many values were read. */
#include "predict/forest/forest_read.h"

#include "base/container/array.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kw_status kw_forest_fail(const kw_forest_reader *reader, kw_status status, const char *format, ...) {
    char what[320], place[96] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (reader->tree >= 0) {
        snprintf(place, sizeof place, "tree %lld: ", (long long)reader->tree);
    }
    return kw_fail(reader->err, status, "model %.80s: %s%s%s%s", reader->name, place, reader->key ? reader->key : "",
                   reader->key ? ": " : "", what);
}

kw_status kw_forest_no_memory(const kw_forest_reader *reader) {
    return kw_fail_memory(reader->err, reader->name);
}

/* [+-]digits[.digits][e[+-]digits], with a digit in the mantissa: what LightGBM prints of finite numbers. */
static bool is_number_word(kw_word word) {
    const char *at = word.at, *end = word.at + word.size;
    size_t digits = 0, exponent = 0;
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        digits++;
    }
    if (at < end && *at == '.') {
        for (at++; at < end && *at >= '0' && *at <= '9'; at++) {
            digits++;
        }
    }
    if (digits && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
            exponent++;
        }
        return exponent && at == end;
    }
    return digits && at == end;
}

static kw_status list_word(const kw_forest_reader *reader, kw_scan *list, size_t position, kw_word *word) {
    if (!kw_scan_field(list, ' ', word) || !word->size) {
        return kw_forest_fail(reader, KW_MALFORMED, "no value at position %zu; there are fewer than the counts ask for", position);
    }
    return KW_OK;
}

kw_status kw_forest_real(const kw_forest_reader *reader, kw_scan *list, size_t position, double *value) {
    kw_word word;
    char text[64];
    kw_status status = list_word(reader, list, position, &word);
    if (status) {
        return status;
    }
    if (word.size >= sizeof text || !is_number_word(word)) {
        return kw_forest_fail(reader, KW_MALFORMED, "value %.*s at position %zu is not a finite decimal number of at most 63 characters",
                              KW_WORD(word), position);
    }
    memcpy(text, word.at, word.size);
    text[word.size] = 0;
    *value = strtod_l(text, NULL, reader->plain);
    if (!isfinite(*value)) {
        return kw_forest_fail(reader, KW_ILLEGAL, "value %s at position %zu is beyond the range of a double", text, position);
    }
    return KW_OK;
}

kw_status kw_forest_threshold(const kw_forest_reader *reader, kw_scan *list, size_t position, double *value) {
    kw_scan ahead = *list;
    kw_word word;
    bool below = kw_scan_field(&ahead, ' ', &word) && kw_word_is(word, "-inf");
    if (below || kw_word_is(word, "inf")) {
        *value = below ? -(double)INFINITY : (double)INFINITY;
        *list = ahead;
        return KW_OK;
    }
    return kw_forest_real(reader, list, position, value);
}

kw_status kw_forest_integer(const kw_forest_reader *reader, kw_scan *list, size_t position, int64_t low, int64_t high, int64_t *value) {
    kw_word word;
    kw_status status = list_word(reader, list, position, &word);
    if (!status && !kw_word_int(word, low, high, value)) {
        status = kw_forest_fail(reader, KW_ILLEGAL, "value %.*s at position %zu is no integer from %lld to %lld", KW_WORD(word), position,
                                (long long)low, (long long)high);
    }
    return status;
}

kw_status kw_forest_list_end(const kw_forest_reader *reader, kw_scan *list, size_t count) {
    bool ended = count ? !list->at : list->at == list->end;
    return ended ? KW_OK : kw_forest_fail(reader, KW_MALFORMED, "more than the %zu values that the counts ask for", count);
}

kw_forest_pair kw_forest_split_line(kw_word line) {
    const char *equals = line.size ? memchr(line.at, '=', line.size) : NULL;
    if (!equals) {
        return (kw_forest_pair){.key = line, .value = {line.at + line.size, 0}};
    }
    size_t size = (size_t)(equals - line.at);
    return (kw_forest_pair){{line.at, size}, {equals + 1, line.size - size - 1}, true};
}

size_t kw_forest_find_key(const char *const *names, size_t count, kw_word key) {
    size_t i = 0;
    while (i < count && !kw_word_is(key, names[i])) {
        i++;
    }
    return i;
}

static kw_status read_trees(kw_forest_reader *reader, const uint64_t *sizes) {
    kw_forest *forest = reader->forest;
    kw_status status = KW_OK;
    for (size_t i = 0; i < forest->trees && !status; i++) {
        const char *start = reader->scan.at ? reader->scan.at : reader->scan.end;
        reader->tree = (int64_t)i;
        status = kw_forest_read_tree(reader);
        reader->key = NULL;
        uint64_t size = (uint64_t)((reader->scan.at ? reader->scan.at : reader->scan.end) - start);
        if (!status && size != sizes[i]) {
            status = kw_forest_fail(reader, KW_ILLEGAL, "takes %llu bytes where tree_sizes says %llu; was the file edited?",
                                    (unsigned long long)size, (unsigned long long)sizes[i]);
        }
    }
    reader->tree = -1;
    return status;
}

static kw_status read_forest_model(kw_forest_reader *reader) {
    kw_word line;
    uint64_t *sizes = NULL;
    if (!kw_scan_line(&reader->scan, &line) || !kw_word_is(line, "tree")) {
        return kw_forest_fail(reader, KW_MALFORMED, "does not begin with the line \"tree\"; it is no text model of LightGBM");
    }
    kw_status status = kw_forest_read_head(reader, &sizes);
    status = status ? status : read_trees(reader, sizes);
    if (!status && (!kw_scan_line(&reader->scan, &line) || !kw_word_is(line, "end of trees"))) {
        status = kw_forest_fail(reader, KW_MALFORMED, "no line \"end of trees\" after the %zu trees that tree_sizes counts",
                                reader->forest->trees);
    }
    return status ? status : kw_forest_index_close(reader);
}

static void close_reader(kw_forest_reader *reader) {
    kw_forest_nodes *n = &reader->nodes;
    void *blocks[] = {n->value,    n->threshold, n->feature, n->leaves, n->order,  n->stack,
                      n->decision, n->left,      n->right,   n->seen,   n->bounds, reader->index.conditions};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        free(blocks[i]);
    }
    kw_hash_map_drop(&reader->index.numbers);
    if (reader->plain) {
        freelocale(reader->plain);
    }
}

kw_status kw_forest_read_text(kw_forest **out, const char *name, kw_scan text, kw_error *err) {
    kw_forest *forest = calloc(1, sizeof *forest);
    kw_forest_reader reader = {.forest = forest, .name = name, .scan = text, .tree = -1, .err = err};
    reader.plain = newlocale(LC_ALL_MASK, "C", NULL);
    kw_status status = forest && reader.plain ? read_forest_model(&reader) : kw_forest_no_memory(&reader);
    close_reader(&reader);
    if (status) {
        kw_forest_drop(&forest);
        return status;
    }
    size_t leaves = forest->tree_leaf[forest->trees], room[] = {reader.leaf_capacity, reader.leaf_capacity, reader.word_capacity};
    kw_array_trim(&forest->values, &room[0], leaves, sizeof *forest->values);
    kw_array_trim(&forest->splits, &room[1], leaves - forest->trees, sizeof *forest->splits);
    kw_array_trim(&forest->words, &room[2], forest->word_count, sizeof *forest->words);
    *out = forest;
    return KW_OK;
}
