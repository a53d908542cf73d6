/* row.c: the tables of fields, reading and writing a field by its entry, and the normal form of rows and runs. */
#include "store/row.h"

#include "base/text.h"
#include "base/format/utf8.h"
#include "problem/names/names.h"

#include <math.h>
#include <string.h>

#define FIELD(name, kind, flags, member, unit, meaning)                                                                                    \
    { name, KW_FIELD_##kind, flags, offsetof(kw_row, member), sizeof((const kw_row *)0)->member, unit, meaning }

enum { NEEDED = KW_FIELD_NEEDED, ALWAYS = KW_FIELD_ALWAYS, SIGNED = KW_FIELD_SIGNED, LOOSE = KW_FIELD_LOOSE, SHARED = KW_FIELD_SHARED };

#define ROW_TEXT(member, size, flags, unit, meaning) FIELD(#member, TEXT, flags, member, unit, meaning),
#define ROW_NUMBER(kind, type, member, flags, unit, meaning) FIELD(#member, kind, flags, member, unit, meaning),
#define RECORD_NUMBER(kind, type, member, flags, unit, meaning) FIELD(#member, kind, flags, record.member, unit, meaning),
#define RECORD_PAIR(kind, type, member, first, second, flags, unit, meaning, meaning2)                                                     \
    FIELD(#first, kind, flags, record.member[0], unit, meaning), FIELD(#second, kind, flags, record.member[1], unit, meaning2),
#define NONE(...)

/* The order is that of stored lines and of digests; cold stands before what else a record has. */
/* clang-format off */
const kw_row_field kw_row_fields[] = {
    KW_ROW_MADE(ROW_TEXT, ROW_NUMBER)
    FIELD("config", TEXT, NEEDED | SHARED, record.config, "", "canonical text, or a foreign kernel's name"),
    FIELD("packed", BOOL, ALWAYS, packed, "", "timed with weights packed beforehand"),
    KW_RECORD_FIELDS(NONE, NONE, RECORD_NUMBER)
    FIELD("outcome", OUTCOME, ALWAYS, record.outcome, "", "good, slow, unfit, wrong, ..."),
    FIELD("detail", TEXT, SHARED, record.detail, "", "why, when the outcome is not good"),
    KW_RECORD_FIELDS(RECORD_NUMBER, RECORD_PAIR, NONE)
    KW_ROW_TAKEN(ROW_TEXT, ROW_NUMBER)
    {0},
};
/* clang-format on */

_Static_assert(sizeof kw_row_fields / sizeof *kw_row_fields == KW_ROW_FIELD_COUNT + 1, "KW_ROW_FIELD_COUNT counts the fields of a row");

const kw_row_field kw_run_fields[] = {
#define KW_RUN_FACT(name, size, meaning)                                                                                                   \
    {#name, KW_FIELD_TEXT, offsetof(kw_run, name) ? 0u : KW_FIELD_NEEDED, offsetof(kw_run, name), size, "", meaning},
    KW_RUN_FACTS(KW_RUN_FACT)
#undef KW_RUN_FACT
        {0},
};

const kw_row_field *kw_row_field_find(const kw_row_field fields[], kw_word name) {
    while (fields->name && !kw_word_is(name, fields->name)) {
        fields++;
    }
    return fields->name ? fields : NULL;
}

const char *kw_row_field_text(const kw_row_field *field, const void *base) {
    return (const char *)base + field->offset;
}

int64_t kw_row_field_int(const kw_row_field *field, const void *base) {
    const char *at = (const char *)base + field->offset;
    int32_t narrow;
    int64_t wide;
    bool flag;
    switch (field->kind) {
    case KW_FIELD_BOOL:
        memcpy(&flag, at, sizeof flag);
        return flag;
    case KW_FIELD_INT32:
        memcpy(&narrow, at, sizeof narrow);
        return narrow;
    case KW_FIELD_INT64:
    case KW_FIELD_UINT64:
        memcpy(&wide, at, sizeof wide);
        return wide;
    default:
        return 0;
    }
}

double kw_row_field_real(const kw_row_field *field, const void *base) {
    double value;
    memcpy(&value, (const char *)base + field->offset, sizeof value);
    return value;
}

static kw_outcome outcome_of(const kw_row_field *field, const void *base) {
    kw_outcome outcome;
    memcpy(&outcome, (const char *)base + field->offset, sizeof outcome);
    return outcome;
}

static bool set_outcome(const kw_row_field *field, void *base, kw_word value) {
    for (int i = 0; i < KW_OUTCOME_COUNT; i++) {
        kw_outcome outcome = (kw_outcome)i;
        if (kw_word_is(value, kw_outcome_name(outcome))) {
            memcpy((char *)base + field->offset, &outcome, sizeof outcome);
            return true;
        }
    }
    return false;
}

bool kw_row_field_set_text(const kw_row_field *field, void *base, kw_word value) {
    if (field->kind == KW_FIELD_OUTCOME) {
        return set_outcome(field, base, value);
    }
    if (field->kind != KW_FIELD_TEXT || value.size >= field->size || (value.size && memchr(value.at, 0, value.size))) {
        return false;
    }
    char *at = (char *)base + field->offset;
    memset(at, 0, field->size);
    if (value.size) {
        memcpy(at, value.at, value.size);
    }
    return true;
}

bool kw_row_field_set_int(const kw_row_field *field, void *base, int64_t value) {
    char *at = (char *)base + field->offset;
    int32_t narrow = (int32_t)value;
    bool flag = value != 0;
    switch (field->kind) {
    case KW_FIELD_BOOL:
        memcpy(at, &flag, sizeof flag);
        return value == 0 || value == 1;
    case KW_FIELD_INT32:
        memcpy(at, &narrow, sizeof narrow);
        return narrow == value;
    case KW_FIELD_INT64:
    case KW_FIELD_UINT64:
        memcpy(at, &value, sizeof value);
        return true;
    default:
        return false;
    }
}

bool kw_row_field_set_real(const kw_row_field *field, void *base, double value) {
    if (field->kind != KW_FIELD_REAL) {
        return false;
    }
    memcpy((char *)base + field->offset, &value, sizeof value);
    return true;
}

bool kw_row_field_blank(const kw_row_field *field, const void *base) {
    switch (field->kind) {
    case KW_FIELD_TEXT:
        return !*kw_row_field_text(field, base);
    case KW_FIELD_REAL:
        return kw_row_field_real(field, base) == 0;
    case KW_FIELD_OUTCOME:
        return outcome_of(field, base) == KW_UNTRIED;
    default:
        return kw_row_field_int(field, base) == 0;
    }
}

/* Copies text as valid UTF-8 of the same length; the destination is zeroed. false when the source has no end. */
static bool normalize_text(char *to, const char *from, size_t size) {
    if (!memchr(from, 0, size)) {
        return false;
    }
    while (*from) {
        size_t step = kw_utf8_decode(from, NULL);
        if (step) {
            memcpy(to, from, step);
        } else {
            *to = '?';
            step = 1;
        }
        to += step;
        from += step;
    }
    return true;
}

static kw_status normalize_number(const kw_row_field *field, void *to, const void *from, kw_error *err) {
    if (field->kind == KW_FIELD_REAL) {
        double value = kw_row_field_real(field, from);
        if (!isfinite(value)) {
            if (!(field->flags & KW_FIELD_LOOSE)) {
                return kw_fail(err, KW_ILLEGAL, "row: %s is not finite; it is a number of at least 0, 0 where it is not known",
                               field->name);
            }
            value = (double)NAN;
        }
        if (value < 0 && !(field->flags & KW_FIELD_SIGNED)) {
            return kw_fail(err, KW_ILLEGAL, "row: %s is %g; it cannot be negative", field->name, value);
        }
        kw_row_field_set_real(field, to, value == 0 ? 0 : value);
        return KW_OK;
    }
    int64_t value = kw_row_field_int(field, from);
    if (value < 0 && !(field->flags & KW_FIELD_SIGNED)) {
        return kw_fail(err, KW_ILLEGAL, "row: %s is %lld; it cannot be negative", field->name, (long long)value);
    }
    kw_row_field_set_int(field, to, value);
    return KW_OK;
}

static kw_status normalize_fields(void *to, const kw_row_field fields[], const void *from, kw_error *err) {
    for (const kw_row_field *field = fields; field->name; field++) {
        if (field->kind == KW_FIELD_TEXT) {
            if (!normalize_text((char *)to + field->offset, kw_row_field_text(field, from), field->size)) {
                return kw_fail(err, KW_ILLEGAL, "row: %s has no end within its %zu bytes", field->name, field->size);
            }
            if (field->flags & KW_FIELD_NEEDED && kw_row_field_blank(field, to)) {
                return kw_fail(err, KW_ILLEGAL, "row: %s is empty; it must be named", field->name);
            }
        } else if (field->kind == KW_FIELD_OUTCOME) {
            kw_outcome outcome = outcome_of(field, from);
            if ((size_t)outcome >= KW_OUTCOME_COUNT) {
                return kw_fail(err, KW_ILLEGAL, "row: outcome %d is not known", (int)outcome);
            }
            memcpy((char *)to + field->offset, &outcome, sizeof outcome);
        } else {
            kw_status status = normalize_number(field, to, from, err);
            if (status) {
                return status;
            }
        }
    }
    return KW_OK;
}

kw_status kw_row_normalize(kw_row *settled, const kw_row *row, kw_error *err) {
    memset(settled, 0, sizeof *settled);
    return normalize_fields(settled, kw_row_fields, row, err);
}

kw_status kw_run_normalize(kw_run *settled, const kw_run *run, kw_error *err) {
    memset(settled, 0, sizeof *settled);
    return normalize_fields(settled, kw_run_fields, run, err);
}

kw_status kw_row_problem(kw_problem *problem, const char *text, kw_error *err) {
    char canonical[KW_PROBLEM_TEXT_MAX];
    kw_status status = kw_problem_parse(problem, text, err);
    if (status) {
        return status;
    }
    kw_problem_print(canonical, sizeof canonical, problem);
    if (strcmp(canonical, text) != 0) {
        return kw_fail(err, KW_MALFORMED, "problem \"%.120s\" is not in canonical form, which is \"%.200s\"", text, canonical);
    }
    return KW_OK;
}

bool kw_config_is_foreign(const char *config, kw_op *op, kw_dtype *dtype) {
    kw_scan scan = kw_scan_string(config);
    kw_word family, op_word, dtype_word, axis;
    kw_op some_op;
    kw_dtype some_dtype;
    if (!kw_scan_word(&scan, &family) || !kw_scan_word(&scan, &op_word) || !kw_scan_word(&scan, &dtype_word) ||
        !kw_op_of_word(op ? op : &some_op, op_word) || !kw_dtype_of_word(dtype ? dtype : &some_dtype, dtype_word)) {
        return true;
    }
    while (kw_scan_word(&scan, &axis)) {
        const char *equals = memchr(axis.at, '=', axis.size);
        if (!equals || equals == axis.at || equals == axis.at + axis.size - 1) {
            return true;
        }
    }
    return false;
}
