/* fields.h: the names that Composable Kernel's dispatcher and tile engine have for what a kernel is (GroupedConvKernelConfig and its
 * fellows), beside ours. One table, in fields.c, serves trait files, --config, filters and rules, so that a name or a value means the same
 * wherever it is written. tests/data/fields.txt has the published lists that it is held against.
 *
 * A field is an axis of some families, and may spell its values otherwise: double_smem_buffer is the axis stages, true being 2 and more. */
#ifndef KW_SPACE_CK_FIELDS_H
#define KW_SPACE_CK_FIELDS_H

#include "base/nearest.h"
#include "config/config.h"

/* A published value, and the axis values that it stands for, separated by blanks. */
typedef struct kw_field_word {
    const char *word, *values;
} kw_field_word;

typedef struct kw_field {
    const char *name, *axis;    /* axis NULL: no kernel here has such a thing, or instead says what to write */
    const kw_field_word *words; /* NULL: the axis's own values; ended by a NULL word */
    bool further;               /* words are spellings besides the axis's own */
    const char *without;        /* the value of kernels whose family lacks the axis; NULL: they lack the field */
    const char *instead;
} kw_field;

/* Ended by a NULL name. A name stands once for each axis that it may be. */
extern const kw_field kw_fields[];

/* What a name is for a family. */
typedef struct kw_field_place {
    const kw_field *field; /* NULL: an axis by its own name */
    int axis;              /* -1: the family lacks it, and its kernels have field->without */
} kw_field_place;

/* false: kernels of the family have no such field. */
bool kw_field_find(kw_field_place *place, const kw_family *family, const char *name);
/* Whether a family of the kind has the name as an axis. */
bool kw_field_of_kind(const char *name, kw_device_kind kind);
/* Whether the name is an axis of some family, or published. */
bool kw_field_known(const char *name);
/* The fields to write in place of a published structure; NULL for everything else. */
const char *kw_field_instead(const char *name);

/* A value as it is written: a word, digits, true or false. */
typedef struct kw_field_value {
    const char *text;
    int64_t number;
    bool is_number; /* an integer or a truth value */
} kw_field_value;

/* "*" and -1, which are any value. */
bool kw_field_is_any(const kw_field_value *value);
/* Whether the written value stands for a value of the axis at the place, which the family has. */
bool kw_field_matches(const kw_family *family, const kw_field_place *place, const kw_field_value *value, int32_t axis_value);
/* Whether the written value is what kernels without the axis have. */
bool kw_field_is_without(const kw_field_place *place, const kw_field_value *value);
/* Whether it stands for any value of the axis at all. */
bool kw_field_takes(const kw_family *family, const kw_field_place *place, const kw_field_value *value);
/* The published word of an axis value; NULL: it is the axis's own. */
const char *kw_field_published(const kw_family *family, const kw_field_place *place, int32_t axis_value);
/* Adds the values that can be written: "false true", "1 to 16". */
void kw_field_add_values(kw_line *line, const kw_family *family, const kw_field_place *place);

/* The same after what the line has, unless it has them already. */
void kw_field_add_further(kw_line *line, const kw_family *family, const kw_field_place *place);

/* Lowest and highest value of an axis. */
int32_t kw_axis_low(const kw_axis *axis);
int32_t kw_axis_high(const kw_axis *axis);

/* The operation of "forward", "bwd_data", "conv_bwd_weight", ... */
bool kw_variant_find(kw_op *op, const char *text);
/* "forward" */
const char *kw_variant_name(kw_op op);

/* What rules of a convolution's family leave of the problems, as bits 1 << spatial axes and 1 << kw_layout. Of families with an axis for it,
 * and of products of matrices, all. */
uint32_t kw_family_ndims(const kw_family *family);
uint32_t kw_family_layouts(const kw_family *family);

/* "; did you mean NAME" of the fields, the axes and the further names (with blanks between), or ""; gives hint back. */
const char *kw_field_hint(char hint[KW_HINT_MAX], const char *wrong, const char *further);

#endif
