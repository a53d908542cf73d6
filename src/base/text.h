/* text.h: growing text and scanning of text. Every parser of outside text in this project is built on kw_scan, so that a
 * word, a number and their limits mean the same everywhere. Locale plays no part. */
#ifndef KW_BASE_TEXT_H
#define KW_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text under construction, on the heap. A zeroed kw_text is empty. data is always terminated once something was
 * added (kw_text_string gives "" before). Want of memory sets failed and is asked for once, at the end. */
typedef struct kw_text {
    char *data;
    size_t size, capacity;
    bool failed;
} kw_text;

void kw_text_add(kw_text *text, const char *string);
void kw_text_add_bytes(kw_text *text, const void *bytes, size_t size);
void kw_text_addf(kw_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Room for more bytes and their terminator behind data + size, for who writes there and then sets size. false: failed is set. */
bool kw_text_reserve(kw_text *text, size_t more);
const char *kw_text_string(const kw_text *text);
/* Gives the terminated text away (the caller frees it) and leaves the builder empty; NULL when memory had failed. */
char *kw_text_take(kw_text *text);
void kw_text_drop(kw_text *text);

/* Text in the caller's memory: keeps what fits (terminated, where capacity > 0) and counts all of it, as snprintf does. */
typedef struct kw_line {
    char *data;
    size_t capacity;
    size_t size; /* of the whole text; above capacity - 1 when it was cut */
} kw_line;

void kw_line_addf(kw_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A piece of someone else's text; not terminated. */
typedef struct kw_word {
    const char *at;
    size_t size;
} kw_word;

/* for printf("%.*s") */
#define KW_WORD(word) (int)((word).size < 80 ? (word).size : 80), (word).at

bool kw_word_is(kw_word word, const char *string);
bool kw_word_starts(kw_word word, const char *prefix);
/* Where the word stands in a list with blanks between its words; -1: nowhere. */
int kw_word_position(kw_word word, const char *list);
/* Copies the word, terminated; capacity is above 0. false where it was cut to fit. */
bool kw_word_copy(char *to, size_t capacity, kw_word word);

typedef struct kw_scan {
    const char *at, *end;
} kw_scan;

kw_scan kw_scan_string(const char *string);
/* The next run of characters that are neither blank, tab nor line end; false at the end of the text. */
bool kw_scan_word(kw_scan *scan, kw_word *word);
/* The next line without its end ("\n" or "\r\n"); false at the end of the text. */
bool kw_scan_line(kw_scan *scan, kw_word *line);
/* The next field up to separator or the end; false when the scan is exhausted. An empty last field counts. */
bool kw_scan_field(kw_scan *scan, char separator, kw_word *field);
/* A decimal integer at the front: digits, with '-' allowed when low < 0. false (and nothing consumed) when there is none or it
 * lies outside low..high. */
bool kw_scan_int(kw_scan *scan, int64_t low, int64_t high, int64_t *value);
/* Consumes c if it is next. */
bool kw_scan_char(kw_scan *scan, char c);
/* The whole word as an integer. */
bool kw_word_int(kw_word word, int64_t low, int64_t high, int64_t *value);

#endif
