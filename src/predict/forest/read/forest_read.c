/* forest_read.c: the frame of a LightGBM text model: opening, and the order of the parts.
 *
 * The text is "tree", a head of key=value lines, an empty line, the trees, "end of trees", and notes that scoring does not need. Each
 * key is known, comes once, and has as many values as its rule says; tree_sizes must agree with where the trees are. Nothing is
 * believed: a count is only used once as many values were read. */
#include "predict/forest/read/forest_read.h"

#include "base/container/array.h"

#include <stdlib.h>

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
