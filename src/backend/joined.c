/* joined.c: the table of a launch that joins products (kernels/prelude/joined.h). */
#include "backend/backend.h"

#include "prelude/joined.h"

#include <string.h>

_Static_assert((int)KW_JOINED_MAX == KW_BACKEND_JOINED_MAX, "a launch joins as many calls as a table has room for");

int64_t kw_joined_fill(kw_joined *table, const kw_joined_part parts[], size_t count) {
    int32_t order[KW_JOINED_MAX];
    int64_t units = 0;
    for (size_t i = 0; i < count; i++) { /* insertion: there are few, and they often come in order */
        size_t at = i;
        for (; at > 0 && parts[order[at - 1]].args->gk < parts[i].args->gk; at--) {
            order[at] = order[at - 1];
        }
        order[at] = (int32_t)i;
    }
    table->count = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        const kw_joined_part *part = &parts[order[i]];
        const kw_kernel_args *args = part->args;
        kw_joined_product *p = &table->product[i];
        p->x = part->memory->tensor[KW_X];
        p->w = part->memory->tensor[KW_W];
        p->y = part->memory->tensor[KW_Y];
        memcpy(p->extra, part->memory->extra, sizeof p->extra);
        p->batch = args->batch;
        p->gm = args->gm;
        p->gn = args->gn;
        p->gk = args->gk;
        memcpy(p->line_step, args->line_step, sizeof p->line_step);
        memcpy(p->batch_step, args->batch_step, sizeof p->batch_step);
        p->first = units;
        p->params = args->params;
        units += part->units;
    }
    return units;
}
