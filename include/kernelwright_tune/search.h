/* search.h: good kernels of a whole space by prediction alone.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_SEARCH_H
#define KERNELWRIGHT_TUNE_SEARCH_H

#include "space.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum kw_search_method {
    KW_SEARCH_EVOLVE = 0, /* differential evolution over the axes, each family its own population */
    KW_SEARCH_RANDOM,
    KW_SEARCH_ALL /* every kernel of the space */
} kw_search_method;

/* A zeroed member asks for its default. */
typedef struct kw_search_options {
    size_t size; /* sizeof(kw_search_options) */
    const kw_problem *problem;
    const char *model;             /* a model's folder; NULL: the analytic estimate */
    const kw_space_options *space; /* its set NULL, or NULL: "full" */
    const char *target;            /* canonical text; NULL: this machine with so many threads */
    int32_t threads;               /* 0: 1 */
    kw_search_method method;
    int32_t budget; /* kernels to look at; 0: 500 */
    int32_t top;    /* kernels to give; 0: 10 */
    uint64_t seed;
} kw_search_options;

typedef struct kw_search_result {
    char config[KW_CONFIG_TEXT_MAX];
    double predicted_ns; /* by the model, or the estimate */
    double estimate_ns;
} kw_search_result;

typedef struct kw_search_report {
    kw_search_result *results; /* best first, each kernel once; freed with kw_free */
    size_t count;
    int64_t evaluated;             /* kernels that were scored, each once */
    int64_t drawn, refused, unfit; /* points drawn; of them not in the space, and in it but not serving the problem */
} kw_search_report;

/* Only kernels that the rules declare, that can be generated and that serve the problem are looked at. */
KW_API kw_status kw_search(const kw_search_options *options, kw_search_report *report, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
