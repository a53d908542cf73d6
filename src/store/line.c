/* line.c: JSON lines. Written by hand, since the order of the members and the digits of numbers are part of a row's identity; read through
 * jansson. */
#include "store/line.h"

#include "base/format/number.h"
#include "json/json_read.h"
#include "json/json_write.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SCHEMA = 1 };

/* ,"sum":"0123456789abcdef"} */
static const char sum_head[] = ",\"sum\":\"", sum_tail[] = "\"}";
enum { SUM_DIGITS = 16, SUM_SIZE = sizeof sum_head - 1 + SUM_DIGITS + sizeof sum_tail - 1 };

static const char row_head[] = "{\"schema\":1,\"line\":\"row\"", run_head[] = "{\"schema\":1,\"line\":\"run\"";

static void add_json_value(kw_text *text, const kw_row_field *field, const void *base) {
    char number[KW_NUMBER_TEXT];
    kw_outcome outcome;
    switch (field->kind) {
    case KW_FIELD_TEXT:
        kw_json_add_string(text, kw_row_field_text(field, base));
        break;
    case KW_FIELD_BOOL:
        kw_text_add(text, kw_row_field_int(field, base) ? "true" : "false");
        break;
    case KW_FIELD_INT32:
    case KW_FIELD_INT64:
    case KW_FIELD_UINT64:
        snprintf(number, sizeof number, "%" PRId64, kw_row_field_int(field, base));
        kw_text_add(text, number);
        break;
    case KW_FIELD_REAL:
        if (isnan(kw_row_field_real(field, base))) {
            kw_text_add(text, "null");
        } else {
            kw_number_print(number, kw_row_field_real(field, base));
            kw_text_add(text, number);
        }
        break;
    case KW_FIELD_OUTCOME:
        memcpy(&outcome, (const char *)base + field->offset, sizeof outcome);
        kw_json_add_string(text, kw_outcome_name(outcome));
        break;
    }
}

static void add_members(kw_text *text, const kw_row_field fields[], const void *base) {
    for (const kw_row_field *field = fields; field->name; field++) {
        if (field->flags & KW_FIELD_ALWAYS || !kw_row_field_blank(field, base)) {
            kw_text_add(text, ",\"");
            kw_text_add(text, field->name);
            kw_text_add(text, "\":");
            add_json_value(text, field, base);
        }
    }
}

kw_status kw_row_digest(char digest[KW_HASH_TEXT], const kw_row *row, kw_error *err) {
    kw_text text = {0};
    add_members(&text, kw_row_fields, row);
    if (text.failed) {
        kw_text_drop(&text);
        return kw_fail_memory(err, "a row's text");
    }
    kw_hash_text(digest, text.data, text.size);
    kw_text_drop(&text);
    return KW_OK;
}

static void add_json_line(kw_text *text, const char *head, const kw_row_field fields[], const void *base) {
    size_t start = text->size;
    kw_text_add(text, head);
    add_members(text, fields, base);
    if (!text->failed) {
        char sum[SUM_SIZE + 1];
        snprintf(sum, sizeof sum, "%s%016" PRIx64 "%s", sum_head, kw_hash64(text->data + start, text->size - start), sum_tail);
        kw_text_add(text, sum);
    }
}

void kw_line_add_row(kw_text *text, const kw_row *row) {
    add_json_line(text, row_head, kw_row_fields, row);
    kw_text_add(text, "\n");
}

void kw_line_add_run(kw_text *text, const kw_run *run) {
    add_json_line(text, run_head, kw_run_fields, run);
    kw_text_add(text, "\n");
}

static kw_status take_line_text(char **line, kw_text *text, kw_error *err) {
    *line = kw_text_take(text);
    return *line ? KW_OK : kw_fail_memory(err, "a line");
}

kw_status kw_row_print(char **line, const kw_row *row, kw_error *err) {
    *line = NULL;
    kw_row settled;
    kw_text text = {0};
    kw_status status = kw_row_normalize(&settled, row, err);
    if (status) {
        return status;
    }
    add_json_line(&text, row_head, kw_row_fields, &settled);
    return take_line_text(line, &text, err);
}

kw_status kw_run_print(char **line, const kw_run *run, kw_error *err) {
    *line = NULL;
    kw_run settled;
    kw_text text = {0};
    kw_status status = kw_run_normalize(&settled, run, err);
    if (status) {
        return status;
    }
    add_json_line(&text, run_head, kw_run_fields, &settled);
    return take_line_text(line, &text, err);
}

kw_line_kind kw_line_kind_of(kw_word line) {
    return kw_word_starts(line, row_head) ? KW_LINE_ROW : kw_word_starts(line, run_head) ? KW_LINE_RUN : KW_LINE_DAMAGED;
}

