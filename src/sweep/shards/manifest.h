/* manifest.h: what a sweep sets out to measure: kernels, problems, and which of their pairs. It is written beside the output
 * (OUT.manifest) before anything is measured, the same by every shard, so that a merge can tell what is missing, and a later sweep can be
 * given just that.
 *
 *     kernelwright-manifest 1
 *     timing hot packed
 *     config conv.direct conv_fwd bf16 isa=avx512 ...
 *     problem conv_fwd bf16 nhwgc n1 ...
 *     pair 1-3 2
 *     checksum 5d41402abc4b2a76b9719d911017c592
 *
 * Without "pair" lines it means every config on every problem of equal op and dtype. "pair I J" is config number I on problem number J,
 * counted from 1 in the order of their lines; I may be a range "A-B". With pair lines only these pairs are meant; what differs in op or
 * dtype inside a range is not. Pairs ascend by problem, then by config, and stand behind the lines they name; "pair none" means no pair.
 * The last line is the hash of all bytes before it: a manifest that was cut off is refused. */
#ifndef KW_SWEEP_SHARDS_MANIFEST_H
#define KW_SWEEP_SHARDS_MANIFEST_H

#include "base/text.h"
#include "config/catalog.h"
#include "space/problems/distinct.h"

/* Configs first..last (positions from 0) on one problem. */
typedef struct kw_manifest_run {
    uint32_t problem, first, last;
} kw_manifest_run;

/* A zeroed manifest is empty: no pairs. */
typedef struct kw_manifest {
    kw_catalog configs;       /* each once */
    kw_distinct problems;     /* each once */
    bool cold, fresh_weights; /* how the pairs are to be timed; the lines "timing cold fresh", else "hot", "packed" */
    bool listed;              /* only the pairs of runs; else the product */
    kw_manifest_run *runs;    /* ascending by problem and first, without overlap */
    size_t run_count, run_capacity;
} kw_manifest;

/* The product of configs (texts, checked) and problems; what comes twice counts once. m must be zeroed; after a failure it is empty. */
kw_status kw_manifest_create(kw_manifest *m, const char *const configs[], size_t config_count, const kw_problem problems[],
                             size_t problem_count, kw_error *err);
/* Reads a file; KW_MALFORMED names its line. m must be zeroed; after a failure it is empty. */
kw_status kw_manifest_read(kw_manifest *m, const char *path, kw_error *err);
/* The same from text; name begins error messages. */
kw_status kw_manifest_parse(kw_manifest *m, const char *name, const char *text, size_t size, kw_error *err);
void kw_manifest_drop(kw_manifest *m);

/* Appends the text. Equal manifests print equal bytes. */
kw_status kw_manifest_print(kw_text *out, const kw_manifest *m, kw_error *err);
/* Replaces path whole or not at all. */
kw_status kw_manifest_write(const kw_manifest *m, const char *path, kw_error *err);
/* For a sweep about to write OUT: makes OUT.manifest hold the pairs of m besides those it holds already, so that resuming with more
 * problems, or with the holes alone, keeps what was asked for before. One that is damaged, or timed otherwise, is replaced. */
kw_status kw_manifest_update(const kw_manifest *m, const char *out, kw_error *err);

/* The configs that are meant for a problem, ascending positions; room for m->configs.count. Returns how many. */
size_t kw_manifest_configs(uint32_t positions[], const kw_manifest *m, size_t problem);
int64_t kw_manifest_pairs(const kw_manifest *m);
/* A number that only the problems decide, for kw_shard_of. */
uint64_t kw_manifest_salt(const kw_manifest *m);
/* Adds the pairs first..last of a problem; the manifest becomes a listed one. Configs and problem must be there, and runs come ascending.
 */
kw_status kw_manifest_add_run(kw_manifest *m, kw_manifest_run run, kw_error *err);
/* The union of pairs; of the other only configs and problems that have a pair come along. KW_ILLEGAL when the two are timed differently. */
kw_status kw_manifest_add(kw_manifest *m, const kw_manifest *other, kw_error *err);

#endif
