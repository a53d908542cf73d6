/* field.c: fits, then the workspace limit, then the estimate, then the order. */
#include "dispatch/field.h"

#include "dispatch/room.h"
#include "predict/predict.h"

#include <stdlib.h>
#include <string.h>

static int by_estimate(const void *a, const void *b) {
    const kw_candidate *left = a, *right = b;
    if (left->estimate_ns != right->estimate_ns) {
        return left->estimate_ns < right->estimate_ns ? -1 : 1;
    }
    return left->config < right->config ? -1 : left->config > right->config;
}

int64_t kw_request_workspace(const kw_request *request, const kw_config *config) {
    kw_launch launch = {0};
    config->family->launch(config, &request->problem, request->context->target, &launch);
    return kw_room_of(&launch, request->context->target, false).bytes;
}

static bool enters(const kw_request *request, const kw_config *config) {
    return config->family->emit && !kw_config_fits(config, &request->problem, request->context->target, NULL);
}

size_t kw_request_fitting(const kw_request *request, size_t most) {
    const kw_catalog *catalog = &request->registry->catalog;
    size_t count = 0;
    for (size_t i = 0; i < catalog->count && count < most; i++) {
        count += enters(request, &catalog->configs[i]);
    }
    return count;
}

kw_status kw_field_gather(kw_field *field, const kw_request *request, kw_error *err) {
    const kw_target *target = request->context->target;
    const kw_catalog *catalog = &request->registry->catalog;
    *field = (kw_field){0};
    size_t fitting = kw_request_fitting(request, SIZE_MAX);
    field->list = calloc(fitting + 1, sizeof *field->list);
    if (!field->list) {
        return kw_fail_memory(err, "a list of candidates");
    }
    for (size_t i = 0; i < catalog->count; i++) {
        const kw_config *config = &catalog->configs[i];
        if (!enters(request, config)) {
            continue;
        }
        kw_launch launch = {0};
        config->family->launch(config, &request->problem, target, &launch);
        int64_t workspace = kw_room_of(&launch, target, false).bytes;
        if (workspace > request->workspace_max) {
            field->over_limit++;
            continue;
        }
        field->list[field->count++] = (kw_candidate){config, kw_predict_ns(config, &request->problem, target, &launch), workspace};
    }
    qsort(field->list, field->count, sizeof *field->list, by_estimate);
    return KW_OK;
}

void kw_field_drop(kw_field *field) {
    free(field->list);
    *field = (kw_field){0};
}

/* Moves the candidate at from to the earlier place to, keeping the order of the others. */
static void move_up(kw_field *field, size_t from, size_t to) {
    kw_candidate moved = field->list[from];
    memmove(&field->list[to + 1], &field->list[to], (from - to) * sizeof moved);
    field->list[to] = moved;
}

static bool family_seen(const kw_field *field, size_t count, const kw_family *family) {
    for (size_t i = 0; i < count; i++) {
        if (field->list[i].config->family == family) {
            return true;
        }
    }
    return false;
}

size_t kw_field_shortlist(kw_field *field, size_t wanted) {
    size_t families = 0;
    for (size_t i = 0; i < field->count && families < wanted; i++) {
        if (!family_seen(field, families, field->list[i].config->family)) {
            move_up(field, i, families++);
        }
    }
    size_t chosen = wanted < field->count ? wanted : field->count;
    /* Best estimate first again, so that the race meets the likely winner early. */
    qsort(field->list, chosen, sizeof *field->list, by_estimate);
    return chosen;
}
