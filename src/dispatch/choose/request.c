/* request.c: see request.h. */
#include "dispatch/choose/request.h"

#include "config/launch/workspace.h"

#include <stdlib.h>

void kw_choice_drop(kw_choice *choice, kw_context *context) {
    kw_kernel_cache_release(&context->kernel_cache, &choice->loaded);
    kw_kernel_cache_release(&context->kernel_cache, &choice->in_doubt);
    kw_explanation_list_drop(&choice->explanation);
    free(choice->records);
    *choice = (kw_choice){0};
}

int64_t kw_request_workspace(const kw_request *request, const kw_launch *launch) {
    return kw_workspace_layout_of(launch, request->context->target, false).bytes;
}

size_t kw_request_fitting(const kw_request *request, size_t most) {
    const kw_catalog *catalog = &request->registry->catalog;
    size_t count = 0;
    for (size_t i = 0; i < catalog->count && count < most; i++) {
        const kw_config *config = &catalog->configs[i];
        kw_config special;
        count += config->family->emit && !kw_config_serves(&special, config, &request->problem, request->context->target, NULL);
    }
    return count;
}
