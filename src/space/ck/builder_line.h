/* builder_line.h: a line of a list of CK Builder taken apart, and the config it is being read into. Values are counted from 0, as docs/kernels/gpu-spaces.md
 * counts them; every fault is one line that begins with file and line. */
#ifndef KW_SPACE_CK_BUILDER_LINE_H
#define KW_SPACE_CK_BUILDER_LINE_H

#include "config/config.h"

enum { KW_BUILDER_VALUES_MAX = 64 };

typedef struct kw_builder_line {
    const char *place; /* "FILE:LINE", for messages */
    kw_word name;      /* what stands before the first '<'; empty for bare values */
    kw_word value[KW_BUILDER_VALUES_MAX];
    int count;
    kw_config config;
    kw_error *err;
} kw_builder_line;

/* A word of a list and the word of the axis that it stands for; the last of a list is {0}. */
typedef struct kw_builder_word {
    const char *word, *value;
} kw_builder_word;

/* Without blanks at both ends. */
kw_word kw_builder_trimmed(kw_word text);
bool kw_builder_equals(kw_word word, const char *text);   /* but for the case of letters */
bool kw_builder_contains(kw_word word, const char *text); /* anywhere; "" is everywhere */

/* NAME<VALUE, ...>, where a value may have brackets with commas of its own, or VALUE, ... alone. */
kw_status kw_builder_line_parse(kw_builder_line *in, kw_word text);

/* What follows the last "::" of a value. */
kw_word kw_builder_unqualified(kw_word value);
kw_status kw_builder_number(const kw_builder_line *in, int place, int64_t *value);
kw_status kw_builder_set(kw_builder_line *in, const char *axis, int64_t value);
/* Value number place becomes the axis's. */
kw_status kw_builder_set_number(kw_builder_line *in, const char *axis, int place);
kw_status kw_builder_set_word(kw_builder_line *in, const char *axis, kw_word wanted, const kw_builder_word *meanings);
/* true, false, 1 or 0. */
kw_status kw_builder_set_flag(kw_builder_line *in, const char *axis, int place);

#endif
