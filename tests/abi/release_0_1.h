/* release_0_1.h: of kernelwright.h as the first release has it what old_program.c uses, kept as it was while the header grows. Until there
 * is that release, a change that programs cannot survive (a value's size) is made here, too. */
#ifndef KW_ABI_RELEASE_0_1_H
#define KW_ABI_RELEASE_0_1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef int kw_status;
typedef struct kw_error {
    kw_status status;
    char text[508];
} kw_error;

typedef struct kw_conv_dims {
    int64_t n, g, c, k;
    int64_t in[3], filter[3], stride[3], pad[3], pad_back[3], dilation[3];
} kw_conv_dims;
typedef struct kw_problem {
    int op, dtype, layout;
    int32_t ndim;
    union {
        struct {
            int64_t batch, m, n, k;
        } gemm;
        kw_conv_dims conv;
    };
    unsigned char room[640 - 16 - sizeof(kw_conv_dims)]; /* the epilogue, and what is reserved */
} kw_problem;

typedef struct kw_context kw_context;
typedef struct kw_plan kw_plan;
typedef struct kw_registry kw_registry;
typedef struct kw_stop kw_stop;
typedef struct kw_progress kw_progress;

typedef struct kw_context_options {
    size_t size;
    int32_t threads;
    const char *cache_dir, *data_dir, *wisdom_file, *compiler, *model;
    int32_t spill_limit;
    const kw_stop *stop;
    void (*log)(void *user, const char *line);
    void *user;
} kw_context_options;

enum { KW_PREDICT = 2 };
typedef struct kw_plan_options {
    size_t size;
    int mode;
    int64_t workspace_max;
    int32_t shortlist;
    bool frozen_is_error, remeasure, fresh_weights;
    kw_registry *registry;
    void (*progress)(void *user, const kw_progress *progress);
    void *user;
} kw_plan_options;

typedef struct kw_tensors {
    size_t size;
    void *x, *w, *y;
    void *workspace;
} kw_tensors;

kw_status kw_problem_parse(kw_problem *problem, const char *text, kw_error *err);
kw_status kw_context_open(kw_context **context, const char *device, const kw_context_options *options, kw_error *err);
void kw_context_close(kw_context **context);
kw_status kw_plan_create(kw_plan **plan, kw_context *context, const kw_problem *problem, const kw_plan_options *options, kw_error *err);
void kw_plan_destroy(kw_plan **plan);
kw_status kw_plan_run(const kw_plan *plan, const kw_tensors *tensors, void *stream, kw_error *err);
int64_t kw_plan_workspace(const kw_plan *plan);
kw_status kw_plan_pack_weights(kw_plan *plan, const void *w, kw_error *err);

#endif
