/* predict.h: how long would this config take? The analytic estimate: a roofline over the work that the family counts. No training
 * here, no measuring. */
#ifndef KW_PREDICT_PREDICT_H
#define KW_PREDICT_PREDICT_H

#include "config/config.h"

/* Of a product in a launch that joins several: what it adds to the launch's time, how long each of its tiles takes, below which no launch that
 * has one can be, and what the launch costs besides. */
typedef struct kw_joined_estimate {
    double ns, tile_ns, start_ns;
} kw_joined_estimate;
kw_joined_estimate kw_predict_joined(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch);

/* Nanoseconds, for ranking; only for a config that fits. Sources of the constants are named in estimate.c. */
double kw_predict_ns(const kw_config *config, const kw_problem *problem, const kw_target *target, const kw_launch *launch);

#endif
