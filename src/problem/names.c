/* names.c: the tables of names.h. */
#include "problem/names.h"

#include <assert.h>
#include <string.h>

#define KW_PLUS_ONE(...) +1
_Static_assert(0 KW_OPS(KW_PLUS_ONE, ) == KW_OP_COUNT, "each operation has a line in KW_OPS");
_Static_assert(0 KW_DTYPES(KW_PLUS_ONE, ) == KW_DTYPE_COUNT, "each type has a line in KW_DTYPES");
#undef KW_PLUS_ONE

static const char *const op_names[KW_OP_COUNT] = {
#define KW_OP_ROW(id, name) [KW_##id] = name,
    KW_OPS(KW_OP_ROW, )
#undef KW_OP_ROW
};

static const struct {
    const char *name;
    size_t size;
    kw_dtype output;
} dtypes[KW_DTYPE_COUNT] = {
#define KW_DTYPE_ROW(id, name, size, output) [KW_##id] = {name, size, KW_##output},
    KW_DTYPES(KW_DTYPE_ROW, )
#undef KW_DTYPE_ROW
};

/* By number of spatial axes; GEMM has none. */
static const char *const layout_names[][4] = {
    [KW_RCR] = {"rcr"},
    [KW_RRR] = {"rrr"},
    [KW_CRR] = {"crr"},
    [KW_CCR] = {"ccr"},
    [KW_CHANNELS_LAST] = {NULL, "nwgc", "nhwgc", "ndhwgc"},
    [KW_CHANNELS_FIRST] = {NULL, "ngcw", "ngchw", "ngcdhw"},
};
_Static_assert(sizeof layout_names / sizeof *layout_names == KW_LAYOUT_COUNT, "each layout has a name");

const char *kw_op_name(kw_op op) {
    return (size_t)op < KW_OP_COUNT ? op_names[op] : "unknown";
}

bool kw_op_of_word(kw_op *op, kw_word word) {
    for (int i = 0; i < KW_OP_COUNT; i++) {
        if (kw_word_is(word, op_names[i])) {
            *op = (kw_op)i;
            return true;
        }
    }
    return false;
}

const char *kw_dtype_name(kw_dtype dtype) {
    return (size_t)dtype < KW_DTYPE_COUNT ? dtypes[dtype].name : "unknown";
}

bool kw_dtype_of_word(kw_dtype *dtype, kw_word word) {
    for (int i = 0; i < KW_DTYPE_COUNT; i++) {
        if (kw_word_is(word, dtypes[i].name)) {
            *dtype = (kw_dtype)i;
            return true;
        }
    }
    return false;
}

bool kw_dtype_is_input(kw_dtype dtype) {
    return (size_t)dtype < KW_DTYPE_COUNT && dtype != KW_INT32;
}

size_t kw_dtype_size(kw_dtype dtype) {
    return (size_t)dtype < KW_DTYPE_COUNT ? dtypes[dtype].size : 0;
}

kw_dtype kw_dtype_output(kw_dtype dtype) {
    return (size_t)dtype < KW_DTYPE_COUNT ? dtypes[dtype].output : KW_DTYPE_COUNT;
}

bool kw_op_find(kw_op *op, const char *name) {
    return op && name && kw_op_of_word(op, (kw_word){name, strlen(name)});
}

bool kw_dtype_find(kw_dtype *dtype, const char *name) {
    kw_dtype found;
    if (!dtype || !name || !kw_dtype_of_word(&found, (kw_word){name, strlen(name)}) || !kw_dtype_is_input(found)) {
        return false;
    }
    *dtype = found;
    return true;
}

const char *kw_op_names(void) {
    return KW_OP_WORDS(" ");
}

const char *kw_dtype_names(void) {
    return KW_DTYPE_WORDS(" ");
}

const char *kw_layout_name(kw_layout layout, int ndim) {
    return (size_t)layout < KW_LAYOUT_COUNT && ndim >= 0 && ndim <= 3 ? layout_names[layout][ndim] : NULL;
}

bool kw_layout_is_gemm(kw_layout layout) {
    return kw_layout_name(layout, 0) != NULL;
}

bool kw_layout_of_word(kw_layout *layout, int32_t *ndim, kw_word word) {
    for (int i = 0; i < KW_LAYOUT_COUNT; i++) {
        for (int n = 0; n <= 3; n++) {
            if (layout_names[i][n] && kw_word_is(word, layout_names[i][n])) {
                *layout = (kw_layout)i;
                *ndim = n;
                return true;
            }
        }
    }
    return false;
}

const char *kw_axis_name(int axis) {
    static const char *const names[] = {"depth", "height", "width"};
    assert(axis >= 0 && axis < 3);
    return names[axis];
}
