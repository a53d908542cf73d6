/* rates.c: the rates of a core as text, and what stands for those that were not measured. */
#include "problem/target/rates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct rate {
    const char *name;
    double usual;
    size_t offset;
} rate;

static const rate list[] = {
#define KW_RATE(name, usual, meaning) {#name, usual, offsetof(kw_rates, name)},
    KW_RATES(KW_RATE)
#undef KW_RATE
};

enum { RATE_COUNT = sizeof list / sizeof *list };

static double value_of(const kw_rates *rates, const rate *which) {
    double value;
    memcpy(&value, (const char *)rates + which->offset, sizeof value);
    return value;
}

static void set_value(kw_rates *rates, const rate *which, double value) {
    memcpy((char *)rates + which->offset, &value, sizeof value);
}

kw_rates kw_rates_whole(const kw_rates *measured) {
    kw_rates whole = *measured;
    whole.load256 = whole.load256 > 0 ? whole.load256 : whole.fma256;
    whole.load512 = whole.load512 > 0 ? whole.load512 : whole.fma512;
    for (const rate *which = list; which < list + RATE_COUNT; which++) {
        if (!(value_of(&whole, which) > 0)) {
            set_value(&whole, which, which->usual);
        }
    }
    /* A farther level that was not measured is no faster than a nearer one that was. */
    whole.l3 = measured->l3 > 0 ? whole.l3 : fmin(whole.l3, whole.l2);
    whole.l3_full = measured->l3_full > 0 ? whole.l3_full : fmin(whole.l3_full, whole.l3);
    whole.ram = measured->ram > 0 ? whole.ram : fmin(whole.ram, whole.l3_full);
    return whole;
}

size_t kw_rates_print(char *text, size_t capacity, const kw_rates *rates) {
    kw_line line = {text, capacity, 0};
    for (const rate *which = list; which < list + RATE_COUNT; which++) {
        double value = value_of(rates, which);
        if (value > 0) {
            kw_line_addf(&line, "%s%s=%.3g", line.size ? " " : "", which->name, value);
        }
    }
    return line.size;
}

/* The number of a word "name=number"; 0 where it is none above 0. */
static double read_number(kw_word word) {
    char text[32], *end;
    if (word.size == 0 || word.size >= sizeof text) {
        return 0;
    }
    memcpy(text, word.at, word.size);
    text[word.size] = 0;
    double value = strtod(text, &end);
    return *end == 0 && isfinite(value) && value > 0 ? value : 0;
}

bool kw_rates_parse(kw_rates *rates, kw_word text) {
    kw_scan scan = {text.at, text.at + text.size};
    kw_word word;
    int found = 0;
    while (kw_scan_word(&scan, &word)) {
        kw_scan parts = {word.at, word.at + word.size};
        kw_word name;
        kw_scan_field(&parts, '=', &name);
        for (const rate *which = list; parts.at && which < list + RATE_COUNT; which++) {
            if (!kw_word_is(name, which->name)) {
                continue;
            }
            double value = read_number((kw_word){parts.at, (size_t)(parts.end - parts.at)});
            if (!(value > 0)) {
                return false;
            }
            set_value(rates, which, value);
            found++;
        }
    }
    return found > 0;
}

void kw_rates_raise(kw_rates *rates, const kw_rates *other) {
    for (const rate *which = list; which < list + RATE_COUNT; which++) {
        set_value(rates, which, fmax(value_of(rates, which), value_of(other, which)));
    }
}

void kw_rates_order(kw_rates *rates) {
    bool cached = rates->l3 > 0;
    rates->l3_full = rates->l3_full > 0 ? fmax(rates->l3_full, rates->ram) : 0;
    rates->l3 = cached ? fmax(rates->l3, rates->l3_full) : 0;
    rates->l2 = rates->l2 > 0 ? fmax(rates->l2, rates->l3) : 0;
}
