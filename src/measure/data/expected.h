/* expected.h: what a result must be, at all elements where that is cheap, else at a sample that visits every axis' edges. Made once for a
 * problem and its data by the host reference, compared with many kernels' results. */
#ifndef KW_MEASURE_DATA_EXPECTED_H
#define KW_MEASURE_DATA_EXPECTED_H

#include "measure/data/fill.h"
#include "problem/groups/groups.h"

/* A tensor's axes in memory order, rightmost fastest, with the letter of each for messages. Axes of extent 1 are left out. */
enum { KW_TENSOR_AXES = 6 };
typedef struct kw_tensor_axis {
    char letter;
    int64_t extent;
} kw_tensor_axis;
int kw_tensor_axes(kw_tensor_axis axes[KW_TENSOR_AXES], const kw_problem *problem, kw_tensor tensor);
/* "y[h3 w0 k17]": one element of a tensor for people, by its place in memory (problem/tensors/pitch.h). */
void kw_element_name(char text[128], const kw_problem *problem, kw_tensor tensor, int64_t index);

/* index is NULL when all elements are held; else count ascending places in memory (problem/tensors/pitch.h). value is unrounded; bound is the largest allowed distance
 * (0 for exact data, where the rounded value must be met), and magnitude the sum of the products' magnitudes; both NULL for exact data. An
 * epilogue may round even there: then they are given, and each element that it leaves exact has 0 in both. */
typedef struct kw_expected {
    kw_problem problem;
    bool exact;
    size_t count;
    int64_t *index;
    double *value;
    float *bound, *magnitude;
    int64_t end;              /* elements of memory from here on stay as they are: rows behind the last group */
    size_t nonzero, possible; /* non-zero values; those with at least one product, which could be non-zero */
} kw_expected;

/* How far off a sum in fp32 of so many values may be, whose magnitudes sum up to this; what rounding to the result's type may add to a value
 * that is off by bound. */
double kw_sum_bound(int64_t products, double magnitude);
double kw_store_bound(kw_dtype output, double value, double bound);

/* memory: of the host, what is read. ends: of a grouped product. */
kw_status kw_expected_make(kw_expected *expected, const kw_problem *problem, const kw_fill *fill, const kw_group_memory *memory,
                           const int32_t *ends, kw_error *err);
void kw_expected_drop(kw_expected *expected);
/* Whether enough of what can be non-zero is: with too many zeros a kernel that computes nothing would pass. */
bool kw_expected_trusted(const kw_expected *expected);

/* A comparison that walks the result from front to end, piece by piece. A zeroed one with its expected set is a fresh one. */
typedef struct kw_comparison {
    const kw_expected *expected;
    double sum_error; /* kw_family.sum_error of the kernel: that share of an element's magnitude is allowed besides */
    unsigned char poison;
    size_t next;       /* expected values compared so far */
    size_t wrong;      /* of them, those out of bounds */
    int64_t unwritten; /* elements of the whole result that still hold poison */
    int64_t strayed;   /* gaps of it that do not */
    int64_t first_wrong, first_unwritten, first_strayed;
    double got, wanted, allowed; /* at first_wrong */
    double error, ulp;           /* largest distance as a share of what is allowed, and in units of the result's last place at the value */
} kw_comparison;

/* error and ulp stop here: what is further off, no number, or off where nothing is allowed, is simply wrong. */
#define KW_ERROR_MOST 1e9

/* piece: elements first..first+count-1 of the result. */
void kw_compare(kw_comparison *comparison, const void *piece, int64_t first, int64_t count);
/* KW_FAILED with what differs, in one line. */
kw_status kw_comparison_check(const kw_comparison *comparison, kw_error *err);

#endif
