/* text.c: text builder and scanner. */
#include "base/text.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool kw_text_reserve(kw_text *text, size_t more) {
    if (text->failed) {
        return false;
    }
    assert(!text->data == !text->capacity && (!text->data || text->size < text->capacity)); /* room for the terminator */
    if (text->capacity - text->size > more) {
        return true;
    }
    size_t capacity = text->capacity ? text->capacity : 256;
    while (capacity - text->size <= more) {
        if (capacity > SIZE_MAX / 4) {
            text->failed = true;
            return false;
        }
        capacity *= 2;
    }
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void kw_text_add_bytes(kw_text *text, const void *bytes, size_t size) {
    if (kw_text_reserve(text, size)) {
        if (size) {
            memcpy(text->data + text->size, bytes, size);
        }
        text->size += size;
        text->data[text->size] = 0;
    }
}

void kw_text_add(kw_text *text, const char *string) {
    kw_text_add_bytes(text, string, strlen(string));
}

void kw_text_addf(kw_text *text, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    if (length < 0) {
        text->failed = true;
    } else if (kw_text_reserve(text, (size_t)length)) {
        vsnprintf(text->data + text->size, (size_t)length + 1, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
    va_end(args);
}

const char *kw_text_string(const kw_text *text) {
    return text->data ? text->data : "";
}

char *kw_text_take(kw_text *text) {
    kw_text_add(text, "");
    char *data = text->failed ? NULL : text->data;
    if (!data) {
        free(text->data);
    }
    *text = (kw_text){0};
    return data;
}

void kw_text_drop(kw_text *text) {
    free(text->data);
    *text = (kw_text){0};
}

void kw_line_addf(kw_line *line, const char *format, ...) {
    bool room = line->size < line->capacity;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(room ? line->data + line->size : NULL, room ? line->capacity - line->size : 0, format, args);
    va_end(args);
    line->size += length > 0 ? (size_t)length : 0;
}

bool kw_word_is(kw_word word, const char *string) {
    return strlen(string) == word.size && !memcmp(word.at, string, word.size);
}

bool kw_word_copy(char *to, size_t capacity, kw_word word) {
    bool fits = word.size < capacity;
    size_t size = fits ? word.size : capacity - 1;
    if (size) {
        memcpy(to, word.at, size);
    }
    to[size] = 0;
    return fits;
}

bool kw_word_starts(kw_word word, const char *prefix) {
    size_t size = strlen(prefix);
    return size <= word.size && !memcmp(word.at, prefix, size);
}

int kw_word_position(kw_word word, const char *list) {
    kw_scan scan = kw_scan_string(list);
    kw_word one;
    for (int i = 0; kw_scan_word(&scan, &one); i++) {
        if (one.size == word.size && !memcmp(one.at, word.at, word.size)) {
            return i;
        }
    }
    return -1;
}

kw_scan kw_scan_string(const char *string) {
    return (kw_scan){string, string + strlen(string)};
}

static bool is_blank_char(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool kw_scan_word(kw_scan *scan, kw_word *word) {
    while (scan->at < scan->end && is_blank_char(*scan->at)) {
        scan->at++;
    }
    const char *start = scan->at;
    while (scan->at < scan->end && !is_blank_char(*scan->at)) {
        scan->at++;
    }
    *word = (kw_word){start, (size_t)(scan->at - start)};
    return word->size > 0;
}

bool kw_scan_field(kw_scan *scan, char separator, kw_word *field) {
    if (!scan->at) {
        return false;
    }
    const char *start = scan->at;
    const char *stop = start < scan->end ? memchr(start, separator, (size_t)(scan->end - start)) : NULL;
    *field = (kw_word){start, (size_t)((stop ? stop : scan->end) - start)};
    scan->at = stop ? stop + 1 : NULL;
    return true;
}

bool kw_scan_line(kw_scan *scan, kw_word *line) {
    if (!scan->at || scan->at == scan->end || !kw_scan_field(scan, '\n', line)) {
        return false;
    }
    if (line->size && line->at[line->size - 1] == '\r') {
        line->size--;
    }
    return true;
}

bool kw_scan_int(kw_scan *scan, int64_t low, int64_t high, int64_t *value) {
    const char *at = scan->at;
    bool negative = low < 0 && at < scan->end && *at == '-';
    at += negative;
    const char *digits = at;
    int64_t sum = 0;
    for (; at < scan->end && *at >= '0' && *at <= '9'; at++) {
        int digit = *at - '0';
        if (__builtin_mul_overflow(sum, 10, &sum) ||
            (negative ? __builtin_sub_overflow(sum, digit, &sum) : __builtin_add_overflow(sum, digit, &sum))) {
            return false;
        }
    }
    if (at == digits || sum < low || sum > high) {
        return false;
    }
    scan->at = at;
    *value = sum;
    return true;
}

bool kw_scan_char(kw_scan *scan, char c) {
    if (scan->at == scan->end || *scan->at != c) {
        return false;
    }
    scan->at++;
    return true;
}

bool kw_word_int(kw_word word, int64_t low, int64_t high, int64_t *value) {
    kw_scan scan = {word.at, word.at + word.size};
    int64_t number;
    if (!kw_scan_int(&scan, low, high, &number) || scan.at != scan.end) {
        return false;
    }
    *value = number;
    return true;
}
