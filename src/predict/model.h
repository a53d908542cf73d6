/* model.h: a forest that knows what it is for: which features it sees, what its score means, which targets, operations and types it was
 * trained on. On disk a folder: model.lgbm.gz (as LightGBM writes it) and model.spec, our own text, one thing a line:
 *
 *     kernelwright-model 1
 *     target cpu:x86-64-v4-bf16 model=... units=1 ...   (of the training data; one line each)
 *     serves conv_fwd fp32                              (operation and type; one line each)
 *     predicts ratio                                    (see kw_model_quantity)
 *     table ck-gemm-72                                  (the features are published ones, ck/features_ck.h; else they are ours)
 *     family conv.direct conv_fwd conv_bwd_data         (code 0, 1, ... of feature "family" when it was trained;
 *                                                        one line each; "unseen:" before the name of one without rows; behind the
 *                                                        name the operations of which it had rows, none: all)
 *     feature NAME                                      (in the forest's order; one line each)
 *     codes isa avx2 avx512                             (names of codes 0, 1, ... of a category; where no line says them they are ours)
 *     units HEX                                         (of names and units of the features; may be left out)
 *     rows 41873 problems 900
 *     digest HEX                                        (XXH3-128 of model.lgbm.gz)
 *     unpacked HEX                                      (of its text, for who unpacks it or packs it again; may be left out)
 *     forest NAME                                       (the forest's file where it is not model.lgbm.gz, as published models have it)
 *     hardware 256 4 32 2400 32 64 65536 32 4096 262144 8   (constants of published features where the model says them)
 *
 * Lines after the first may stand in any order; what is unknown, missing or said twice is refused by its line; model_spec.h has the
 * limits. A forest of published features may call them Column_0, Column_1, ... A model is refused when a tree of it asks about a feature that the table of own.h does not have, or when its forest has other
 * features; a family or a word of an axis that is no longer there is passed over, one that is new is scored as a missing value. Nothing here allocates in a
 * call. */
#ifndef KW_PREDICT_MODEL_H
#define KW_PREDICT_MODEL_H

#include "predict/features/features_native.h"

/* What the raw score is. All are turned into nanoseconds, or into an order where there is none to be had. */
typedef enum kw_model_quantity {
    KW_PREDICTS_RATIO = 0,    /* ln(time / analytic estimate) */
    KW_PREDICTS_RELATIVE,     /* ln(time / best time of the problem): an order; as nanoseconds, scaled to the best analytic estimate */
    KW_PREDICTS_TFLOPS,       /* log1p(TFLOP/s), as the published models */
    KW_PREDICTS_TIME,         /* ln(ns) */
    KW_PREDICTS_RANK,         /* higher is better (lambdarank): an order, scaled alike */
    KW_PREDICTS_LATENCY,      /* milliseconds, as the published models */
    KW_PREDICTS_BANDWIDTH,    /* log1p(GB/s) of the three tensors, as the published models */
    KW_PREDICTS_PLAIN_TFLOPS, /* the two without their logarithm */
    KW_PREDICTS_PLAIN_BANDWIDTH,
    KW_PREDICTS_COUNT
} kw_model_quantity;
#define KW_MODEL_QUANTITIES "ratio relative tflops time rank latency bandwidth plain_tflops plain_bandwidth"

/* Nanoseconds that a score of TFLOP/s, GB/s or milliseconds means; INFINITY where it is nothing or less. Only for these quantities. */
double kw_model_rate_ns(kw_model_quantity quantity, double score, double flops, double bytes);

const char *kw_model_quantity_name(kw_model_quantity quantity);

typedef struct kw_model kw_model;

/* A folder with model.spec or, where there are several models in one, the path of a spec: "mine/model_latency.spec". */
kw_status kw_model_open(kw_model **model, const char *path, kw_error *err);
/* From memory: the compiled-in ones. */
kw_status kw_model_parse(kw_model **model, const char *spec, size_t spec_size, const void *forest, size_t forest_size, kw_error *err);
void kw_model_close(kw_model **model);

typedef struct kw_model_facts {
    kw_model_quantity quantity;
    const char *const *targets; /* canonical texts; ended by NULL */
    size_t features, trees, leaves, bytes, rows, problems;
    char digest[33];
} kw_model_facts;
const kw_model_facts *kw_model_describe(const kw_model *model);
bool kw_model_serves(const kw_model *model, kw_op op, kw_dtype dtype);
/* How far a target is from those of the training: 0 the same text, 1 same backend and arch, 2 same backend with the same lanes, 3 the same
 * backend, -1 of another backend: the model has nothing to say. */
int kw_model_distance(const kw_model *model, const kw_target *target);

/* A fixed list of configs made ready for one model: what depends on the configs alone is computed once. configs and the model outlive it.
 * One thread at a time. */
typedef struct kw_ranking kw_ranking;
kw_status kw_ranking_open(kw_ranking **ranking, const kw_model *model, const kw_config *const configs[], size_t count, kw_error *err);
void kw_ranking_close(kw_ranking **ranking);
/* Another config in a place of the list; it is read until the place has another one, or is not asked about. */
void kw_ranking_replace(kw_ranking *ranking, size_t place, const kw_config *config);
/* ns[i] of each config on the problem; launches[i] is NULL where the config does not fit, then ns[i] is INFINITY. estimates[i] is
 * kw_predict_ns. On a target that gave no rows (kw_model_distance above 0) they are the geometric means of the model's times and the
 * estimates. */
void kw_ranking_score(kw_ranking *ranking, const kw_problem *problem, const kw_target *target, const kw_launch *const launches[],
                      const double estimates[], double ns[]);
/* The same from all parts of the estimates, so that they are worked out once. */
void kw_ranking_score_parts(kw_ranking *ranking, const kw_problem *problem, const kw_target *target, const kw_launch *const launches[],
                            const kw_estimate parts[], double ns[]);

#endif
