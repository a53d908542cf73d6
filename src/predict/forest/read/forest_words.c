/* forest_words.c: the words of a LightGBM text model: lines, keys, numbers, and refusing by name and place. Below the files that read
 * its parts. */
#include "predict/forest/read/forest_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

kw_status kw_forest_fail(const kw_forest_reader *reader, kw_status status, const char *format, ...) {
    char what[320], place[96] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (reader->tree >= 0) {
        snprintf(place, sizeof place, "tree %lld: ", (long long)reader->tree);
    }
    return kw_fail(reader->err, status, "model %.80s: %s%s%s%s", reader->name, place, reader->key ? reader->key : "",
                   reader->key ? ": " : "", what);
}

kw_status kw_forest_no_memory(const kw_forest_reader *reader) {
    return kw_fail_memory(reader->err, reader->name);
}

/* [+-]digits[.digits][e[+-]digits], with a digit in the mantissa: what LightGBM prints of finite numbers. */
static bool is_number_word(kw_word word) {
    const char *at = word.at, *end = word.at + word.size;
    size_t digits = 0, exponent = 0;
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        digits++;
    }
    if (at < end && *at == '.') {
        for (at++; at < end && *at >= '0' && *at <= '9'; at++) {
            digits++;
        }
    }
    if (digits && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        for (; at < end && *at >= '0' && *at <= '9'; at++) {
            exponent++;
        }
        return exponent && at == end;
    }
    return digits && at == end;
}

static kw_status next_list_word(const kw_forest_reader *reader, kw_scan *list, size_t position, kw_word *word) {
    if (!kw_scan_field(list, ' ', word) || !word->size) {
        return kw_forest_fail(reader, KW_MALFORMED, "no value at position %zu; there are fewer than the counts ask for", position);
    }
    return KW_OK;
}

kw_status kw_forest_real(const kw_forest_reader *reader, kw_scan *list, size_t position, double *value) {
    kw_word word;
    char text[64];
    kw_status status = next_list_word(reader, list, position, &word);
    if (status) {
        return status;
    }
    if (word.size >= sizeof text || !is_number_word(word)) {
        return kw_forest_fail(reader, KW_MALFORMED, "value %.*s at position %zu is not a finite decimal number of at most 63 characters",
                              KW_WORD(word), position);
    }
    memcpy(text, word.at, word.size);
    text[word.size] = 0;
    *value = strtod_l(text, NULL, reader->plain);
    if (!isfinite(*value)) {
        return kw_forest_fail(reader, KW_ILLEGAL, "value %s at position %zu is beyond the range of a double", text, position);
    }
    return KW_OK;
}

kw_status kw_forest_threshold(const kw_forest_reader *reader, kw_scan *list, size_t position, double *value) {
    kw_scan ahead = *list;
    kw_word word = {0};
    bool below = kw_scan_field(&ahead, ' ', &word) && kw_word_is(word, "-inf");
    if (below || kw_word_is(word, "inf")) {
        *value = below ? -(double)INFINITY : (double)INFINITY;
        *list = ahead;
        return KW_OK;
    }
    return kw_forest_real(reader, list, position, value);
}

kw_status kw_forest_integer(const kw_forest_reader *reader, kw_scan *list, size_t position, int64_t low, int64_t high, int64_t *value) {
    kw_word word;
    kw_status status = next_list_word(reader, list, position, &word);
    if (!status && !kw_word_int(word, low, high, value)) {
        status = kw_forest_fail(reader, KW_ILLEGAL, "value %.*s at position %zu is no integer from %lld to %lld", KW_WORD(word), position,
                                (long long)low, (long long)high);
    }
    return status;
}

kw_status kw_forest_list_end(const kw_forest_reader *reader, kw_scan *list, size_t count) {
    bool ended = count ? !list->at : list->at == list->end;
    return ended ? KW_OK : kw_forest_fail(reader, KW_MALFORMED, "more than the %zu values that the counts ask for", count);
}

kw_forest_pair kw_forest_split_line(kw_word line) {
    const char *equals = line.size ? memchr(line.at, '=', line.size) : NULL;
    if (!equals) {
        return (kw_forest_pair){.key = line, .value = {line.at + line.size, 0}};
    }
    size_t size = (size_t)(equals - line.at);
    return (kw_forest_pair){{line.at, size}, {equals + 1, line.size - size - 1}, true};
}

size_t kw_forest_find_key(const char *const *names, size_t count, kw_word key) {
    size_t i = 0;
    while (i < count && !kw_word_is(key, names[i])) {
        i++;
    }
    return i;
}
