/* gpu_common.c: drivers are loaded by name, so that the library runs where there is none; launches are packed. */
#include "backend/gpu_common.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

bool kw_gpu_driver_load(void *calls, const char *const libraries[], const kw_gpu_symbol symbols[], char why[256]) {
    void *handle = NULL;
    for (const char *const *name = libraries; *name && !handle; name++) {
        handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    }
    if (!handle) {
        const char *reason = dlerror();
        snprintf(why, 256, "no driver: %.200s", reason ? reason : libraries[0]);
        return false;
    }
    bool whole = true;
    for (const kw_gpu_symbol *symbol = symbols; symbol->name && whole; symbol++) {
        void *found = dlsym(handle, symbol->name);
        memcpy((char *)calls + symbol->offset, &found, sizeof found); /* C has no cast from object to function pointers */
        whole = found || symbol->spare;
        if (!whole) {
            snprintf(why, 256, "the driver is too old or broken: it has no %.100s", symbol->name);
        }
    }
    dlclose(handle);
    return whole;
}

void kw_gpu_model(char model[48], const char *name) {
    size_t used = 0;
    for (; *name && used < 47; name++) {
        bool plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9') || *name == '.' ||
                     *name == '_';
        if (plain || (used && model[used - 1] != '-')) {
            model[used++] = plain ? *name : '-';
        }
    }
    while (used && model[used - 1] == '-') {
        used--;
    }
    model[used] = 0;
    if (!used) {
        snprintf(model, 48, "unknown");
    }
}

kw_status kw_gpu_launch_bind(kw_gpu_launch *bound, const kw_problem *problem, const kw_launch *launch, kw_gpu_limits limits,
                             kw_error *err) {
    if (launch->stages < 1 || launch->stages > limits.exported) {
        return kw_fail(err, KW_FAILED, "the launch has %d stages and the kernel exports %d; its family and its text disagree",
                       launch->stages, limits.exported);
    }
    for (int i = 0; i < launch->stages; i++) {
        const kw_stage *stage = &launch->stage[i];
        if (stage->threads < 1) {
            return kw_fail(err, KW_FAILED, "stage %d has no threads; its family is none for a GPU", i);
        }
        if (stage->units > limits.blocks || stage->units > limits.threads / stage->threads) {
            return kw_fail(err, KW_NO_KERNEL, "stage %d needs %lld blocks of %d threads; one launch has at most %lld blocks, %lld threads",
                           i, (long long)stage->units, stage->threads, (long long)limits.blocks, (long long)limits.threads);
        }
    }
    kw_args_fill(&bound->args, problem, launch);
    bound->stages = launch->stages;
    memcpy(bound->shape, launch->stage, sizeof bound->shape);
    memcpy(bound->map, launch->map, sizeof bound->map);
    return KW_OK;
}

bool kw_gpu_launch_has(const kw_gpu_launch *bound, int stage, int parts) {
    const kw_stage *shape = &bound->shape[stage];
    return stage < bound->stages && (parts & (shape->packs ? KW_RUN_PACK : KW_RUN_REST)) && shape->units > 0;
}

kw_cpu_args kw_gpu_launch_args(const kw_gpu_launch *bound, const kw_launch_memory *memory) {
    kw_cpu_args args = bound->args;
    args.x = memory->tensor[KW_X];
    args.w = memory->tensor[KW_W];
    args.y = memory->tensor[KW_Y];
    args.packed = memory->packed;
    args.shared = memory->shared;
    return args;
}
