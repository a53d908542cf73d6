/* trained_on.c: prints and reads the sorted hashes of shapes and the families. */
#include "learn/data/trained_on.h"

#include "base/order.h"
#include "base/os/file.h"
#include "predict/model_spec.h"
#include "base/format/gzip.h"
#include "base/hash.h"
#include "learn/model/forest_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_LIMIT = 256 << 20, PATH_SIZE = 4096 };

static const char head[] = "kernelwright-trained-on 1";

static int by_bucket_text(const void *left, const void *right) {
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool read_shape(kw_word word, uint64_t *value) {
    *value = 0;
    for (size_t i = 0; i < word.size; i++) {
        char c = word.at[i];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0) {
            return false;
        }
        *value = *value << 4 | (uint64_t)digit;
    }
    return word.size == 16;
}

static kw_status read_trained_on_lines(kw_trained_on *trained, const char *path, const kw_text *text, kw_error *err) {
    kw_scan scan = {text->data, text->data + text->size};
    kw_word line;
    int64_t number = 1;
    if (!kw_scan_line(&scan, &line) || !kw_word_is(line, head)) {
        return kw_fail(err, KW_MALFORMED, "%.300s: the first line must be '%s'", path, head);
    }
    /* No line is shorter than 8 characters. */
    size_t most = text->size / 8 + 1;
    trained->shapes = calloc(most, sizeof *trained->shapes);
    trained->families = calloc(most, sizeof *trained->families);
    if (!trained->shapes || !trained->families) {
        return kw_fail_memory(err, path);
    }
    while (kw_scan_line(&scan, &line)) {
        number++;
        if (kw_word_starts(line, "shape ") && trained->shape_count < most &&
            read_shape((kw_word){line.at + 6, line.size - 6}, &trained->shapes[trained->shape_count])) {
            trained->shape_count++;
        } else if (kw_word_starts(line, "family ") && line.size > 7 && trained->family_count < most) {
            trained->families[trained->family_count++] = kw_hash64(line.at + 7, line.size - 7);
        } else {
            return kw_fail(err, KW_MALFORMED, "%.300s:%" PRId64 ": neither 'shape' with 16 digits nor 'family' with a name", path, number);
        }
    }
    qsort(trained->shapes, trained->shape_count, sizeof *trained->shapes, kw_order_uint64_items);
    qsort(trained->families, trained->family_count, sizeof *trained->families, kw_order_uint64_items);
    trained->known = true;
    return KW_OK;
}

/* text: of the file, unpacked; it stays empty where there is no file. */
static kw_status read_trained_on(kw_trained_on *trained, kw_text *text, const char *folder, kw_error *err) {
    char path[PATH_SIZE];
    kw_arena arena = {0};
    char *data = NULL;
    size_t size = 0;
    *trained = (kw_trained_on){0};
    const char *place = kw_model_folder(&arena, folder);
    if (!place || (size_t)snprintf(path, sizeof path, "%s/trained_on.txt.gz", place) >= sizeof path) {
        kw_arena_drop(&arena);
        return kw_fail(err, KW_ILLEGAL, "the folder's name is longer than %d characters", PATH_SIZE - 32);
    }
    if (access(path, F_OK)) {
        kw_arena_drop(&arena);
        return KW_OK;
    }
    kw_status status = kw_file_read(&arena, path, FILE_LIMIT, &data, &size, err);
    status = status ? status : kw_gzip_unpack_any(text, data, size, FILE_LIMIT, err);
    status = status ? status : read_trained_on_lines(trained, path, text, err);
    kw_arena_drop(&arena);
    if (status) {
        kw_trained_on_drop(trained);
    }
    return status;
}

kw_status kw_trained_on_read(kw_trained_on *trained, const char *folder, kw_error *err) {
    kw_text text = {0};
    kw_status status = read_trained_on(trained, &text, folder, err);
    kw_text_drop(&text);
    return status;
}

void kw_trained_on_drop(kw_trained_on *trained) {
    free(trained->shapes);
    free(trained->families);
    *trained = (kw_trained_on){0};
}

/* Lines of the text of the model before, terminated where they ended. */
static void take_lines(uint64_t *shapes, size_t *shape_count, const char **families, size_t *family_count, kw_text *text) {
    kw_scan scan = {text->data, text->data + text->size};
    kw_word line;
    while (text->data && kw_scan_line(&scan, &line)) {
        text->data[line.at + line.size - text->data] = 0;
        if (kw_word_starts(line, "shape ")) {
            *shape_count += read_shape((kw_word){line.at + 6, line.size - 6}, &shapes[*shape_count]);
        } else if (kw_word_starts(line, "family ")) {
            families[(*family_count)++] = line.at + 7;
        }
    }
}

static void print_lines(kw_text *text, const uint64_t *shapes, size_t shape_count, const char *const *families, size_t family_count) {
    kw_text_addf(text, "%s\n", head);
    for (size_t i = 0; i < shape_count; i++) {
        if (!i || shapes[i] != shapes[i - 1]) {
            kw_text_addf(text, "shape %016" PRIx64 "\n", shapes[i]);
        }
    }
    for (size_t i = 0; i < family_count; i++) {
        if (!i || strcmp(families[i], families[i - 1]) != 0) {
            kw_text_addf(text, "family %s\n", families[i]);
        }
    }
}

kw_status kw_trained_on_print(kw_text *text, const kw_dataset *dataset, const char *before, kw_error *err) {
    kw_text had = {0};
    kw_trained_on checked = {0};
    size_t count = dataset->problem_group_count, shape_count = count, family_count = count;
    kw_status status = before ? read_trained_on(&checked, &had, before, err) : KW_OK;
    bool silent = before && !checked.known;
    kw_trained_on_drop(&checked);
    size_t most = count + had.size / 8 + 2; /* no line is shorter than 8 characters */
    uint64_t *shapes = calloc(most, sizeof *shapes);
    const char **families = calloc(most, sizeof *families);
    if (!status && (!shapes || !families)) {
        status = kw_fail_memory(err, "a list of what was trained on");
    }
    if (!status && !silent) {
        for (size_t i = 0; i < count; i++) {
            shapes[i] = kw_fold_group(&dataset->problem_groups[i], KW_BY_SHAPE);
            families[i] = dataset->problem_groups[i].bucket;
        }
        take_lines(shapes, &shape_count, families, &family_count, &had);
        qsort(shapes, shape_count, sizeof *shapes, kw_order_uint64_items);
        qsort(families, family_count, sizeof *families, by_bucket_text);
        print_lines(text, shapes, shape_count, families, family_count);
        status = text->failed ? kw_fail_memory(err, "a list of what was trained on") : KW_OK;
    }
    free(shapes);
    free(families);
    kw_text_drop(&had);
    return status;
}

bool kw_trained_on_has(const kw_trained_on *trained, const kw_problem_group *problem_group, kw_grouping grouping) {
    uint64_t group = kw_fold_group(problem_group, grouping);
    return grouping == KW_BY_SHAPE
               ? trained->shape_count && bsearch(&group, trained->shapes, trained->shape_count, sizeof group, kw_order_uint64_items)
               : trained->family_count && bsearch(&group, trained->families, trained->family_count, sizeof group, kw_order_uint64_items);
}
