/* grids.h: problem sets as grids in Lua. A file returns
 *
 *     { op = "conv_fwd", spatial = 2, grids = { {"small", {"i", 8, 16}, {"c k", {64, 128}, {128, 64}}, f = 3, p = 1}, ... } }
 *
 * and stands for every point of every grid, the first axis outermost. docs/problems/problem-sets.md is the reference. Points are named
 * "GRID_0000", numbered through the whole set. A misspelt field, a missing size or an impossible problem is an error that names grid and
 * field. */
#ifndef KW_SPACE_PROBLEMS_GRIDS_H
#define KW_SPACE_PROBLEMS_GRIDS_H

#include "base/container/arena.h"
#include "base/status.h"
#include "base/text.h"

typedef struct kw_grid_point {
    const char *name;
    kw_problem problem;
} kw_grid_point;

typedef struct kw_grid_list {
    kw_arena arena; /* names */
    kw_grid_point *points;
    size_t count, capacity;
} kw_grid_list;

/* Adds the points of a set to a list that is zeroed; dtype KW_DTYPE_COUNT: fp32. source begins error messages. After a failure the list is
 * empty. */
kw_status kw_grids_read(kw_grid_list *list, const char *source, kw_word text, kw_dtype dtype, kw_error *err);
void kw_grids_drop(kw_grid_list *list);

#endif
