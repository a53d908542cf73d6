/* forest_binning.c: values to bins, bins to classes, classes to rows. Only bins that occur matter: candidates are sorted into the
 * classes of occurring bins, each class has the row of its candidates, and the row of a condition is the union of the classes it sends
 * left. Without missing values these unions are prefixes, so that one pass makes them all. */
#include "predict/forest/forest_binning.h"

#include <string.h>

enum { UNION_BITS = 6 };

static size_t bins_in(const kw_forest_column *column) {
    return (size_t)column->regular + 2;
}

size_t kw_forest_max_bins(const kw_forest *forest, const kw_forest_role *roles, kw_forest_role role) {
    size_t most = 1;
    for (size_t i = 0; i < forest->features; i++) {
        const kw_forest_column *column = &forest->columns[i];
        if (column->splits && roles[i] == role && bins_in(column) > most) {
            most = bins_in(column);
        }
    }
    return most;
}

size_t kw_forest_conditions_of(const kw_forest *forest, const kw_forest_role *roles, kw_forest_role role) {
    size_t count = 0;
    for (size_t i = 0; i < forest->features; i++) {
        count += roles[i] == role ? forest->columns[i].condition_end - forest->columns[i].condition : 0;
    }
    return count;
}

/* How many of thresholds[0 .. count - 1] lie below value. Without branches: which way a comparison falls cannot be foreseen. */
static size_t count_below(const double *thresholds, size_t count, double value) {
    const double *base = thresholds;
    while (count > 1) {
        size_t half = count / 2;
        base += half & -(size_t)(base[half - 1] < value);
        count -= half;
    }
    return (size_t)(base - thresholds) + (count && *base < value);
}

static size_t bin_of(const kw_forest *forest, const kw_forest_column *column, double value) {
    if (column->categorical) {
        int64_t category = kw_forest_category(value);
        return category >= 0 && category < column->regular - 1 ? (size_t)category : column->regular - 1;
    }
    if (isnan(value)) {
        return column->regular;
    }
    value = kw_forest_flush(value);
    return value == 0 && column->splits_zero ? (size_t)column->regular + 1
                                             : count_below(forest->thresholds + column->threshold, column->regular - 1, value);
}

static bool bin_goes_left(const kw_forest *forest, const kw_forest_column *column, const kw_forest_condition *condition, size_t bin) {
    if (column->categorical) {
        return kw_forest_in_set(forest, condition, (int64_t)bin);
    }
    return bin < column->regular ? bin <= condition->bin : bin == column->regular ? condition->nan_left : condition->zero_left;
}

