/* pitch.h: tensors that are parts of larger ones. Their elements have two numbers: the dense index, as if there were no gaps, and the place,
 * how many elements of memory lie before it. Both are the same where there are none. */
#ifndef KW_PROBLEM_PITCH_H
#define KW_PROBLEM_PITCH_H

#include "base/status.h"

/* A matrix of a product as it lies in memory: lines of so many elements that follow each other. */
typedef struct kw_matrix {
    int64_t batch, lines, length;
    int64_t line_step, batch_step; /* elements from one to the next; batch_step 0: one matrix for all */
    bool columns;                  /* lines are columns */
} kw_matrix;

kw_matrix kw_problem_matrix(const kw_problem *problem, kw_tensor tensor);

/* Whether no pitch says anything. Inline: each look-up of a plan asks. */
static inline bool kw_problem_is_dense(const kw_problem *problem) {
    int64_t any = 0;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        for (int i = 0; i < KW_PITCHES; i++) {
            any |= problem->pitch[t][i];
        }
    }
    return !any;
}

/* Pitches that say what is so anyway become 0, in a problem whose other members stand. */
void kw_pitches_normalize(kw_problem *problem);
kw_status kw_pitches_check(const kw_problem *problem, kw_error *err);

/* The words of pitches in a problem's text, "lda" to "ldc" and "stridea" to "stridec", each followed by its number. */
extern const char *const kw_pitch_words[KW_TENSOR_COUNT][2];

/* Elements, gaps not counted. */
int64_t kw_problem_values(const kw_problem *problem, kw_tensor tensor);
int64_t kw_problem_place(const kw_problem *problem, kw_tensor tensor, int64_t index);
/* -1: a gap. */
int64_t kw_problem_index(const kw_problem *problem, kw_tensor tensor, int64_t place);

#endif
