/* problem_sets.h: a file or standard input as text that may be changed. The functions over sets are those of kernelwright_tune.h. */
#ifndef KW_SPACE_PROBLEMS_PROBLEM_SETS_H
#define KW_SPACE_PROBLEMS_PROBLEM_SETS_H

#include "base/container/arena.h"
#include "base/status.h"

typedef struct kw_source_text {
    kw_arena arena;
    const char *name; /* for messages */
    char *data;       /* terminated beyond its size */
    size_t size;
} kw_source_text;

/* path "-": standard input. source is to be dropped also after a failure. */
kw_status kw_source_text_read(kw_source_text *source, const char *path, kw_error *err);
void kw_source_text_drop(kw_source_text *source);

#endif
