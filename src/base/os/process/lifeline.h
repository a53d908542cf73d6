/* lifeline.h: a process group that ends with this process, however that ends.
 *
 * A pipe whose writing end this process alone holds, and whose reading end the group inherits. When the writing end is closed, by
 * kw_lifeline_close or by the kernel as this process ends (kill -9 included), the kernel itself sends the group the signal that was asked
 * for with O_ASYNC and F_SETSIG: SIGKILL. PR_SET_PDEATHSIG would reach the first process of the group alone, and a compiler has children.
 * A fork of this process that does not exec holds the writing end, too; then the group ends with the last of them. */
#ifndef KW_BASE_OS_PROCESS_LIFELINE_H
#define KW_BASE_OS_PROCESS_LIFELINE_H

#include <stdbool.h>

typedef struct kw_lifeline {
    int held, given; /* the writing end; the reading end, which a child of the group must inherit; both above 9, -1 for none */
} kw_lifeline;

/* false with errno: no descriptors. */
bool kw_lifeline_open(kw_lifeline *line);
/* Names the group, which was started with a copy of line->given. */
void kw_lifeline_tie(const kw_lifeline *line, int group);
/* Ends what is left of the group. */
void kw_lifeline_close(kw_lifeline *line);

#endif
