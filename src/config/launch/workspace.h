/* workspace.h: how a launch's workspace is cut: packed weights, then what all threads share, then one piece a thread, each at a multiple of
 * 64 bytes. With weights packed beforehand the first part is empty. */
#ifndef KW_CONFIG_LAUNCH_WORKSPACE_H
#define KW_CONFIG_LAUNCH_WORKSPACE_H

#include "base/math.h"
#include "config/family.h"

enum { KW_WORKSPACE_ALIGN = 64 };

typedef struct kw_workspace_layout {
    int64_t shared, threads; /* offsets */
    int64_t thread_step;     /* from one thread's piece to the next one's */
    int64_t bytes;           /* of the whole */
} kw_workspace_layout;

static inline kw_workspace_layout kw_workspace_layout_of(const kw_launch *launch, const kw_target *target, bool packed_apart) {
    kw_workspace_layout layout = {0};
    layout.shared = packed_apart ? 0 : kw_round_up(launch->packed_bytes, KW_WORKSPACE_ALIGN);
    layout.threads = layout.shared + kw_round_up(launch->shared_bytes, KW_WORKSPACE_ALIGN);
    layout.thread_step = kw_round_up(launch->thread_bytes, KW_WORKSPACE_ALIGN);
    layout.bytes = layout.threads + kw_max(1, target->units) * layout.thread_step;
    return layout;
}

#endif
