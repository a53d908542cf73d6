/* machine_change.h: how a machine that others share changed between two timings of the same kernels, as their records tell it, and times put as
 * of its faster state. */
#ifndef KW_MEASURE_MACHINE_CHANGE_H
#define KW_MEASURE_MACHINE_CHANGE_H

#include "measure/measure.h"

/* Where all kernels are slower than they were, or all faster, the machine has changed, at least as much as the one that changed least: so many
 * times as slow. 1: it has not, as far as they tell. before_ns: what each took, 0 where that is not known. */
double kw_machine_change(const double before_ns[], const kw_record now[], size_t count);
/* All times of a record by so much. */
void kw_record_scale(kw_record *record, double by);
/* Times below best_ns are put up to it. The few that tell of the machine may be slower by themselves: what others gain by that is to stand beside
 * the best, not ahead of it. */
void kw_record_keep_behind(kw_record records[], size_t count, double best_ns);

#endif
