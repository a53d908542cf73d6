/* host.h: a backend of host memory without threads, and one family of compiled-in kernels that compute by the reference, right or with a
 * seeded fault. With them the measuring code is tested by itself: each fault is one that real kernels have had. */
#ifndef KW_TESTS_HOST_H
#define KW_TESTS_HOST_H

#include "backend/backend.h"

/* One list: the word of the axis, what the kernel does wrong. */
#define HOST_FAULTS(X)                                                                                                                     \
    X(none, "right")                                                                                                                       \
    X(row_off_by_one, "each row holds the next one's values")                                                                              \
    X(swapped_group, "two groups (or batches) change places")                                                                              \
    X(missing_last_tile, "the last channels are written as zero")                                                                          \
    X(unwritten_tail, "the last element is not written")                                                                                   \
    X(unwritten_middle, "one element in the middle is not written")                                                                        \
    X(stale_result, "adds to what the result held")                                                                                        \
    X(stale_shared, "adds to what shared workspace held")                                                                                  \
    X(stale_thread, "adds to what thread workspace held")                                                                                  \
    X(past_end, "writes one element behind the result")                                                                                    \
    X(before_start, "writes one element before the result")                                                                                \
    X(packed_past_end, "writes one byte behind the packed weights")                                                                        \
    X(shared_past_end, "writes one byte behind the shared workspace")                                                                      \
    X(thread_past_end, "writes one byte behind the thread workspace")                                                                      \
    X(changes_x, "changes an element of the first tensor it reads")                                                                        \
    X(changes_w, "changes an element of the second tensor it reads")                                                                       \
    X(input_past_end, "writes behind a tensor it reads")                                                                                   \
    X(last_channel, "only the last channel is wrong, by one")                                                                              \
    X(last_element, "only the last element is wrong")                                                                                      \
    X(reads_past, "adds the element behind the first tensor it reads")                                                                     \
    X(ignores_packed, "reads w where it was packed beforehand")                                                                            \
    X(truncates, "cuts the result where it should round it")                                                                               \
    X(low_precision, "sums in the storage type")                                                                                           \
    X(nudges, "an fp32 result that is no whole number is off by one unit in the last place, which is allowed")                             \
    X(not_a_number, "one element is not a number")                                                                                         \
    X(tires, "is wrong from its 40th run on")

typedef enum host_fault {
#define HOST_FAULT(name, text) HOST_##name,
    HOST_FAULTS(HOST_FAULT)
#undef HOST_FAULT
        HOST_FAULT_COUNT
} host_fault;

enum { HOST_CACHE = 65536 }; /* bytes that its target says it has */

extern const kw_backend host_backend;
extern const kw_family host_family;

/* The config of a fault; packs: the kernel has a pack stage (forward and backward data only need one where weights are read). */
kw_config host_config(const kw_problem *problem, host_fault fault, bool packs);
const char *host_fault_name(host_fault fault);
/* Whether the fault shows on the problem at all. */
bool host_fault_shows(host_fault fault, const kw_problem *problem, bool packs);

#endif
