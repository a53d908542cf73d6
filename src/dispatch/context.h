/* context.h: one device and all state that belongs to it.
 *
 * Locks, in the order in which they may be taken: measuring (held while kernels are measured, so that they do not disturb one another),
 * then any one of the others (lock, and those inside build tools, kernel cache, plan cache, wisdom and model selector), which are held for
 * moments and never together. */
#ifndef KW_DISPATCH_CONTEXT_H
#define KW_DISPATCH_CONTEXT_H

#include "dispatch/choose/model_selector.h"
#include "dispatch/cache/plan_cache.h"
#include "dispatch/registry.h"
#include "dispatch/cache/kernel_cache.h"
#include "dispatch/wisdom/wisdom.h"
#include "measure/timing/noise.h"
#include "base/os/process/fork.h"

#include <math.h>
#include <stdatomic.h>

struct kw_context {
    kw_fork_mark mark;
    kw_settings settings;
    const kw_backend *backend;
    kw_device *device;
    kw_target facts, learned;          /* the device's, with the rates that are kept of this machine; with rates that were measured since */
    _Atomic(const kw_target *) target; /* one of the two */
    atomic_bool rates_known;           /* as far as they ever will be; set with measuring held */
    char target_text[KW_TARGET_TEXT_MAX], brand[KW_BRAND_MAX];
    kw_build_tools *build_tools;
    kw_wisdom *wisdom;
    kw_model_selector *selector;
    kw_kernel_cache kernel_cache;
    kw_plan_cache plan_cache;
    pthread_mutex_t measuring;
    int lease;                              /* of the device, while measuring is held; -1: none */
    double peak[KW_DTYPE_COUNT], bandwidth; /* FLOP/s, bytes/s; 0: not measured yet; guarded by measuring */
    pthread_mutex_t lock;                   /* of what follows */
    kw_registry *registry;                  /* the default one; NULL until it is needed */
    uint64_t serials;                       /* given to registries so far */
};

/* The device's name. */
static inline const char *kw_context_about(const kw_context *context) {
    return context->backend->about ? context->backend->about(context->device) : context->brand;
}

/* Whether a child that was forked since has it; then a lock may be closed for ever, and only what takes none may be done. */
static inline bool kw_context_lost(const kw_context *context) {
    return kw_fork_mark_lost(&context->mark);
}

static inline kw_status kw_context_check(const kw_context *context, kw_error *err) {
    return kw_context_lost(context)
               ? kw_fail(err, KW_FAILED,
                         "the context was opened by the process that forked this one; open one here (plans made before "
                         "still run, on one thread)")
               : KW_OK;
}

/* Memory that a plan keeps, on KW_WORKSPACE_ALIGN bytes: the host's (kw_context_options.allocate) or the device's own. */
kw_status kw_context_allocate(kw_context *context, size_t bytes, void **memory, kw_error *err);
void kw_context_release(kw_context *context, void *memory, size_t bytes);

/* Nothing else is measured in between: by this context, nor, on a device that is a GPU's, by other processes of the user. */
void kw_context_measuring_begin(kw_context *context);
void kw_context_measuring_end(kw_context *context);

/* Measures this machine's rates where the context does not know them: once a machine, for they are kept. Before the first choice that is not
 * frozen; measuring must not be held. It takes a fifth of a second. */
void kw_context_learn_rates(kw_context *context);

/* Times that spread by more than this share are no facts. Of a device that is played no time is one, so that none is measured twice. */
static inline double kw_context_spread_limit(const kw_context *context) {
    return kw_backends[context->target->backend].emulated ? INFINITY
           : context->settings.spread_limit >= 0          ? context->settings.spread_limit
                                                          : KW_SPREAD_USUAL;
}

/* A registry is another one now, or gone: what was answered from it under this serial is forgotten, by all who keep answers. Plans keep
 * what they have. */
static inline void kw_context_registry_changed(kw_context *context, uint64_t serial) {
    kw_plan_cache_invalidate_registry(&context->plan_cache, &context->kernel_cache, serial);
    kw_model_selector_invalidate(context->selector, serial);
}

#endif
