/* kernelwright_tune.h: the workshop. Enumerates kernel spaces from rules, filters them, reads and writes registries as JSON,
 * reads problem lists, and tunes problems. Needs libkernelwright_tune; applications that only run kernels do not.
 *
 * Conventions are those of kernelwright.h.
 */
#ifndef KERNELWRIGHT_TUNE_H
#define KERNELWRIGHT_TUNE_H

#include "kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- space: which kernels the rules declare ------------------------------------------------------------------- */

typedef struct kw_space_options {
    const char *set;       /* a rule set: "tiny", "tests", "default", "full"; NULL: "default" */
    const char *arch;      /* an architecture of rules/arch; NULL: the one of this machine's CPU */
    const char *filter;    /* a Lua expression over c, e.g. "c.tile_w >= 7 and c.family == 'conv.direct'"; NULL: all */
    const char *rules_dir; /* a folder with arch/, families/ and sets/; NULL: KW_RULES, else the rules compiled in */
} kw_space_options;

/* Calls visit with the canonical text of each config, in a fixed order, each config once; visit returns false to stop. */
KW_API kw_status kw_space_visit(const kw_space_options *options, bool (*visit)(void *user, const char *config), void *user, kw_error *err);
/* Adds the configs of a space to a registry. */
KW_API kw_status kw_registry_add_space(kw_registry *registry, const kw_space_options *options, kw_error *err);
/* Keeps the configs for which the Lua expression holds. */
KW_API kw_status kw_registry_filter(kw_registry *registry, const char *expression, kw_error *err);
/* Names of what the rules know, one a line; kind: "arch", "set" or "family". The caller frees with kw_free. */
KW_API kw_status kw_space_names(char **names, const char *kind, const char *rules_dir, kw_error *err);

/* --- registries as JSON --------------------------------------------------------------------------------------- */

/* {"kernelwright": 1, "configs": [{"family": "conv.direct", "op": "conv_fwd", "dtype": "fp32", "tile_w": 14, ...}, ...]}.
 * Unknown keys, duplicate keys and wrong types are errors. The caller frees *json with kw_free. */
KW_API kw_status kw_registry_print_json(char **json, const kw_registry *registry, kw_error *err);
KW_API kw_status kw_registry_load_json(kw_registry *registry, const char *path, kw_error *err);

/* --- problem lists -------------------------------------------------------------------------------------------- */

/* Reads a list: the name of a set in problems/ (compiled in), a file, or "-" for standard input. A line is "NAME: PROBLEM" or PROBLEM in our
 * own text, MIOpenDriver's or benchdnn's; '#' starts a comment. A file whose first line has commas is CSV with that line as its
 * header; its rows have the given op and dtype (KW_OP_COUNT, KW_DTYPE_COUNT: conv_fwd, or gemm where the columns are M,N,K, and fp32). visit
 * returns false to stop; name is "" where a line has none. A bad line is an error that names the file and the line's number. */
KW_API kw_status kw_problems_visit(const char *name_or_path, kw_op op, kw_dtype dtype,
                                   bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user, kw_error *err);
/* Names of the sets that are compiled in, one a line. The caller frees with kw_free. */
KW_API kw_status kw_problems_names(char **names, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
