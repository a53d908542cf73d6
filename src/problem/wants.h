/* wants.h: what a problem wants of a kernel's text besides operation and type. Catalogs list configs that want nothing; a config's text ends
 * with these words, each as NAME=VALUE, in the order of kw_want:
 *     x=uint8 fpmath=tf32 (or fast_accum) layout=first filter_order=any grouped=1 out=bf16 epilogue=bias:fp32+relu pitched=1 padded=1 joined=1
 * What a family serves with one text in any case, its configs do not say (config/config.c). */
#ifndef KW_PROBLEM_WANTS_H
#define KW_PROBLEM_WANTS_H

#include "problem/epilogue/epilogue.h"

/* A zeroed one wants nothing. */
typedef struct kw_wants {
    kw_epilogue epilogue;
    bool mixed; /* x has type x_dtype instead of the problem's */
    kw_dtype x_dtype;
    bool tf32;    /* elements of fp32 may be rounded to tf32 before they are multiplied (kw_problem.fpmath) */
    bool fast;    /* products of fp8 may be summed with few bits (the same) */
    bool first;   /* tensors have their channels first */
    bool filter;  /* the filter lies in another order than its layout's (kw_problem.filter_order) */
    bool grouped; /* a product's rows are of groups (problem/groups/groups.h) */
    bool pitched; /* tensors are parts of larger ones (problem/tensors/pitch.h) */
    bool padded; /* much of what a filter reads is padding (kw_problem_reads_padding), in one group: kernels of several have no such text */
    bool joined; /* a launch has several such products, each of its own sizes (kw_plans_run); no problem wants it, a config may say it */
} kw_wants;

typedef enum kw_want {
    KW_WANT_X,
    KW_WANT_FPMATH,
    KW_WANT_LAYOUT,
    KW_WANT_FILTER,
    KW_WANT_GROUPED,
    KW_WANT_OUT,
    KW_WANT_EPILOGUE,
    KW_WANT_PITCHED,
    KW_WANT_PADDED,
    KW_WANT_JOINED,
    KW_WANT_COUNT
} kw_want;

kw_wants kw_problem_wants(const kw_problem *problem);
bool kw_wants_nothing(const kw_wants *wants);
/* Whether kernels serve it as catalogs list them: it wants nothing. */
bool kw_problem_is_plain(const kw_problem *problem);
/* The first word in which they differ; KW_WANT_COUNT: they are the same. Both are as kw_problem_wants or kw_wants_read left them. */
kw_want kw_wants_differ(const kw_wants *a, const kw_wants *b);

/* One word as a text has it, or "no NAME" where it is not said. */
void kw_want_print(kw_line *line, const kw_wants *wants, kw_want want);
/* All that are said, a blank before each. */
void kw_wants_print(kw_line *line, const kw_wants *wants);
/* The word whose name this "NAME=VALUE" has; KW_WANT_COUNT: none. */
kw_want kw_want_of_word(kw_word word);
/* Its value goes into wants. KW_MALFORMED: it is none, or was there before; what names the text in the message. */
kw_status kw_wants_read(kw_wants *wants, kw_word word, const char *what, kw_error *err);

#endif
