/* epilogue.h: the steps of an epilogue: one table of their names, tensors and parameters, their text, and what they mean, in double. The
 * generator (families/epilogue_text.h) writes kernel text from the same table. */
#ifndef KW_PROBLEM_EPILOGUE_EPILOGUE_H
#define KW_PROBLEM_EPILOGUE_EPILOGUE_H

#include "base/status.h"
#include "base/text.h"

/* How a step's tensor lies to the result: it has none, one value, one a channel, one a pixel or row, or one an element. */
typedef enum kw_extra_shape { KW_EXTRA_NONE = 0, KW_EXTRA_ONE, KW_EXTRA_CHANNEL, KW_EXTRA_ROW, KW_EXTRA_ALL } kw_extra_shape;

/* What a step is in a text, e.g. "clamp:0:6" or "add:bf16". */
typedef struct kw_epilogue_info {
    const char *name;
    kw_extra_shape shape;
    bool adds;           /* its tensor to the value; else it multiplies, or writes */
    int params;          /* that a text may give behind colons, after the type */
    double low[2];       /* each where a text does not; NAN: it must */
    const char *formula; /* for people */
    kw_dtype dtype;      /* of its tensor where a text says none; one of the result's shape has the result's */
} kw_epilogue_info;

const kw_epilogue_info *kw_epilogue_info_of(kw_epilogue_op op);

/* Whether it says nothing; whether sums are written as they are, though zero points may have entered them, or bias_gradient stand beside them. */
bool kw_epilogue_is_none(const kw_epilogue *epilogue);
bool kw_epilogue_is_bare(const kw_epilogue *epilogue);
/* Its step zero_x, which is the first and has the first tensor; NULL: it has none. The tensor's value, 0 without one. */
const kw_epilogue_step *kw_epilogue_zero_x(const kw_epilogue *epilogue);
double kw_epilogue_zero_of_x(const kw_epilogue *epilogue, const void *const extras[KW_EXTRA_MAX]);
/* The number of its step zero_w or zero_w_channel, and of that one's tensor: 0 or, behind zero_x, 1; -1: it has none. The value that is
 * subtracted from w for a channel. What kernels of a CPU take off for it, sums of x, has the place behind the last of its tensors. */
int kw_epilogue_zero_w(const kw_epilogue *epilogue);
double kw_epilogue_zero_of_w(const kw_epilogue *epilogue, const void *const extras[KW_EXTRA_MAX], int64_t channel);
int kw_epilogue_tensors(const kw_epilogue *epilogue);
/* Its step bias_gradient, which is the first and whose tensor, the first, is written; NULL: it has none. */
const kw_epilogue_step *kw_epilogue_bias_gradient(const kw_epilogue *epilogue);
/* Whether the step's tensor is multiplied by that of the step before it. */
bool kw_epilogue_has_beta(const kw_epilogue *epilogue, int32_t step);
/* Whether the step leaves each value as it is: what it asks for is done elsewhere. */
bool kw_epilogue_step_is_silent(const kw_epilogue_step *step);
/* Of normalized ones; the result's type is another matter. */
bool kw_epilogue_same_steps(const kw_epilogue *a, const kw_epilogue *b);
/* Copies what means something into a zeroed one. */
void kw_epilogue_normalize(kw_epilogue *to, const kw_epilogue *from);

/* Whether it has a tensor. */
static inline bool kw_epilogue_step_has_tensor(const kw_epilogue_step *step) {
    return kw_epilogue_info_of(step->op)->shape != KW_EXTRA_NONE;
}

/* The value of "epilogue=...": steps with + between, or commas. all: the type of a tensor of the result's shape where none is said; the others'
 * is fp32. */
kw_status kw_epilogue_read_steps(kw_epilogue *epilogue, kw_word text, kw_dtype all, kw_error *err);
/* "STEPS"; " out=TYPE epilogue=STEPS", each where it is not the default. */
void kw_epilogue_print_steps(kw_line *line, const kw_epilogue *epilogue);
void kw_epilogue_print(kw_line *line, const kw_epilogue *epilogue);
/* Whether the op can have it; part of kw_problem_check. */
kw_status kw_epilogue_check(const kw_epilogue *epilogue, kw_op op, kw_dtype dtype, kw_error *err);

/* A sum on its way to the result: its value, by how much a kernel's may differ, and the magnitude of what it was formed of. */
typedef struct kw_epilogue_value {
    double value, bound, magnitude;
} kw_epilogue_value;

/* All steps on one element of the result (flat index, its memory order). The bound grows by what fp32 rounding and the activations'
 * approximations may add: nothing where each step is exact in fp32. */
void kw_epilogue_apply(kw_epilogue_value *value, const kw_problem *problem, const void *const extras[KW_EXTRA_MAX], int64_t index);
/* The channel and the row of an element of the result. */
void kw_result_place(int64_t *channel, int64_t *row, const kw_problem *problem, int64_t index);
/* One step on a value, t being what its tensor has. */
double kw_epilogue_step_value(const kw_epilogue_step *step, double value, double t);

#endif
