/* scale.c: scales that hold whatever they are given, round ticks, and how values are written. */
#include "report/page/scale.h"

#include <math.h>
#include <stdio.h>

void kw_scale_sanitize(kw_svg_axis *axis) {
    double least = axis->log ? 1e-30 : -1e30;
    if (!isfinite(axis->low) || axis->low < least) {
        axis->low = axis->log ? 1 : 0;
    }
    if (!isfinite(axis->high) || axis->high < least || axis->high > 1e30) {
        axis->high = axis->low;
    }
    if (axis->low > axis->high) {
        double low = axis->low;
        axis->low = axis->high;
        axis->high = low;
    }
    if (axis->log && axis->high < axis->low * 1.02) {
        axis->low /= 1.1;
        axis->high *= 1.1;
    } else if (!axis->log && axis->high - axis->low < 1e-9 * (fabs(axis->high) + 1e-9)) {
        axis->low -= 0.5 * (fabs(axis->low) + 1);
        axis->high += 0.5 * (fabs(axis->high) + 1);
    }
}

static int linear_ticks(kw_tick ticks[], const kw_svg_axis *axis, int room) {
    double rough = (axis->high - axis->low) / (room > 1 ? room : 1), power = pow(10, floor(log10(rough)));
    double step = rough <= power ? power : rough <= 2 * power ? 2 * power : rough <= 5 * power ? 5 * power : 10 * power;
    double first = ceil(axis->low / step - 1e-9);
    int count = 0;
    for (double i = first; count < KW_TICKS_MAX && i * step <= axis->high + step * 1e-9; i++) {
        ticks[count++] = (kw_tick){i * step + 0.0, true}; /* + 0: no minus before a zero */
    }
    return count;
}

/* Powers of ten; where few of them fall into the range, 2 and 5 times these as well. */
static int log_ticks(kw_tick ticks[], const kw_svg_axis *axis, int room) {
    double low = log10(axis->low), high = log10(axis->high), span = high - low;
    double each = ceil(span / (room > 1 ? room : 1));
    bool fine = span * 3 <= room, halves = span <= 8;
    int count = 0;
    for (double decade = floor(low); decade <= high + 1e-9; decade++) {
        static const double parts[] = {1, 2, 5};
        for (int p = 0; p < (halves ? 3 : 1); p++) {
            double value = pow(10, decade) * parts[p];
            if (count < KW_TICKS_MAX && value >= axis->low * (1 - 1e-9) && value <= axis->high * (1 + 1e-9)) {
                ticks[count++] = (kw_tick){value, p ? fine : fmod(fabs(decade), each) < 0.5 || each < 1.5};
            }
        }
    }
    return count;
}

int kw_scale_ticks(kw_tick ticks[KW_TICKS_MAX], const kw_svg_axis *axis, int room) {
    bool decades = axis->log && axis->high > 6 * axis->low; /* a narrower range has too few powers of ten */
    return decades ? log_ticks(ticks, axis, room) : linear_ticks(ticks, axis, room);
}

double kw_scale_map(const kw_svg_axis *axis, double value) {
    if (!isfinite(value) || (axis->log && value <= 0)) {
        return -1;
    }
    double place = axis->log ? log(value / axis->low) / log(axis->high / axis->low) : (value - axis->low) / (axis->high - axis->low);
    return place < 0 ? 0 : place > 1 ? 1 : place;
}

/* Three digits at most, without zeros at the end. */
static void print_scaled(char text[24], double value, const char *unit) {
    double size = fabs(value);
    char digits[16];
    snprintf(digits, sizeof digits, size >= 99.95 || size == 0 ? "%.0f" : size >= 9.995 ? "%.1f" : "%.2f", value);
    char *end = digits;
    for (char *c = digits; *c; c++) {
        end = c;
    }
    bool fraction = false;
    for (const char *c = digits; *c; c++) {
        fraction |= *c == '.';
    }
    while (fraction && (*end == '0' || *end == '.')) {
        fraction = *end != '.';
        *end-- = 0;
    }
    snprintf(text, 24, "%s%s", digits, unit);
}

static void print_si(char text[24], double value, const char *const units[], int count, double least) {
    int i = 0;
    double scaled = value / least;
    while (i + 1 < count && fabs(scaled) >= 999.5) {
        scaled /= 1000;
        i++;
    }
    if (fabs(scaled) >= 1e6 || (scaled != 0 && fabs(scaled) < 0.005)) {
        snprintf(text, 24, "%.2g%s", scaled, units[i]);
    } else {
        print_scaled(text, scaled, units[i]);
    }
}

void kw_unit_print(char text[24], double value, kw_unit unit) {
    static const char *const si[] = {"", " k", " M", " G", " T", " P", " E"};
    static const char *const times[] = {" ns", " \xc2\xb5s", " ms", " s", " ks"};
    if (!isfinite(value)) {
        snprintf(text, 24, "n/a");
        return;
    }
    switch (unit) {
    case KW_UNIT_SI:
        print_si(text, value, si, 7, 1);
        return;
    case KW_UNIT_TIME:
        print_si(text, value, times, 5, 1);
        return;
    case KW_UNIT_PERCENT:
        print_si(text, 100 * value, (const char *const[]){" %"}, 1, 1);
        return;
    case KW_UNIT_RATIO:
        print_si(text, value, (const char *const[]){"x"}, 1, 1);
        return;
    case KW_UNIT_PLAIN:
        break;
    }
    print_si(text, value, (const char *const[]){""}, 1, 1);
}