/* Conditions of a numeric feature from `from` on whose bin lies below `bin`, so that all values of that bin and above go right. */
static size_t first_not_below(const kw_forest *forest, const kw_forest_column *column, size_t from, size_t bin) {
    size_t end = column->condition_end;
    if (end - column->condition == (size_t)column->regular - 1) { /* one condition a threshold, as models mostly have */
        return column->condition + bin;
    }
    while (from < end) {
        size_t middle = (from + end) / 2;
        if (forest->conditions[middle].bin < bin) {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    return from;
}

static void fill_answers(uint32_t *answers, size_t from, size_t end, uint32_t answer) {
    for (size_t k = from; k < end; k++) {
        answers[k] = answer;
    }
}

/* All candidates are in one bin. */
static void answer_bin(const kw_forest *forest, const kw_forest_column *column, size_t bin, uint32_t *answers) {
    if (!column->categorical && bin < column->regular) {
        size_t middle = first_not_below(forest, column, column->condition, bin);
        fill_answers(answers, column->condition, middle, KW_ANSWER_RIGHT);
        fill_answers(answers, middle, column->condition_end, KW_ANSWER_LEFT);
        return;
    }
    for (size_t k = column->condition; k < column->condition_end; k++) {
        answers[k] = bin_goes_left(forest, column, &forest->conditions[k], bin) ? KW_ANSWER_LEFT : KW_ANSWER_RIGHT;
    }
}

void kw_forest_bin_value(const kw_forest *forest, size_t feature, double value, uint32_t *answers) {
    const kw_forest_column *column = &forest->columns[feature];
    answer_bin(forest, column, bin_of(forest, column, value), answers);
}

/* The bins that occur lie in low..high. */
typedef struct bin_range {
    size_t low, high;
} bin_range;

/* Numbers the values of a column; returns how many there are. Values repeat, as a pair feature knows few of a candidate's axes, so each is
 * looked for in a small table. Values count as equal where their bits are. */
static size_t number_values(kw_forest_binning *b, const double *values) {
    kw_forest_memo *memo = b->memo;
    uint32_t count = 0, number = 0;
    uint64_t bits, last = 0;
    memset(memo->bits, 0, sizeof memo->bits);
    memo->bits[0] = 1; /* 0 belongs here and 1 does not, so no place holds a value before one is put there */
    for (size_t j = 0; j < b->asked_count; j++) {
        memcpy(&bits, values + b->asked[j], sizeof bits);
        if (bits != last || !j) {
            size_t place = bits * 0x9e3779b97f4a7c15u >> (64 - KW_FOREST_MEMO_BITS);
            if (memo->bits[place] != bits) {
                memo->bits[place] = bits;
                memo->number[place] = count;
                b->different[count++] = values[b->asked[j]];
            }
            last = bits;
            number = memo->number[place];
        }
        b->numbers[j] = number;
    }
    return count;
}

/* count_below of each value, all of them step by step: a search waits for its loads, and several together do not. */
static void search_values(const kw_forest_binning *b, const double *thresholds, size_t count, size_t values) {
    uint32_t *lower = b->lower;
    memset(lower, 0, values * sizeof *lower);
    while (count > 1) {
        uint32_t half = (uint32_t)(count / 2);
        for (size_t i = 0; i < values; i++) {
            lower[i] += half & -(uint32_t)(thresholds[lower[i] + half - 1] < b->different[i]);
        }
        count -= half;
    }
    for (size_t i = 0; i < values && count; i++) {
        lower[i] += thresholds[lower[i]] < b->different[i];
    }
}

/* Bins of the values that were numbered, as bin_of has them, into lower. */
static void bin_numbered(kw_forest_binning *b, const kw_forest_column *column, size_t count) {
    if (column->categorical) {
        for (size_t i = 0; i < count; i++) {
            b->lower[i] = (uint32_t)bin_of(b->forest, column, b->different[i]);
        }
        return;
    }
    for (size_t i = 0; i < count; i++) {
        b->different[i] = kw_forest_flush(b->different[i]);
    }
    search_values(b, b->forest->thresholds + column->threshold, column->regular - 1, count);
    for (size_t i = 0; i < count; i++) {
        double value = b->different[i];
        b->lower[i] = isnan(value) ? column->regular : value == 0 && column->splits_zero ? column->regular + 1 : b->lower[i];
    }
}

/* Bins of all values; marks in classes those that occur. */
static bin_range bin_values(kw_forest_binning *b, const kw_forest_column *column, const double *values) {
    bin_range range = {SIZE_MAX, 0};
    size_t count = number_values(b, values);
    bin_numbered(b, column, count);
    memset(b->classes, 0, bins_in(column) * sizeof *b->classes);
    for (size_t i = 0; i < count; i++) {
        size_t bin = b->lower[i];
        b->classes[bin] = 1;
        range.low = bin < range.low ? bin : range.low;
        range.high = bin > range.high ? bin : range.high;
    }
    for (size_t j = 0; j < b->asked_count; j++) {
        b->bins[j] = (uint16_t)b->lower[b->numbers[j]];
    }
    return range;
}

/* Numbers the bins that occur, in ascending order; returns how many. */
static size_t number_classes(kw_forest_binning *b, bin_range range) {
    size_t count = 0;
    for (size_t bin = range.low; bin <= range.high; bin++) { /* a bin that does not occur is overwritten by the next */
        uint16_t occurs = b->classes[bin];
        b->occupied[count] = (uint16_t)bin;
        b->classes[bin] = (uint16_t)count;
        count += occurs;
    }
    return count;
}

static void fill_buckets(kw_forest_binning *b, size_t classes) {
    memset(b->buckets, 0, classes * b->words * sizeof *b->buckets);
    for (size_t j = 0; j < b->asked_count; j++) {
        b->buckets[b->classes[b->bins[j]] * b->words + j / 64] |= (uint64_t)1 << j % 64;
    }
}

static uint64_t *new_row(kw_forest_binning *b, uint32_t *answer) {
    *answer = (uint32_t)(KW_ANSWER_ROW + b->row_count);
    return b->rows + b->row_count++ * b->words;
}

static void unite_rows(uint64_t *row, const uint64_t *other, size_t words) {
    for (size_t w = 0; w < words; w++) {
        row[w] |= other[w];
    }
}

/* Regular bins alone: the conditions between two occurring bins share a row, the union of the classes up to there. */
static void answer_prefixes(kw_forest_binning *b, const kw_forest_column *column, size_t classes) {
    size_t k = column->condition;
    const uint64_t *before = NULL;
    for (size_t c = 0; c < classes; c++) {
        size_t end = first_not_below(b->forest, column, k, b->occupied[c]);
        uint32_t answer = KW_ANSWER_RIGHT;
        if (c && end > k) {
            uint64_t *row = new_row(b, &answer);
            memcpy(row, before, b->words * sizeof *row);
        }
        fill_answers(b->answers, k, end, answer);
        k = end;
        if (c) {
            unite_rows(b->buckets + c * b->words, before, b->words);
        }
        before = b->buckets + c * b->words;
    }
    fill_answers(b->answers, k, column->condition_end, KW_ANSWER_LEFT);
}

/* Of a numeric feature with missing values: as answer_prefixes, with the candidates of NaN and of zeros where a condition sends them
 * left. */
static void answer_specials(kw_forest_binning *b, const kw_forest_column *column, size_t classes) {
    size_t regular = classes, below = 0;
    const uint64_t *special[2] = {NULL, NULL}; /* NaN, zeros */
    uint32_t known[4] = {0};                   /* rows of this prefix, by what is left of the specials */
    while (regular && b->occupied[regular - 1] >= column->regular) {
        regular--;
        special[b->occupied[regular] - column->regular] = b->buckets + regular * b->words;
    }
    for (size_t k = column->condition; k < column->condition_end; k++) {
        const kw_forest_condition *condition = &b->forest->conditions[k];
        for (; below < regular && b->occupied[below] <= condition->bin; below++) {
            if (below) {
                unite_rows(b->buckets + below * b->words, b->buckets + (below - 1) * b->words, b->words);
            }
            memset(known, 0, sizeof known);
        }
        bool left[2] = {special[0] && condition->nan_left, special[1] && condition->zero_left};
        size_t way = left[0] + 2 * (size_t)left[1], sides = below + left[0] + left[1];
        if (!sides || sides == classes) {
            b->answers[k] = sides ? KW_ANSWER_LEFT : KW_ANSWER_RIGHT;
            continue;
        }
        if (!known[way]) {
            uint64_t *row = new_row(b, &known[way]);
            memset(row, 0, b->words * sizeof *row);
            if (below) {
                unite_rows(row, b->buckets + (below - 1) * b->words, b->words);
            }
            for (int i = 0; i < 2; i++) {
                if (left[i]) {
                    unite_rows(row, special[i], b->words);
                }
            }
        }
        b->answers[k] = known[way];
    }
}

/* Rows of unions that conditions of a column came to, found by a hash of which classes these are; one that is in another's place is made
 * again. */
typedef struct known_unions {
    uint32_t rows[1 << UNION_BITS]; /* 0: none yet */
    uint64_t keys[1 << UNION_BITS]; /* where there is a row */
} known_unions;

static uint32_t *find_union(known_unions *known, uint64_t key) {
    size_t place = key * 0x9e3779b97f4a7c15u >> (64 - UNION_BITS);
    if (known->keys[place] != key) {
        known->keys[place] = key;
        known->rows[place] = 0;
    }
    return &known->rows[place];
}

/* Categories: each condition's own union; conditions that come to the same one share its row. */
static void answer_unions(kw_forest_binning *b, const kw_forest_column *column, size_t classes) {
    known_unions known = {.rows = {0}};
    for (size_t k = column->condition; k < column->condition_end; k++) {
        const kw_forest_condition *condition = &b->forest->conditions[k];
        size_t left = 0;
        uint64_t key = 0;
        for (size_t c = 0; c < classes; c++) {
            uint64_t goes = kw_forest_in_set(b->forest, condition, b->occupied[c]);
            left += goes;
            key |= goes << c % 64;
        }
        if (!left || left == classes) {
            b->answers[k] = left ? KW_ANSWER_LEFT : KW_ANSWER_RIGHT;
            continue;
        }
        uint32_t *answer = find_union(&known, key);
        if (!*answer || classes > 64) { /* of more classes the key is not all */
            uint64_t *row = new_row(b, answer);
            memset(row, 0, b->words * sizeof *row);
            for (size_t c = 0; c < classes; c++) {
                if (kw_forest_in_set(b->forest, condition, b->occupied[c])) {
                    unite_rows(row, b->buckets + c * b->words, b->words);
                }
            }
        }
        b->answers[k] = *answer;
    }
}

static void answer_bins(kw_forest_binning *binder, const kw_forest_column *column, bin_range range) {
    if (range.low == range.high) {
        answer_bin(binder->forest, column, range.low, binder->answers);
        return;
    }
    size_t classes = number_classes(binder, range);
    fill_buckets(binder, classes);
    if (column->categorical) {
        answer_unions(binder, column, classes);
    } else if (binder->occupied[classes - 1] >= column->regular) {
        answer_specials(binder, column, classes);
    } else {
        answer_prefixes(binder, column, classes);
    }
}

void kw_forest_bin_column(kw_forest_binning *binder, size_t feature, const double *values) {
    const kw_forest_column *column = &binder->forest->columns[feature];
    answer_bins(binder, column, bin_values(binder, column, values));
}

void kw_forest_bin_known(kw_forest_binning *binder, size_t feature, const uint16_t *bins) {
    const kw_forest_column *column = &binder->forest->columns[feature];
    bin_range range = {SIZE_MAX, 0};
    memset(binder->classes, 0, bins_in(column) * sizeof *binder->classes);
    for (size_t j = 0; j < binder->asked_count; j++) {
        uint16_t bin = bins[binder->asked[j]];
        binder->bins[j] = bin;
        binder->classes[bin] = 1;
        range.low = bin < range.low ? bin : range.low;
        range.high = bin > range.high ? bin : range.high;
    }
    answer_bins(binder, column, range);
}

void kw_forest_bins_of(uint16_t *bins, const kw_forest *forest, size_t feature, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bins[i] = (uint16_t)bin_of(forest, &forest->columns[feature], values[i]);
    }
}
