/* resources.c: shared memory first: a kernel that wants too much of it cannot be launched at all, one that spills is slow. */
#include "measure/resources.h"

#include <inttypes.h>
#include <stdio.h>

kw_outcome kw_resources_check(const kw_blob_facts *facts, const kw_target *target, int64_t spill_limit, char detail[256]) {
    *detail = 0;
    if (target->lds > 0 && facts->lds > target->lds) {
        snprintf(detail, 256, "a block wants %d bytes of shared memory; %s gives %" PRId64, facts->lds, target->arch, target->lds);
        return KW_TOO_MUCH_LDS;
    }
    if (facts->spill_bytes > spill_limit) {
        snprintf(detail, 256, "%d bytes of registers of a thread are kept in memory (it has %d registers); %" PRId64 " are allowed",
                 facts->spill_bytes, facts->registers, spill_limit);
        return KW_SPILLS;
    }
    return KW_UNTRIED;
}
