/* import_type.c: types in benchdnn's words. */
#include "problem/import/import.h"

#include <string.h>

static const struct {
    const char *word;
    kw_dtype dtype;
} types[] = {
    {"f32", KW_FP32},    {"bf16", KW_BF16}, {"f16", KW_FP16},  {"f8_e4m3", KW_FP8},
    {"f8_e5m2", KW_BF8}, {"s8", KW_INT8},   {"s32", KW_INT32}, {"u8", KW_UINT8},
};
enum { TYPES = sizeof types / sizeof *types };

bool kw_import_benchdnn_type(kw_dtype *dtype, kw_word word) {
    for (int i = 0; i < TYPES; i++) {
        if (kw_word_is(word, types[i].word)) {
            *dtype = types[i].dtype;
            return true;
        }
    }
    return false;
}

bool kw_import_joined_type(kw_scan *scan, kw_word *word) {
    size_t left = (size_t)(scan->end - scan->at);
    *word = (kw_word){scan->at, 0};
    for (int i = 0; i < TYPES; i++) {
        size_t size = strlen(types[i].word);
        word->size = size <= left && size > word->size && !memcmp(scan->at, types[i].word, size) ? size : word->size;
    }
    word->size = word->size ? word->size : left; /* no type */
    scan->at += word->size;
    return word->size > 0;
}
