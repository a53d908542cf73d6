/* problems.h: problem lists: named sets, files, samples, what a log holds.
 * Needs libkernelwright_tune. Conventions are those of kernelwright.h. */
#ifndef KERNELWRIGHT_TUNE_PROBLEMS_H
#define KERNELWRIGHT_TUNE_PROBLEMS_H

#include "../kernelwright.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a list: the name of a set in problems/ (compiled in), a file, or "-" for standard input. A line is "NAME: PROBLEM" or PROBLEM in our
 * own text or another tool's (kw_problem_import_all); '#' starts a comment. A file whose first line has commas is CSV with that line as its
 * header, one that begins with a bracket is JSON and NAME.py a Python module of literal problems (docs/problems/foreign-lists.md); a file
 * NAME.lua is a set of grids (docs/problems/problem-sets.md). op and dtype are those of CSV rows (KW_OP_COUNT, KW_DTYPE_COUNT: conv_fwd,
 * or gemm where the columns are M,N,K, and fp32); grids name their op and have the given dtype. visit returns false to stop; name is ""
 * where a line has none. Repeats are visited as they stand. A bad line is an error that names the file and the line's number. */
KW_API kw_status kw_problems_visit(const char *name_or_path, kw_op op, kw_dtype dtype,
                                   bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user, kw_error *err);
/* Names of the sets that are compiled in, one a line. The caller frees with kw_free. */
KW_API kw_status kw_problems_names(char **names, kw_error *err);
/* What a set that is compiled in says of itself: the comment at its head, line by line; the first line stands alone. The caller frees
 * with kw_free. */
KW_API kw_status kw_problems_description(char **about, const char *name, kw_error *err);

/* Which of the problems repeat: first[i] is the position of the first one that equals problem i (i itself for a new one). first has room for
 * count positions; *distinct may be NULL. */
KW_API kw_status kw_problems_deduplicate(size_t *first, size_t *distinct, const kw_problem *problems, size_t count, kw_error *err);

/* How a sample's buckets are cut. By family: op, spatial axes, filter, stride, dilation, groups, extent and channels in a few classes each (GEMM:
 * classes of m, n and k). By size: channels over 64, extents, filter, strides and groups as they are (GEMM: m, n and k over 64). */
typedef enum kw_bucketing { KW_BUCKETS_FAMILY = 0, KW_BUCKETS_SIZE } kw_bucketing;

/* A zeroed member means no limit. */
typedef struct kw_sample_options {
    size_t size;       /* sizeof(kw_sample_options) */
    size_t count;      /* at most so many problems */
    size_t per_bucket; /* at most so many of one bucket */
    double max_gflop;  /* none that has more floating-point operations, in 10^9 */
    double max_mb;     /* none whose tensors take more bytes together, in 10^6 */
    kw_bucketing buckets;
    uint64_t seed;
} kw_sample_options;

/* Draws different problems, one of each bucket in turn, so that every bucket is met before one is met again. chosen has room for count positions
 * and gets those of the problems drawn, in the order of drawing. The draw is the same for the same problems and seed, in whatever order the
 * list has them, and a larger sample begins with the smaller one. */
KW_API kw_status kw_problems_sample(size_t *chosen, size_t *chosen_count, const kw_problem *problems, size_t count,
                                    const kw_sample_options *options, kw_error *err);

/* Whether a problem belongs to the test part, which gets this share (0 to 1) of all problems. A hash of the canonical text decides, so
 * nothing of a problem is ignored, every list agrees, and a larger share contains the smaller. */
KW_API bool kw_problem_in_test(const kw_problem *problem, double share);
/* KW_FAILED when two lists share a problem; the error names the first of a that b has and how many different ones there are. */
KW_API kw_status kw_problems_disjoint(const kw_problem *a, size_t a_count, const kw_problem *b, size_t b_count, kw_error *err);

/* Lines of a log. */
typedef struct kw_extract_count {
    int64_t lines, problems;
    int64_t options;         /* lines of a benchdnn batch that only set options, or are empty or a comment */
    int64_t skipped;         /* all others that hold no problem, or one that is refused */
    char first_refusal[256]; /* of what reads like a problem and is refused: line and reason; "": nothing was */
} kw_extract_count;

/* Finds problems in the text of a log, "-" for standard input: lines of MIOpenDriver and benchdnn and our own text wherever in a line they
 * stand. Options on lines of their own hold for the descriptors below them, as in benchdnn's batches; lists of values give each combination. A
 * line's name is as in a list. */
KW_API kw_status kw_problems_extract(const char *path, bool (*visit)(void *user, const char *name, const kw_problem *problem), void *user,
                                     kw_extract_count *lines, kw_error *err);

#ifdef __cplusplus
}
#endif
#endif
