/* builder_line.c: lines come from outside, so nothing is taken on trust: counts, ends of brackets, numbers and the ranges of axes are looked at
 * here, once, and the forms (builder_conf.c) only say which value is which. */
#include "space/ck/builder_line.h"

#include <string.h>
#include <strings.h>

kw_word kw_builder_trimmed(kw_word text) {
    const char *from = text.at, *end = text.at + text.size;
    while (from < end && (*from == ' ' || *from == '\t')) {
        from++;
    }
    while (end > from && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r')) {
        end--;
    }
    return (kw_word){from, (size_t)(end - from)};
}

bool kw_builder_equals(kw_word word, const char *text) {
    return word.size == strlen(text) && !strncasecmp(word.at, text, word.size);
}

bool kw_builder_contains(kw_word word, const char *text) {
    return !*text || (word.size && memmem(word.at, word.size, text, strlen(text)));
}

static kw_status add_builder_value(kw_builder_line *in, const char *from, const char *end) {
    if (in->count == KW_BUILDER_VALUES_MAX) {
        return kw_fail(in->err, KW_MALFORMED, "%s: more than %d values", in->place, KW_BUILDER_VALUES_MAX);
    }
    in->value[in->count++] = kw_builder_trimmed((kw_word){from, (size_t)(end - from)});
    return KW_OK;
}

kw_status kw_builder_line_parse(kw_builder_line *in, kw_word text) {
    const char *open = memchr(text.at, '<', text.size), *end = text.at + text.size, *c = open ? open + 1 : text.at, *from = c;
    in->name = open ? kw_builder_trimmed((kw_word){text.at, (size_t)(open - text.at)}) : (kw_word){text.at, 0};
    kw_status status = KW_OK;
    int depth = 0;
    for (; c < end && depth >= 0 && !status; c++) {
        depth += (*c == '<' || *c == '(' || *c == '[') - (*c == '>' || *c == ')' || *c == ']');
        if (depth < 0 || (*c == ',' && !depth)) {
            status = add_builder_value(in, from, c);
            from = c + 1;
        }
    }
    if (!status && open && depth >= 0) {
        return kw_fail(in->err, KW_MALFORMED, "%s: the list of values has no end", in->place);
    }
    return status || open ? status : add_builder_value(in, from, end);
}

kw_word kw_builder_unqualified(kw_word value) {
    for (size_t i = value.size; i-- > 1;) {
        if (value.at[i] == ':' && value.at[i - 1] == ':') {
            return (kw_word){value.at + i + 1, value.size - i - 1};
        }
    }
    return value;
}

kw_status kw_builder_number(const kw_builder_line *in, int place, int64_t *value) {
    if (place >= in->count) {
        return kw_fail(in->err, KW_MALFORMED, "%s: value %d is wanted, the line has %d", in->place, place, in->count);
    }
    if (!kw_word_int(in->value[place], 0, 65536, value)) {
        return kw_fail(in->err, KW_MALFORMED, "%s: value %d, '%.*s', is not a whole number from 0 to 65536", in->place, place,
                       KW_WORD(in->value[place]));
    }
    return KW_OK;
}

static const kw_axis *builder_axis(const kw_builder_line *in, const char *name) {
    return &in->config.family->axes[kw_family_axis(in->config.family, (kw_word){name, strlen(name)})];
}

kw_status kw_builder_set(kw_builder_line *in, const char *name, int64_t value) {
    const kw_axis *axis = builder_axis(in, name);
    if (value < axis->low || value > axis->high) {
        return kw_fail(in->err, KW_ILLEGAL, "%s: %s is %lld, outside %d..%d", in->place, name, (long long)value, axis->low, axis->high);
    }
    in->config.axis[axis - in->config.family->axes] = (int32_t)value;
    return KW_OK;
}

kw_status kw_builder_set_number(kw_builder_line *in, const char *name, int place) {
    int64_t value;
    kw_status status = kw_builder_number(in, place, &value);
    return status ? status : kw_builder_set(in, name, value);
}

kw_status kw_builder_set_word(kw_builder_line *in, const char *name, kw_word wanted, const kw_builder_word *meanings) {
    const kw_axis *axis = builder_axis(in, name);
    for (; meanings->word; meanings++) {
        if (kw_builder_equals(wanted, meanings->word)) {
            kw_scan scan = kw_scan_string(axis->words);
            kw_word word;
            for (int32_t i = 0; kw_scan_word(&scan, &word); i++) {
                if (kw_word_is(word, meanings->value)) {
                    in->config.axis[axis - in->config.family->axes] = i;
                    return KW_OK;
                }
            }
        }
    }
    return kw_fail(in->err, KW_MALFORMED, "%s: '%.*s' is not known as %s", in->place, KW_WORD(wanted), name);
}

kw_status kw_builder_set_flag(kw_builder_line *in, const char *axis, int place) {
    kw_word value = place < in->count ? kw_builder_unqualified(in->value[place]) : (kw_word){"?", 1};
    bool yes = kw_builder_equals(value, "true") || kw_builder_equals(value, "1"),
         no = kw_builder_equals(value, "false") || kw_builder_equals(value, "0");
    return yes || no ? kw_builder_set(in, axis, yes)
                     : kw_fail(in->err, KW_MALFORMED, "%s: value %d is neither true nor false", in->place, place);
}
