/* pitch.h: tensors that are parts of larger ones. Their elements have two numbers: the dense index, as if there were no gaps, and the place,
 * how many elements of memory lie before it. Both are the same where there are none. */
#ifndef KW_PROBLEM_TENSORS_PITCH_H
#define KW_PROBLEM_TENSORS_PITCH_H

#include "base/status.h"

/* A matrix of a product as it lies in memory: lines of so many elements that follow each other. */
typedef struct kw_matrix {
    int64_t batch, lines, length;
    int64_t line_step, batch_step; /* elements from one to the next; batch_step 0: one matrix for all */
    bool columns;                  /* lines are columns */
} kw_matrix;

/* x or y of a convolution: runs of elements that follow each other, and the other axes, from the innermost of a dense tensor on. Channels last:
 * all channels, then columns, rows, planes, images; channels first: columns, then rows, planes, channels, images. */
typedef struct kw_image {
    int64_t length, extent[KW_PITCHES], step[KW_PITCHES];
} kw_image;

kw_image kw_problem_image(const kw_problem *problem, kw_tensor tensor);
/* Elements from an image to the next, from a plane, row and column to the next, and from a channel to the next. */
enum { KW_STEP_IMAGE, KW_STEP_PLANE, KW_STEP_ROW, KW_STEP_COLUMN, KW_STEP_CHANNEL, KW_STEP_COUNT };
void kw_problem_steps(int64_t step[KW_STEP_COUNT], const kw_problem *problem, kw_tensor tensor);

/* Whether pixels of a channels-last tensor are one distance apart in all images, or those of each channel of a channels-first one lie together. */
bool kw_problem_pixels_are_even(const kw_problem *problem, kw_tensor tensor);

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
/* Of a convolution "ldx" or "ldy", then the letter of an axis, in the order of kw_image. */
const char *kw_pitch_letters(kw_layout layout);

/* Elements, gaps not counted. */
int64_t kw_problem_values(const kw_problem *problem, kw_tensor tensor);
int64_t kw_problem_place(const kw_problem *problem, kw_tensor tensor, int64_t index);
/* -1: a gap. */
int64_t kw_problem_index(const kw_problem *problem, kw_tensor tensor, int64_t place);

#endif