kw_status kw_line_check_sum(const char *line, size_t size, kw_error *err) {
    if (size > KW_LINE_MAX) {
        return kw_fail(err, KW_MALFORMED, "line: it has %zu bytes; a line has at most %d", size, KW_LINE_MAX);
    }
    if (size <= SUM_SIZE || memcmp(line + size - SUM_SIZE, sum_head, sizeof sum_head - 1) != 0 ||
        memcmp(line + size - (sizeof sum_tail - 1), sum_tail, sizeof sum_tail - 1) != 0) {
        return kw_fail(err, KW_MALFORMED, "line: it does not end in its checksum, so it is cut off or was edited");
    }
    char sum[SUM_DIGITS + 1];
    snprintf(sum, sizeof sum, "%016" PRIx64, kw_hash64(line, size - SUM_SIZE));
    if (memcmp(line + size - SUM_SIZE + sizeof sum_head - 1, sum, SUM_DIGITS) != 0) {
        return kw_fail(err, KW_MALFORMED, "line: its checksum does not match (this text has %s), so it is damaged or was edited", sum);
    }
    return KW_OK;
}

static kw_status set_member(const kw_row_field *field, void *base, const json_t *value, kw_error *err) {
    bool good = false;
    switch (json_typeof(value)) {
    case JSON_STRING:
        good = kw_row_field_set_text(field, base, (kw_word){json_string_value(value), json_string_length(value)});
        break;
    case JSON_INTEGER:
        good = field->kind == KW_FIELD_REAL ? kw_row_field_set_real(field, base, (double)json_integer_value(value))
                                            : field->kind != KW_FIELD_BOOL && kw_row_field_set_int(field, base, json_integer_value(value));
        break;
    case JSON_REAL:
        good = kw_row_field_set_real(field, base, json_real_value(value));
        break;
    case JSON_TRUE:
    case JSON_FALSE:
        good = field->kind == KW_FIELD_BOOL && kw_row_field_set_int(field, base, json_is_true(value));
        break;
    case JSON_NULL:
        good = field->flags & KW_FIELD_LOOSE && kw_row_field_set_real(field, base, (double)NAN);
        break;
    default:
        break;
    }
    return good ? KW_OK : kw_fail(err, KW_MALFORMED, "line: \"%s\" has a value that it cannot have", field->name);
}

static kw_status check_head(const json_t *object, const char *kind, kw_error *err) {
    const json_t *schema = json_object_get(object, "schema"), *line = json_object_get(object, "line");
    if (!json_is_integer(schema) || !json_is_string(line)) {
        return kw_fail(err, KW_MALFORMED, "line: it has no \"schema\" and \"line\", so it is not one of ours");
    }
    if (json_integer_value(schema) != SCHEMA) {
        return kw_fail(err, KW_ILLEGAL, "line: schema %lld is not known here; this version reads schema %d",
                       (long long)json_integer_value(schema), SCHEMA);
    }
    if (strcmp(json_string_value(line), kind) != 0) {
        return kw_fail(err, KW_MALFORMED, "line: it is a %.20s, not a %s", json_string_value(line), kind);
    }
    return KW_OK;
}

/* Every member must be a field, and a field that must be written must be there. */
static kw_status read_members(void *base, const kw_row_field fields[], const json_t *object, kw_error *err) {
    size_t known = 3; /* schema, line, sum */
    for (const kw_row_field *field = fields; field->name; field++) {
        const json_t *value = json_object_get(object, field->name);
        if (!value && field->flags & (KW_FIELD_ALWAYS | KW_FIELD_NEEDED)) {
            return kw_fail(err, KW_MALFORMED, "line: it has no \"%s\"", field->name);
        }
        kw_status status = value ? set_member(field, base, value, err) : KW_OK;
        if (status) {
            return status;
        }
        known += value != NULL;
    }
    if (known != json_object_size(object)) {
        return kw_fail(err, KW_MALFORMED, "line: it has a member that is not known; it was made by another version");
    }
    return KW_OK;
}

static kw_status parse_fields(void *base, const kw_row_field fields[], const char *kind, kw_word line, kw_error *err) {
    kw_status status = kw_line_check_sum(line.at, line.size, err);
    if (status) {
        return status;
    }
    json_t *object;
    status = kw_json_read(&object, "line", line.at, line.size, err);
    if (status) {
        return status;
    }
    status = check_head(object, kind, err);
    if (!status) {
        status = read_members(base, fields, object, err);
    }
    json_decref(object);
    return status;
}

kw_status kw_row_parse(kw_row *row, const char *line, size_t size, kw_error *err) {
    kw_row raw = {0};
    kw_status status = parse_fields(&raw, kw_row_fields, "row", (kw_word){line, size}, err);
    return status ? status : kw_row_normalize(row, &raw, err);
}

kw_status kw_run_parse(kw_run *run, const char *line, size_t size, kw_error *err) {
    kw_run raw = {0};
    kw_status status = parse_fields(&raw, kw_run_fields, "run", (kw_word){line, size}, err);
    return status ? status : kw_run_normalize(run, &raw, err);
}
