/* wants.c: the words of what a problem wants of a kernel's text. The comparison, the print and the reading below each go over all of kw_want,
 * so that a word more is a compiler's warning where it is missing. */
#include "problem/wants.h"

#include "problem/groups/groups.h"
#include "problem/names/names.h"
#include "problem/tensors/filter.h"
#include "problem/tensors/pitch.h"
#include "problem/view.h"

#include <string.h>

static const char *const names[KW_WANT_COUNT] = {
    [KW_WANT_X] = "x",
    [KW_WANT_FPMATH] = "fpmath",
    [KW_WANT_LAYOUT] = "layout",
    [KW_WANT_FILTER] = "filter_order",
    [KW_WANT_GROUPED] = "grouped",
    [KW_WANT_OUT] = "out",
    [KW_WANT_EPILOGUE] = "epilogue",
    [KW_WANT_PITCHED] = "pitched",
    [KW_WANT_PADDED] = "padded",
    [KW_WANT_JOINED] = "joined",
};

kw_wants kw_problem_wants(const kw_problem *problem) {
    kw_wants wants = {0};
    kw_epilogue_normalize(&wants.epilogue, &problem->epilogue);
    wants.mixed = problem->mixed && problem->x_dtype != problem->dtype;
    wants.x_dtype = wants.mixed ? problem->x_dtype : KW_FP32;
    wants.tf32 = problem->fpmath == KW_FPMATH_TF32;
    wants.fast = problem->fpmath == KW_FPMATH_FAST_ACCUM;
    wants.first = problem->op != KW_GEMM && problem->layout == KW_CHANNELS_FIRST;
    wants.filter = problem->op != KW_GEMM && kw_filter_order_normal(problem);
    wants.grouped = kw_problem_is_grouped(problem);
    wants.pitched = !kw_problem_is_dense(problem);
    wants.padded = problem->op != KW_GEMM && problem->conv.g == 1 && kw_problem_reads_padding(problem);
    return wants;
}

static bool same(const kw_wants *a, const kw_wants *b, kw_want want) {
    switch (want) {
    case KW_WANT_X:
        return a->mixed == b->mixed && a->x_dtype == b->x_dtype;
    case KW_WANT_FPMATH:
        return a->tf32 == b->tf32 && a->fast == b->fast;
    case KW_WANT_LAYOUT:
        return a->first == b->first;
    case KW_WANT_FILTER:
        return a->filter == b->filter;
    case KW_WANT_GROUPED:
        return a->grouped == b->grouped;
    case KW_WANT_OUT:
        return a->epilogue.converts == b->epilogue.converts && (!a->epilogue.converts || a->epilogue.output == b->epilogue.output);
    case KW_WANT_EPILOGUE:
        return kw_epilogue_same_steps(&a->epilogue, &b->epilogue);
    case KW_WANT_PITCHED:
        return a->pitched == b->pitched;
    case KW_WANT_PADDED:
        return a->padded == b->padded;
    case KW_WANT_JOINED:
        return a->joined == b->joined;
    case KW_WANT_COUNT:
        break;
    }
    return true;
}

kw_want kw_wants_differ(const kw_wants *a, const kw_wants *b) {
    kw_want want = 0;
    while (want < KW_WANT_COUNT && same(a, b, want)) {
        want++;
    }
    return want;
}

/* Asked about each config of a catalog: nearly all are zero to the last byte. */
bool kw_wants_nothing(const kw_wants *wants) {
    static const kw_wants none = {0};
    return !memcmp(wants, &none, sizeof none) || kw_wants_differ(wants, &none) == KW_WANT_COUNT;
}

bool kw_problem_is_plain(const kw_problem *problem) {
    kw_wants wants = kw_problem_wants(problem);
    return kw_wants_nothing(&wants);
}

static bool is_said(const kw_wants *wants, kw_want want) {
    return !same(wants, &(const kw_wants){0}, want);
}

