/* names.c: the tables of names.h. */
#include "problem/names/names.h"

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

/* What frameworks call the convolutions' layouts. The channels of all groups lie one group behind the other, so these are the same memory. */
static const struct {
    const char *word;
    kw_layout layout;
    int32_t ndim;
} framework_layouts[] = {
    {"nwc", KW_CHANNELS_LAST, 1},  {"nhwc", KW_CHANNELS_LAST, 2},  {"ndhwc", KW_CHANNELS_LAST, 3},
    {"ncw", KW_CHANNELS_FIRST, 1}, {"nchw", KW_CHANNELS_FIRST, 2}, {"ncdhw", KW_CHANNELS_FIRST, 3},
};

/* What others call the types; KW_DTYPE_COUNT: a type that no kernel here has. */
static const struct {
    const char *word;
    kw_dtype dtype;
} other_dtypes[] = {
    {"float32", KW_FP32},
    {"float", KW_FP32},
    {"single", KW_FP32},
    {"f32", KW_FP32},
    {"bfloat16", KW_BF16},
    {"float16", KW_FP16},
    {"half", KW_FP16},
    {"f16", KW_FP16},
    {"float8_e4m3fn", KW_FP8},
    {"f8_e4m3", KW_FP8},
    {"fp8_e4m3", KW_FP8},
    {"e4m3", KW_FP8},
    {"float8_e5m2", KW_BF8},
    {"f8_e5m2", KW_BF8},
    {"fp8_e5m2", KW_BF8},
    {"e5m2", KW_BF8},
    {"s8", KW_INT8},
    {"i8", KW_INT8},
    {"char", KW_INT8},
    {"fp64", KW_DTYPE_COUNT},
    {"f64", KW_DTYPE_COUNT},
    {"float64", KW_DTYPE_COUNT},
    {"double", KW_DTYPE_COUNT},
    {"tf32", KW_DTYPE_COUNT},
    {"u8", KW_UINT8},
    {"int4", KW_DTYPE_COUNT},
    {"s4", KW_DTYPE_COUNT},
    {"i4", KW_DTYPE_COUNT},
    {"fp4", KW_DTYPE_COUNT},
    {"int16", KW_DTYPE_COUNT},
};

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
    return (size_t)dtype < KW_DTYPE_COUNT && dtype != KW_INT32 && dtype != KW_UINT8;
}

size_t kw_dtype_size(kw_dtype dtype) {
    return (size_t)dtype < KW_DTYPE_COUNT ? dtypes[dtype].size : 0;
}

kw_dtype kw_dtype_output(kw_dtype dtype) {
    return (size_t)dtype < KW_DTYPE_COUNT ? dtypes[dtype].output : KW_DTYPE_COUNT;
}

/* Whether a problem's size could look so: a letter and digits. */
static bool looks_like_size(const char *word) {
    return !word[1 + strspn(word + 1, "0123456789")];
}

bool kw_dtype_of_other_word(kw_dtype *dtype, bool *plain, kw_word word) {
    for (size_t i = 0; i < sizeof other_dtypes / sizeof *other_dtypes; i++) {
        if (kw_word_is(word, other_dtypes[i].word)) {
            *dtype = other_dtypes[i].dtype;
            *plain = *dtype < KW_DTYPE_COUNT && !looks_like_size(other_dtypes[i].word);
            return true;
        }
    }
    return false;
}

bool kw_op_find(kw_op *op, const char *name) {
    return op && name && kw_op_of_word(op, (kw_word){name, strlen(name)});
}

bool kw_dtype_find(kw_dtype *dtype, const char *name) {
    kw_dtype found;
    bool plain;
    kw_word word = {name, name ? strlen(name) : 0};
    if (!dtype || (!kw_dtype_of_word(&found, word) && !kw_dtype_of_other_word(&found, &plain, word)) || !kw_dtype_is_input(found)) {
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
    for (size_t i = 0; i < sizeof framework_layouts / sizeof *framework_layouts; i++) {
        if (kw_word_is(word, framework_layouts[i].word)) {
            *layout = framework_layouts[i].layout;
            *ndim = framework_layouts[i].ndim;
            return true;
        }
    }
    return false;
}

const char *kw_axis_name(int axis) {
    static const char *const names[] = {"depth", "height", "width"};
    assert(axis >= 0 && axis < 3);
    return names[axis];
}
