/* filter_text.c: comparisons of a field with a word, a truth value or a number, in an expression that is Lua otherwise. Equality of strings is
 * silent about words that nothing has, so they are looked at here, before the expression is compiled. */
#include "space/filter/filter_text.h"

#include "problem/names/names.h"
#include "space/ck/fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_SIZE = 64, FORMS_MAX = 4, FORM_SIZE = 80 };

/* c.NAME == LITERAL */
typedef struct comparison {
    char name[NAME_MAX_SIZE], text[NAME_MAX_SIZE];
    bool equal, word; /* word: in quotes */
    kw_field_value value;
    const char *field_end, *end;
} comparison;

/* What the literal is as kernels have it, as Lua writes it. */
typedef struct forms {
    char text[FORMS_MAX][FORM_SIZE];
    size_t count;
} forms;

static bool copy_bytes(char out[NAME_MAX_SIZE], const char *from, size_t size) {
    return kw_word_copy(out, NAME_MAX_SIZE, (kw_word){from, size});
}

/* A name begins here: c.NAME, after nothing that would make it part of another. */
static bool begins_field(const char *text, const char *at) {
    return at[0] == 'c' && at[1] == '.' && (at == text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.'));
}

static bool ends_word(const char *at) {
    return !isalnum((unsigned char)*at) && *at != '_' && *at != '.';
}

static bool read_literal(comparison *c, const char *at) {
    if (*at == '\'' || *at == '"') {
        size_t size = strcspn(at + 1, *at == '"' ? "\"\\\n" : "'\\\n");
        c->word = true;
        c->end = at + size + 2;
        c->value = (kw_field_value){.text = c->text};
        c->value.is_number = kw_word_int((kw_word){at + 1, size}, -1, INT32_MAX, &c->value.number);
        return at[size + 1] == *at && copy_bytes(c->text, at + 1, size);
    }
    static const char *const truths[] = {"false", "true", "False", "True"};
    for (int i = 0; i < 4; i++) {
        if (!strncmp(at, truths[i], strlen(truths[i])) && ends_word(at + strlen(truths[i]))) {
            c->end = at + strlen(truths[i]);
            c->value = (kw_field_value){.text = truths[i & 1], .number = i & 1, .is_number = true};
            return true;
        }
    }
    size_t size = strspn(at, "-0123456789");
    c->end = at + size;
    c->value = (kw_field_value){.text = c->text, .is_number = true};
    return size && ends_word(c->end) && copy_bytes(c->text, at, size) && kw_word_int((kw_word){at, size}, -1, INT32_MAX, &c->value.number);
}

/* at begins a field; false: no comparison of the kind that is looked at follows. */
static bool read_comparison(comparison *c, const char *at) {
    *c = (comparison){0};
    size_t size = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz0123456789_");
    c->field_end = at + 2 + size;
    if (!size || !copy_bytes(c->name, at + 2, size)) {
        return false;
    }
    const char *sign = c->field_end + strspn(c->field_end, " ");
    c->equal = !strncmp(sign, "==", 2);
    if (!c->equal && strncmp(sign, "~=", 2) && strncmp(sign, "!=", 2)) {
        return false;
    }
    return read_literal(c, sign + 2 + strspn(sign + 2, " "));
}

static void add_form(forms *f, const char *text, bool quoted) {
    char form[FORM_SIZE];
    snprintf(form, sizeof form, quoted ? "'%s'" : "%s", text);
    for (size_t i = 0; i < f->count; i++) {
        if (!strcmp(f->text[i], form)) {
            return;
        }
    }
    if (f->count < FORMS_MAX) {
        strcpy(f->text[f->count++], form);
    }
}

/* As the view of a config has it (config_view.c): published truth values and numbers, else words. */
static void add_published_form(forms *f, const char *text) {
    int64_t number;
    bool truth = !strcmp(text, "true") || !strcmp(text, "false");
    add_form(f, text, !truth && !kw_word_int((kw_word){text, strlen(text)}, 0, INT32_MAX, &number));
}

static void add_axis_form(forms *f, const kw_family *family, const kw_field_place *place, int32_t value) {
    kw_config config = {.family = family};
    const char *published = kw_field_published(family, place, value);
    const kw_axis *axis = &family->axes[place->axis];
    char text[NAME_MAX_SIZE];
    if (published && kw_family_axis(family, (kw_word){place->field->name, strlen(place->field->name)}) < 0) {
        add_published_form(f, published);
        return;
    }
    config.axis[place->axis] = value;
    snprintf(text, sizeof text, "%d", value);
    if (!axis->words || kw_word_copy(text, sizeof text, kw_config_axis_word(&config, axis->name))) {
        add_form(f, text, axis->words != NULL);
    }
}

static void add_family_forms(forms *f, const kw_family *family, const kw_field_place *place, const kw_field_value *value) {
    if (place->axis < 0) {
        if (kw_field_is_without(place, value)) {
            add_published_form(f, place->field->without);
        }
        return;
    }
    const kw_axis *axis = &family->axes[place->axis];
    for (int32_t i = kw_axis_low(axis); i <= kw_axis_high(axis); i++) {
        if (kw_field_matches(family, place, value, i)) {
            add_axis_form(f, family, place, i);
        }
    }
}

/* c.family and its like; known says what there is. false: another field. */
static bool add_fixed_forms(forms *f, const comparison *c, const char **known) {
    kw_op op;
    kw_dtype dtype;
    bool is_op = !strcmp(c->name, "op"), is_family = !strcmp(c->name, "family");
    if (is_op || !strcmp(c->name, "variant")) {
        *known = "forward bwd_data bwd_weight gemm";
        if (kw_variant_find(&op, c->text)) {
            add_form(f, is_op ? kw_op_name(op) : kw_variant_name(op), true);
        }
    } else if (!strcmp(c->name, "dtype") || !strcmp(c->name, "data_type") || !strcmp(c->name, "datatype")) {
        *known = kw_dtype_names();
        if (kw_dtype_find(&dtype, c->text)) {
            add_form(f, kw_dtype_name(dtype), true);
        }
    } else if (is_family) {
        *known = "what `kwright show` lists";
        if (kw_family_find((kw_word){c->text, strlen(c->text)})) {
            add_form(f, c->text, true);
        }
    }
    return *known;
}

/* Numbers are compared as they are, but for fields that have other spellings of their values alone. */
static bool is_looked_up(const comparison *c) {
    bool spelled = false;
    for (const kw_field *field = kw_fields; field->name; field++) {
        spelled = spelled || (!strcmp(field->name, c->name) && field->words && !field->further);
    }
    return strcmp(c->name, "arch") && (c->word || c->value.text != c->text || spelled);
}

static kw_status find_forms(forms *f, const comparison *c, const char *where, kw_error *err) {
    const char *fixed = NULL;
    char known[512] = "";
    kw_line line = {known, sizeof known, 0};
    kw_layout layout;
    int32_t ndim;
    *f = (forms){0};
    if (!is_looked_up(c) || (!add_fixed_forms(f, c, &fixed) && !kw_field_known(c->name))) {
        return KW_OK;
    }
    for (size_t i = 0; !fixed && kw_family_table[i]; i++) {
        kw_field_place place;
        if (kw_field_find(&place, kw_family_table[i], c->name)) {
            add_family_forms(f, kw_family_table[i], &place, &c->value);
            kw_field_add_further(&line, kw_family_table[i], &place);
        }
    }
    if (!strcmp(c->name, "layout") && kw_layout_of_word(&layout, &ndim, (kw_word){c->text, strlen(c->text)})) {
        *f = (forms){0}; /* kernels have the names with two spatial axes */
        add_form(f, kw_layout_is_gemm(layout) ? c->text : kw_layout_name(layout, 2), true);
    }
    if (f->count || (!fixed && !line.size)) {
        return KW_OK;
    }
    return kw_fail(err, KW_ILLEGAL, "%s: %s: %s is no value of it; known: %s", where, c->name, c->value.text, fixed ? fixed : known);
}

/* The comparison with the forms found; none: as it stands. */
static void write_comparison(kw_text *out, const char *at, const comparison *c, const forms *f) {
    kw_word field = {at, (size_t)(c->field_end - at)};
    const char *sign = c->equal ? "==" : "~=";
    if (c->equal && kw_field_is_any(&c->value)) {
        kw_text_addf(out, "%.*s ~= nil", KW_WORD(field));
    } else if (!f->count) {
        kw_text_addf(out, "%.*s %s ", KW_WORD(field), sign);
        kw_text_addf(out, c->word ? "'%s'" : "%s", c->value.text);
    }
    for (size_t i = 0; i < f->count; i++) {
        kw_text_addf(out, "%s%.*s %s %s%s", i ? c->equal ? " or " : " and " : "(", KW_WORD(field), sign, f->text[i],
                     i + 1 == f->count ? ")" : "");
    }
}

/* A string in quotes, with its quotes; what it holds is nobody's field. */
static size_t string_size(const char *at) {
    size_t size = 1;
    while (at[size] && at[size] != *at) {
        size += at[size] == '\\' && at[size + 1] ? 2 : 1;
    }
    return size + (at[size] != 0);
}

kw_status kw_filter_text(kw_text *out, const char *expression, const char *where, kw_error *err) {
    kw_status status = KW_OK;
    for (const char *at = expression; !status && *at;) {
        comparison c;
        forms f = {0};
        size_t size = *at == '\'' || *at == '"' ? string_size(at) : 1;
        if (begins_field(expression, at) && read_comparison(&c, at)) {
            status = kw_field_is_any(&c.value) ? KW_OK : find_forms(&f, &c, where, err);
            write_comparison(out, at, &c, &f);
            at = c.end;
        } else if (!strncmp(at, "!=", 2)) {
            kw_text_add(out, "~=");
            at += 2;
        } else {
            kw_text_add_bytes(out, at, size);
            at += size;
        }
    }
    return status;
}
