/* filter.h: in which order the elements of a convolution's filter lie (kw_problem.filter_order). K counts the output channels of all groups, C
 * the input channels of a group, and the taps follow each other as depth, height, width: so each element's place is a sum of three steps. */
#ifndef KW_PROBLEM_TENSORS_FILTER_H
#define KW_PROBLEM_TENSORS_FILTER_H

#include "base/text.h"

#include <kernelwright.h>

/* Elements from an output channel to the next, from an input channel to the next, from a tap to the next. */
enum { KW_FILTER_STEP_K, KW_FILTER_STEP_C, KW_FILTER_STEP_TAP, KW_FILTER_STEPS };
void kw_filter_steps(int64_t step[KW_FILTER_STEPS], const kw_problem *problem, kw_filter_order order);

/* "krsc", as a problem's text has it behind filter=; all of them with commas between. */
const char *kw_filter_order_name(kw_filter_order order);
extern const char kw_filter_order_words[];
bool kw_filter_order_of_word(kw_filter_order *order, kw_word word);

/* The order by name, also where the problem leaves it to its layout. */
kw_filter_order kw_filter_order_of(const kw_problem *problem);
/* What a normal problem says: KW_FILTER_OF_LAYOUT where each element lies where the layout has it, else the first order that is the same. */
kw_filter_order kw_filter_order_normal(const kw_problem *problem);

#endif
