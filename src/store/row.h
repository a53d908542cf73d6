/* row.h: the fields of a row and of a run as tables. JSON lines, CSV and the store's columns are all made by walking them, so that a field
 * that is in the table is everywhere and one that is not is nowhere. A new field goes to the end of KW_ROW_TAKEN, into a new version of
 * the schema (schema.c), and is not KW_FIELD_ALWAYS: then the digests of rows that do not have it stay what they were. */
#ifndef KW_STORE_ROW_H
#define KW_STORE_ROW_H

#include "base/hash.h"
#include "base/status.h"
#include "base/text.h"

#include <kernelwright_tune.h>

typedef enum kw_row_field_kind {
    KW_FIELD_TEXT,
    KW_FIELD_BOOL,
    KW_FIELD_INT32,
    KW_FIELD_INT64,
    KW_FIELD_UINT64, /* of a worker's job alone; as an integer, its bits */
    KW_FIELD_REAL,
    KW_FIELD_OUTCOME /* kw_outcome, written by its name */
} kw_row_field_kind;

enum {
    KW_FIELD_NEEDED = 1, /* a text that may not be empty */
    KW_FIELD_ALWAYS = 2, /* written also when it is zero; all others are left out then */
    KW_FIELD_SIGNED = 4, /* a number that may be negative */
    KW_FIELD_LOOSE = 8,  /* a number that may be beyond all bounds; NaN stands for that, null in JSON and SQL, empty in CSV */
    KW_FIELD_SHARED = 16 /* a text that many rows share: the store keeps it once, in a table of its own */
};

typedef struct kw_row_field {
    const char *name;
    kw_row_field_kind kind;
    unsigned flags;
    size_t offset, size; /* in the struct; size of a text includes its end */
    const char *unit, *meaning;
} kw_row_field;

/* Ended by a NULL name. */
extern const kw_row_field kw_row_fields[];
extern const kw_row_field kw_run_fields[];

enum { KW_ROW_FIELD_COUNT = 38 };

/* A text's longest size in a row or run, with its end. */
enum { KW_FIELD_TEXT_MAX = 1024 };

/* Field of that name; NULL when there is none. */
const kw_row_field *kw_row_field_find(const kw_row_field fields[], kw_word name);
const char *kw_row_field_text(const kw_row_field *field, const void *base);
/* Also of booleans. */
int64_t kw_row_field_int(const kw_row_field *field, const void *base);
double kw_row_field_real(const kw_row_field *field, const void *base);
/* Each sets the field from outside text or numbers; false when the value does not fit the field's kind or size. */
bool kw_row_field_set_text(const kw_row_field *field, void *base, kw_word value);
bool kw_row_field_set_int(const kw_row_field *field, void *base, int64_t value);
bool kw_row_field_set_real(const kw_row_field *field, void *base, double value);
/* Whether the field says nothing: zero, false or empty. */
bool kw_row_field_blank(const kw_row_field *field, const void *base);

/* Copies a row or run in normal form: texts are UTF-8 (other bytes become '?') with nothing behind their end, a loose number that is not
 * finite is NaN, -0 is 0. KW_ILLEGAL names a field that cannot be: an empty text that is needed, a number that is negative or not finite. */
kw_status kw_row_normalize(kw_row *settled, const kw_row *row, kw_error *err);
kw_status kw_run_normalize(kw_run *settled, const kw_run *run, kw_error *err);

/* Reads a problem's text, which is its key, so only the canonical one will do: KW_MALFORMED says how that would read. */
kw_status kw_row_problem(kw_problem *problem, const char *text, kw_error *err);

/* A config's text is "FAMILY OP DTYPE axis=value ..."; a kernel that another system names otherwise is foreign: kept, reported, never run.
 * op and dtype (may be NULL) are set for a text of ours. */
bool kw_config_is_foreign(const char *config, kw_op *op, kw_dtype *dtype);

#endif