void kw_want_print(kw_line *line, const kw_wants *wants, kw_want want) {
    if (!is_said(wants, want)) {
        kw_line_addf(line, "no %s", names[want]);
        return;
    }
    kw_line_addf(line, "%s=", names[want]);
    switch (want) {
    case KW_WANT_X:
        kw_line_addf(line, "%s", kw_dtype_name(wants->x_dtype));
        break;
    case KW_WANT_FPMATH:
        kw_line_addf(line, "%s", wants->fast ? "fast_accum" : "tf32");
        break;
    case KW_WANT_LAYOUT:
        kw_line_addf(line, "first");
        break;
    case KW_WANT_FILTER:
        kw_line_addf(line, "any");
        break;
    case KW_WANT_OUT:
        kw_line_addf(line, "%s", kw_dtype_name(wants->epilogue.output));
        break;
    case KW_WANT_EPILOGUE:
        kw_epilogue_print_steps(line, &wants->epilogue);
        break;
    case KW_WANT_GROUPED:
    case KW_WANT_PITCHED:
    case KW_WANT_PADDED:
    case KW_WANT_JOINED:
        kw_line_addf(line, "1");
        break;
    case KW_WANT_COUNT:
        break;
    }
}

void kw_wants_print(kw_line *line, const kw_wants *wants) {
    for (kw_want want = 0; want < KW_WANT_COUNT; want++) {
        if (is_said(wants, want)) {
            kw_line_addf(line, " ");
            kw_want_print(line, wants, want);
        }
    }
}

static kw_word name_of(kw_word word) {
    kw_word name = {word.at, 0};
    while (name.size < word.size && word.at[name.size] != '=') {
        name.size++;
    }
    return name;
}

kw_want kw_want_of_word(kw_word word) {
    kw_word name = name_of(word);
    kw_want want = 0;
    while (want < KW_WANT_COUNT && !(name.size < word.size && kw_word_is(name, names[want]))) {
        want++;
    }
    return want;
}

static kw_status read_flag(bool *flag, kw_word word, kw_word value, const char *only, const char *what, kw_error *err) {
    *flag = kw_word_is(value, only);
    return *flag ? KW_OK
                 : kw_fail(err, KW_MALFORMED, "%s: %.*s is not known; %.*s takes %s, or is left out", what, KW_WORD(word),
                           KW_WORD(name_of(word)), only);
}

static kw_status read_type(kw_dtype *dtype, kw_word word, kw_word value, const char *what, kw_error *err) {
    return kw_dtype_of_word(dtype, value) ? KW_OK : kw_fail(err, KW_MALFORMED, "%s: %.*s names no type", what, KW_WORD(word));
}

kw_status kw_wants_read(kw_wants *wants, kw_word word, const char *what, kw_error *err) {
    kw_want want = kw_want_of_word(word);
    if (want < KW_WANT_COUNT && is_said(wants, want)) {
        return kw_fail(err, KW_MALFORMED, "%s: %.*s says %s a second time; give it once", what, KW_WORD(word), names[want]);
    }
    size_t skip = name_of(word).size + 1;
    kw_word value = {word.at + skip, word.size - skip};
    switch (want) {
    case KW_WANT_X:
        wants->mixed = true;
        return read_type(&wants->x_dtype, word, value, what, err);
    case KW_WANT_FPMATH:
        wants->fast = kw_word_is(value, "fast_accum");
        return wants->fast ? KW_OK : read_flag(&wants->tf32, word, value, "tf32", what, err);
    case KW_WANT_LAYOUT:
        return read_flag(&wants->first, word, value, "first", what, err);
    case KW_WANT_FILTER:
        return read_flag(&wants->filter, word, value, "any", what, err);
    case KW_WANT_GROUPED:
        return read_flag(&wants->grouped, word, value, "1", what, err);
    case KW_WANT_OUT:
        wants->epilogue.converts = true;
        return read_type(&wants->epilogue.output, word, value, what, err);
    case KW_WANT_EPILOGUE:
        return kw_epilogue_read_steps(&wants->epilogue, value, KW_FP32, err);
    case KW_WANT_PITCHED:
        return read_flag(&wants->pitched, word, value, "1", what, err);
    case KW_WANT_PADDED:
        return read_flag(&wants->padded, word, value, "1", what, err);
    case KW_WANT_JOINED:
        return read_flag(&wants->joined, word, value, "1", what, err);
    case KW_WANT_COUNT:
        break;
    }
    return kw_fail(err, KW_MALFORMED, "%s: %.*s is not known", what, KW_WORD(word));
}
