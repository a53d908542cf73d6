/* forest_kernel.h: the part of the evaluator that is compiled once for each instruction set (forest_kernel.c), and the memory it works on.
 *
 * Candidates are bits: a row is one bit for each that is asked about, in few words or padded to whole vectors. For each condition that the
 * candidates do not answer alike there is a row of those that go left. A tree is walked once for all candidates: a split is two ANDs over a
 * row. */
#ifndef KW_PREDICT_FOREST_FOREST_KERNEL_H
#define KW_PREDICT_FOREST_FOREST_KERNEL_H

#include "predict/forest/forest_model.h"

enum {
    KW_FOREST_NARROW = 4,     /* rows of at most so many words are handled word by word */
    KW_FOREST_WORD_GROUP = 8, /* others are padded to whole vectors: so many words in the widest */
    KW_FOREST_BATCH = 4,      /* trees whose leaves are added in one pass over the scores */
    KW_FOREST_PLANES = 16,    /* bits of a leaf's number, by KW_FOREST_MAX_TREE_LEAVES */
    KW_FOREST_SLOTS = 18,     /* masks alive at once: the smaller side of a split is walked first, so at most log2(leaves) + 1 */
    KW_FOREST_TABLE = 64      /* a tree's leaf values are followed by readable memory up to so many */
};

/* The answer to a condition: all candidates go right, all go left, or they go as row (answer - KW_ANSWER_ROW) says. */
enum { KW_ANSWER_RIGHT, KW_ANSWER_LEFT, KW_ANSWER_ROW };

typedef struct kw_forest_job {
    const kw_forest *forest;
    size_t words;            /* of a row: at most KW_FOREST_NARROW, or a multiple of the kernel's group */
    size_t candidates;       /* of the call */
    size_t used_words;       /* those that hold candidates */
    const uint32_t *answers; /* one a condition */
    const uint64_t *rows;
    const uint64_t *all;              /* the row of all candidates of the call, at least one */
    uint64_t *slots[KW_FOREST_SLOTS]; /* a row each */
    uint64_t *planes;                 /* KW_FOREST_PLANES rows for each tree of a batch: bit p of each candidate's leaf number */
    double *values;                   /* for each tree of a batch table_size values: of the leaves reached, by number */
    size_t table_size;
    double *scores; /* 64 for each used word */
} kw_forest_job;

typedef struct kw_forest_kernel {
    const char *instructions;
    size_t group; /* words of a vector */
    /* Sum of all trees for all candidates into job->scores. */
    void (*score)(kw_forest_job *job);
} kw_forest_kernel;

extern const kw_forest_kernel kw_forest_baseline;
#ifdef KW_FOREST_X86
extern const kw_forest_kernel kw_forest_avx2, kw_forest_avx512;
#endif

#endif
