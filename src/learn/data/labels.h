/* labels.h: from measured times to what a model learns, and from what it says back to nanoseconds. What is slow counts with the time
 * that its few launches showed, at most 8 times the best: it is a bound, and how far beyond matters to nobody. What failed has no time;
 * it counts as 8 times the best, so that a selection of it is the worst there is. */
#ifndef KW_LEARN_DATA_LABELS_H
#define KW_LEARN_DATA_LABELS_H

#include "predict/model.h"
#include "learn/data/dataset.h"

enum { KW_LABEL_CLAMP = 8, KW_RANK_LEVELS = 31 };

/* The time of each pair that a label is made from; 0 where the problem group has no good pair. */
void kw_label_times(double *times, const kw_dataset *dataset);
/* The label of each pair with a time; 0 for the others. */
void kw_labels_make(float *label, const kw_dataset *dataset, const double *times, kw_model_quantity quantity);
/* What a raw score of a pair says in nanoseconds; for an order alone, any number that ascends with the time. */
double kw_label_ns(double score, kw_model_quantity quantity, double estimate_ns, const kw_group_work *work);

#endif
