/* import.h: lines of other programs. Each importer reads one line and leaves a problem that is not checked yet; what a list has to
 * know of them besides is whether a line is of TunableOp. */
#ifndef KW_PROBLEM_IMPORT_IMPORT_H
#define KW_PROBLEM_IMPORT_IMPORT_H

#include "base/status.h"
#include "base/text.h"
#include "problem/names/names.h"

/* scan stands behind the program's name: "conv -n 32 -c 64 ...". A convolution's directions are added to *ops, bits 1 << kw_op; problem is in
 * the first of them. */
kw_status kw_import_miopen(kw_problem *problem, uint32_t *ops, kw_scan scan, kw_error *err);
/* Whether a word names a driver of MIOpenDriver that has no meaning in our own text ("conv", "convbfp16"). */
bool kw_import_miopen_names(kw_word word);

/* Options and one descriptor: "--dir=BWD_D --dt=bf16 g32ic128ih56oc128kh3ph1", "--matmul --dt=bf16 128x768:768x768". */
kw_status kw_import_benchdnn(kw_problem *problem, kw_scan scan, kw_error *err);
/* Whether a word begins like a descriptor. */
bool kw_import_benchdnn_names(kw_word word);

/* One step more behind the problem's others. */
kw_status kw_import_step(kw_problem *problem, kw_epilogue_op op, kw_dtype dtype, double a, double b, kw_error *err);
/* The type of the result, once the operation and the type are set. */
void kw_import_result_type(kw_problem *problem, kw_dtype output);

/* A type in benchdnn's words. */
bool kw_import_benchdnn_type(kw_dtype *dtype, kw_word word);
/* The next of types without anything in between, "bf16bf16f32": the longest word that the text begins with, or all of it. */
bool kw_import_joined_type(kw_scan *scan, kw_word *word);

/* What a line of benchdnn says behind the product; no text: nothing. */
typedef struct kw_import_attribute {
    kw_word post_ops, scales, zero_points; /* of --attr-post-ops, --attr-scales, --attr-zero-points */
    kw_word result_scale, bias_mask;       /* of --attr-oscale, --bia_mask */
    bool bias;
    kw_dtype bias_dtype;
    /* Axes of the result as a mask has them, one bit each: all, that of the channels, those of one element. */
    unsigned all_axes, channel_axis, single_axes;
} kw_import_attribute;
/* Their steps in oneDNN's order: zero point of the source, scales of source and weights, bias, the scale of 2.x (--attr-oscale), post-ops, scale and
 * zero point of the destination. */
kw_status kw_import_attributes(kw_problem *problem, const kw_import_attribute *said, kw_error *err);

/* The tags of a product's matrices and their strides ("8x4x1:24x6x1:21x7x1"); no text: none given. */
typedef struct kw_matmul_tags {
    kw_word source, weights, result, strides;
} kw_matmul_tags;
/* All but the type; of the attributes the axes of the result. */
kw_status kw_import_matmul(kw_problem *problem, kw_import_attribute *axes, kw_word descriptor, const kw_matmul_tags *tags, kw_error *err);
bool kw_import_matmul_names(kw_word word);

/* scan stands behind the program's name. */
kw_status kw_import_hipblaslt(kw_problem *problem, kw_scan scan, kw_error *err);
/* A line of TunableOp's results or of its list of what is untuned; one that says Validator is none. */
kw_status kw_import_tunable(kw_problem *problem, kw_scan scan, kw_error *err);
bool kw_import_tunable_names(kw_word word);
bool kw_import_tunable_validator(kw_word word);

/* Operation, layout and sizes of a product of matrices that are transposed or not. All column-major is the transposed product of row-major
 * ones: C' = B' A', so A and B, m and n change places. */
void kw_import_product(kw_problem *problem, int64_t batch, const int64_t mnk[3], bool transpose_a, bool transpose_b, bool column_major);

#endif
