/* toy.h: a generated family whose kernels are slow, wrong, greedy or uncompilable as their axes say, so that the choice among them is
 * known beforehand; and the world of these tests: a context on scratch folders with a catalog of toys. Toys serve gemm fp32 rcr, batch 1. */
#ifndef KW_TESTS_TOY_H
#define KW_TESTS_TOY_H

#include "support/scratch.h"

#include <kernelwright.h>

/* Texts of toys. slow: the product is formed so many times. room: bytes of shared workspace. */
#define TOY(name, slow, fault, room, packs)                                                                                                \
    "test.toy gemm fp32 isa=avx2 math=fma name=" #name " slow=" #slow " fault=" #fault " room=" #room " packs=" #packs

/* The catalog for every architecture: what a default registry holds besides the reference kernels. */
#define TOY_BEST TOY(1, 1, none, 4096, 1) /* the fastest; needs workspace */
#define TOY_SECOND TOY(2, 4, none, 0, 0)  /* needs none */
#define TOY_SLOW TOY(3, 40, none, 0, 0)
#define TOY_WRONG TOY(4, 2, wrong, 0, 0)   /* fast and wrong */
#define TOY_BROKEN TOY(5, 2, syntax, 0, 0) /* does not compile */
enum { TOY_COUNT = 5 };
/* As fast as the best, of a family of its own, test.fresh; in no default catalog. */
#define TOY_FRESH "test.fresh gemm fp32 isa=avx2 math=fma name=6 slow=1 fault=none room=0 packs=0"

/* Made for products of 23 rows, which no listed toy serves. */
#define TOY_TAILORED TOY(1000, 1, none, 0, 0)
#define TOY_TAILORED_PROBLEM "gemm fp32 rcr m23 n20 k16"

/* A problem that all toys serve. */
#define TOY_PROBLEM "gemm fp32 rcr m24 n20 k16"

#define TOY_ANY_SPREAD "1000000"

typedef struct toy_world {
    char folder[SCRATCH_MAX];
    char cache[2 * SCRATCH_MAX], data[2 * SCRATCH_MAX], wisdom[2 * SCRATCH_MAX];
    kw_context_options options; /* of one thread, on these places; change before opening */
} toy_world;

void toy_world_make(toy_world *world);
void toy_world_drop(toy_world *world);
/* Opens a context with the world's options; ends the test when it cannot. */
kw_context *toy_open(toy_world *world);
kw_problem toy_problem(const char *text);
/* The config of a plan made for TOY_PROBLEM with these options; the plan is destroyed. The text lives until the next call. */
const char *toy_chosen(kw_context *context, const kw_plan_options *options);
/* The number of lines of the world's wisdom file that are entries. */
int toy_wisdom_lines(const toy_world *world);
/* Fails the test unless part is in text. */
void assert_contains(const char *text, const char *part);

#endif
