/* dims.h: the sizes of a problem as one table, read by the parser, the printer and the check: a letter of the text, the field it
 * fills, its lowest value and what it is when nothing is said. Internal to this folder. */
#ifndef KW_PROBLEM_TEXT_DIMS_H
#define KW_PROBLEM_TEXT_DIMS_H

#include "base/status.h"
#include "problem/names/names.h"

enum { KW_DIM_NEEDED = -1 }; /* as a fallback: the text must say it */
enum { KW_DIMS_MAX = 9 };    /* rows of the longer table */

typedef struct kw_dim {
    char letter;
    bool spatial; /* a list of ndim extents; else one number */
    int64_t low;  /* the lowest legal value, which is also that of an unused axis; a single number of 0 is not there, nor in the text */
    int64_t fallback;
    size_t offset; /* of the field in kw_problem */
    size_t back;   /* of the field for the far edge, written behind ':'; 0: there is none */
    const char *sample, *meaning;
} kw_dim;

/* The table of an operation, in canonical order, ended by the letter 0. */
const kw_dim *kw_dims(kw_op op);
int64_t *kw_dim_field(kw_problem *problem, size_t offset);
const int64_t *kw_dim_value(const kw_problem *problem, size_t offset);

#endif
