/* sample_model.h: a model of a few stumps, for tests of models and of rankings by them. */
#ifndef KW_TESTS_SAMPLE_MODEL_H
#define KW_TESTS_SAMPLE_MODEL_H

#include "predict/model.h"
#include "support/rows/stumps.h"

#define TARGET "cpu:x86-64-v4-bf16 model=amd-25-17-1 units=1 lanes=16 registers=32 l1=32768 l2=1048576 l3=33554432"

extern const char *const one_target[], *const two_served[], *const strange_families[];
extern const stump plain_trees[];
extern const stumps plain;

/* The model of stumps; the test fails where they are none. */
kw_model *open_stumps(const stumps *what);

#endif
