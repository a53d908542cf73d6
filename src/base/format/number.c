/* number.c: real numbers as text. The C library rounds rightly, but writes and expects the locale's decimal point; so it is only given, and
 * only asked for, digits and an exponent, and the point is set here. */
#include "base/format/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS_MAX = 17, READ_MAX = 400 };

/* d.ddde+xx as the C library prints it: its digits without trailing zeros, and the exponent of the first. */
static int split_digits(char digits[DIGITS_MAX + 1], int *exponent, const char *printed) {
    int count = 0;
    const char *at = printed;
    for (; *at != 'e'; at++) {
        if (*at >= '0' && *at <= '9' && count < DIGITS_MAX) {
            digits[count++] = *at;
        }
    }
    while (count > 1 && digits[count - 1] == '0') {
        count--;
    }
    digits[count] = 0;
    *exponent = (int)strtol(at + 1, NULL, 10);
    return count;
}

/* The value, of which digits and exponent are one spelling. */
static double join_digits(const char *digits, int count, int exponent) {
    char text[DIGITS_MAX + 16];
    snprintf(text, sizeof text, "%se%d", digits, exponent - (count - 1));
    return strtod(text, NULL);
}

static void put_plain(kw_line *line, const char *digits, int count, int exponent) {
    if (exponent < 0) {
        kw_line_addf(line, "0.%.*s%s", -exponent - 1, "000000", digits);
    } else if (exponent + 1 >= count) {
        kw_line_addf(line, "%s%.*s", digits, exponent + 1 - count, "0000000000000000");
    } else {
        kw_line_addf(line, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
    }
}

size_t kw_number_print(char text[KW_NUMBER_TEXT], double value) {
    kw_line line = {text, KW_NUMBER_TEXT, 0};
    if (!isfinite(value)) {
        kw_line_addf(&line, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return line.size;
    }
    kw_line_addf(&line, signbit(value) ? "-" : "");
    value = fabs(value);
    if (value < 1e15 && value == floor(value)) {
        kw_line_addf(&line, "%lld", (long long)value);
        return line.size;
    }
    char printed[64], digits[DIGITS_MAX + 1];
    int count = 0, exponent = 0;
    for (int precision = 15; precision <= DIGITS_MAX; precision++) {
        snprintf(printed, sizeof printed, "%.*e", precision - 1, value);
        count = split_digits(digits, &exponent, printed);
        if (precision == DIGITS_MAX || join_digits(digits, count, exponent) == value) {
            break;
        }
    }
    if (exponent >= -5 && exponent < 16) {
        put_plain(&line, digits, count, exponent);
    } else {
        kw_line_addf(&line, "%c%s%se%d", digits[0], count > 1 ? "." : "", digits + 1, exponent);
    }
    return line.size;
}

bool kw_number_read(kw_word word, double *value) {
    char text[READ_MAX + 32];
    size_t size = 0;
    int64_t point = 0, exponent = 0;
    bool seen_point = false, seen_digit = false;
    const char *at = word.at, *end = word.at + word.size;
    if (word.size > READ_MAX) {
        return false;
    }
    if (at < end && *at == '-') {
        text[size++] = *at++;
    }
    for (; at < end && ((*at >= '0' && *at <= '9') || (*at == '.' && !seen_point)); at++) {
        if (*at == '.') {
            seen_point = true;
        } else {
            seen_digit = true;
            text[size++] = *at;
            point += seen_point;
        }
    }
    if (!seen_digit) {
        return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        kw_scan scan = {at + 1, end};
        kw_scan_char(&scan, '+');
        if (!kw_scan_int(&scan, -9999, 9999, &exponent)) {
            return false;
        }
        at = scan.at;
    }
    if (at != end) {
        return false;
    }
    snprintf(text + size, sizeof text - size, "e%d", (int)(exponent - point));
    *value = strtod(text, NULL);
    return isfinite(*value);
}
