/* benchdnn_batch.h: benchdnn's options in force. In its batch files an option holds for all descriptors below it until it is given again or --reset, and
 * an option may list values, of which each combination is meant. */
#ifndef KW_SPACE_LOGS_BENCHDNN_BATCH_H
#define KW_SPACE_LOGS_BENCHDNN_BATCH_H

#include "base/container/arena.h"
#include "base/text.h"

enum { KW_BATCH_OPTIONS = 32, KW_BATCH_COMBINATIONS = 256, KW_BATCH_OPTION_SIZE = 4096 };

/* A zeroed one is empty. */
typedef struct kw_benchdnn_batch {
    kw_word options[KW_BATCH_OPTIONS]; /* each "--name=value" */
    int count;
    kw_arena arena; /* their texts */
    bool failed;    /* for want of memory */
} kw_benchdnn_batch;

/* Whether a word is "--name..."; a ruler of dashes is none. */
bool kw_benchdnn_batch_is_option(kw_word word);
/* Puts an option in force in place of one of its name; an empty value takes it back. false for more or longer ones than a batch has. */
bool kw_benchdnn_batch_set(kw_benchdnn_batch *batch, kw_word option);
/* How many combinations the options' values have; 0 for more than KW_BATCH_COMBINATIONS. */
int kw_benchdnn_batch_combinations(const kw_benchdnn_batch *batch);
/* Appends the options of one combination, a blank in front of each. */
void kw_benchdnn_batch_print(kw_text *line, const kw_benchdnn_batch *batch, int combination);
void kw_benchdnn_batch_drop(kw_benchdnn_batch *batch);

#endif
