/* forest_kernel.c: scoring all candidates at once, in vectors as wide as the instruction set that this file is compiled for; included by
 * forest_avx2.c and forest_avx512.c besides being the baseline itself. Only additions of doubles happen here, each candidate's in the
 * order of the trees, so every build returns the same bits.
 *
 * Per batch of trees: walk() numbers the leaves that some candidate reaches and leaves the numbers as bit planes; add_batch() turns
 * planes into bytes and adds the leaves' values. */
#include "predict/forest_kernel.h"

#include <string.h>

#ifndef KW_FOREST_NAME
#define KW_FOREST_NAME kw_forest_baseline
#define KW_FOREST_INSTRUCTIONS "baseline"
#endif

#if defined __AVX512BW__ && defined __AVX512VL__
enum { BYTES = 64, LINEAR = 24 };
#elif defined __AVX2__
enum { BYTES = 32, LINEAR = 12 };
#else
enum { BYTES = 16, LINEAR = 4 };
#endif

/* LINEAR: up to so many thresholds, counting those below in vectors beats searching. */
enum { LANES = BYTES / 8, GROUP = 64 };

typedef uint64_t bits __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef int64_t whole __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef double reals __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef uint8_t octets __attribute__((vector_size(BYTES), aligned(1), may_alias));

static bool any_bit(bits v) {
    uint64_t sum = 0;
    for (int i = 0; i < LANES; i++) {
        sum |= v[i];
    }
    return sum != 0;
}

static reals choose(whole mask, reals yes, reals no) {
    return (reals)((mask & (whole)yes) | (~mask & (whole)no));
}

static kw_forest_span span_rest(kw_forest_span span, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        span.low = values[i] < span.low ? values[i] : span.low;
        span.high = values[i] > span.high ? values[i] : span.high;
        span.nan |= isnan(values[i]);
        span.zero |= values[i] == 0;
        span.tiny |= values[i] != 0 && kw_forest_flush(values[i]) == 0;
    }
    return span;
}

static kw_forest_span span_of(const double *values, size_t count) {
    reals low = (reals){0} + (double)INFINITY, high = -low, tiny = (reals){0} + (double)1e-35f;
    whole nan = {0}, zero = {0}, small = {0};
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        reals v = *(const reals *)(values + i);
        low = choose(v < low, v, low);
        high = choose(v > high, v, high);
        nan |= v != v;
        zero |= v == 0;
        small |= (v <= tiny) & (v >= -tiny) & (v != 0);
    }
    kw_forest_span span = {.low = INFINITY, .high = -INFINITY, any_bit((bits)nan), any_bit((bits)zero), any_bit((bits)small)};
    for (int lane = 0; lane < LANES; lane++) {
        span.low = low[lane] < span.low ? low[lane] : span.low;
        span.high = high[lane] > span.high ? high[lane] : span.high;
    }
    return span_rest(span, values + i, count - i);
}

static void bins_by_count(uint16_t *bins, const double *values, size_t count, const double *thresholds, size_t low, size_t high) {
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        reals v = *(const reals *)(values + i);
        whole below = (whole){0} + (int64_t)low;
        for (size_t t = low; t < high; t++) {
            below -= (thresholds[t] + (reals){0}) < v;
        }
        for (int lane = 0; lane < LANES; lane++) {
            bins[i + (size_t)lane] = (uint16_t)below[lane];
        }
    }
    for (; i < count; i++) {
        size_t bin = low;
        for (size_t t = low; t < high; t++) {
            bin += thresholds[t] < values[i];
        }
        bins[i] = (uint16_t)bin;
    }
}

/* Without branches: which way a comparison falls cannot be foreseen. */
static void bins_by_search(uint16_t *bins, const double *values, size_t count, const double *thresholds, size_t low, size_t high) {
    for (size_t i = 0; i < count; i++) {
        const double *base = thresholds + low;
        double value = values[i];
        for (size_t length = high - low; length > 1;) {
            size_t half = length / 2;
            base += half & -(size_t)(base[half - 1] < value);
            length -= half;
        }
        bins[i] = (uint16_t)((size_t)(base - thresholds) + (*base < value));
    }
}

static void bins_of(uint16_t *bins, const double *values, size_t count, const double *thresholds, size_t low, size_t high) {
    if (high - low <= LINEAR) {
        bins_by_count(bins, values, count, thresholds, low, high);
    } else {
        bins_by_search(bins, values, count, thresholds, low, high);
    }
}

/* A subtree yet to be walked, for the candidates of a mask. */
typedef struct subtree {
    size_t split, leaf, leaves;
} subtree;

/* small = mask & (row ^ flip), large = the rest of mask; large may be mask itself. Bit 0 of the answer: small has candidates, bit 1: large. */
static int split_mask(const uint64_t *mask, const uint64_t *row, uint64_t flip, uint64_t *small, uint64_t *large, size_t words) {
    bits any_small = {0}, any_large = {0}, flips = any_small + flip;
    for (size_t w = 0; w < words; w += LANES) {
        bits m = *(const bits *)(mask + w), r = *(const bits *)(row + w) ^ flips;
        bits s = m & r, l = m & ~r;
        any_small |= s;
        any_large |= l;
        *(bits *)(small + w) = s;
        *(bits *)(large + w) = l;
    }
    return any_bit(any_small) | any_bit(any_large) << 1;
}

/* Candidates of mask have leaf number `number`; numbers come in ascending order, so a plane is first written by its own power of two. */
static void number_leaf(uint64_t *planes, const uint64_t *mask, size_t number, size_t words) {
    for (size_t p = 0; number >> p; p++) {
        uint64_t *plane = planes + p * words;
        if (number == (size_t)1 << p) {
            memcpy(plane, mask, words * sizeof *plane);
        } else if (number >> p & 1) {
            for (size_t w = 0; w < words; w += LANES) {
                *(bits *)(plane + w) |= *(const bits *)(mask + w);
            }
        }
    }
}

/* Walks a tree for all candidates; returns how many leaves they reach. */
static size_t walk(const kw_forest_job *job, size_t tree, uint64_t *planes, double *values) {
    const kw_forest *forest = job->forest;
    size_t words = job->words, first = forest->tree_leaf[tree], reached = 0;
    subtree at = {first - tree, first, forest->tree_leaf[tree + 1] - first}, pending[KW_FOREST_SLOTS];
    uint64_t *slots[KW_FOREST_SLOTS];
    const uint64_t *mask = job->all;
    memcpy(slots, job->slots, sizeof slots);
    for (size_t depth = 0;;) {
        while (at.leaves > 1) {
            uint32_t answer = job->answers[forest->split_condition[at.split]];
            size_t left = forest->split_left[at.split];
            subtree to_left = {at.split + 1, at.leaf, left}, to_right = {at.split + left, at.leaf + left, at.leaves - left};
            if (answer < KW_ANSWER_ROW) {
                at = answer == KW_ANSWER_LEFT ? to_left : to_right;
                continue;
            }
            size_t row = answer - KW_ANSWER_ROW;
            const uint64_t *rows = row < job->pool_row_count ? job->pool_rows : job->rows - job->pool_row_count * words;
            bool left_first = left <= at.leaves - left;
            int sides = split_mask(mask, rows + row * words, left_first ? 0 : ~(uint64_t)0, slots[depth + 1], slots[depth], words);
            subtree small = left_first ? to_left : to_right, large = left_first ? to_right : to_left;
            at = sides == 2 ? large : small;
            if (sides == 3) {
                pending[depth++] = large;
            } else if (sides == 1) {
                uint64_t *other = slots[depth];
                slots[depth] = slots[depth + 1];
                slots[depth + 1] = other;
            }
            mask = slots[depth];
        }
        values[reached] = forest->values[at.leaf];
        number_leaf(planes, mask, reached++, words);
        if (!depth) {
            return reached;
        }
        at = pending[--depth];
        mask = slots[depth];
    }
}

static size_t plane_count(size_t leaves) {
    return leaves < 2 ? 0 : 64 - (size_t)__builtin_clzll(leaves - 1);
}

#if defined __AVX2__
/* The leaf numbers of the 64 candidates of word w, as bytes: each bit becomes a byte by broadcasting, shuffling and testing. */
static void spread(uint8_t *numbers, const uint64_t *planes, size_t count, size_t words, size_t w) {
    octets sum[GROUP / BYTES], place, select;
    for (int i = 0; i < BYTES; i++) {
        place[i] = (uint8_t)(i / 16 * 16 + i / 8 % (BYTES / 8)); /* within its 16 bytes, which all hold the same 8 bytes twice */
        select[i] = (uint8_t)(1 << i % 8);
    }
    for (int h = 0; h < GROUP / BYTES; h++) {
        sum[h] = (octets){0};
    }
    for (size_t p = 0; p < count; p++) {
        for (int h = 0; h < GROUP / BYTES; h++) {
            octets same = (octets)((bits){0} + (planes[p * words + w] >> (32 * h)));
            octets mine = __builtin_shuffle(same, place);
            sum[h] |= (octets)((mine & select) == select) & (uint8_t)(1 << p);
        }
    }
    memcpy(numbers, sum, GROUP);
}
#else
/* Eight bits as eight bytes, by multiplication: byte i of the product holds bit i and nothing else of the mask; then to 0 or 1. */
static uint64_t eight_bytes(uint64_t byte) {
    uint64_t picked = byte * 0x0101010101010101u & 0x8040201008040201u;
    return (picked + 0x7f7f7f7f7f7f7f7fu) >> 7 & 0x0101010101010101u;
}

static void spread(uint8_t *numbers, const uint64_t *planes, size_t count, size_t words, size_t w) {
    uint64_t sum[GROUP / 8] = {0};
    for (size_t p = 0; p < count; p++) {
        uint64_t word = planes[p * words + w];
        for (int i = 0; i < GROUP / 8; i++) {
            sum[i] |= eight_bytes(word >> 8 * i & 255) << p;
        }
    }
    memcpy(numbers, sum, GROUP);
}
#endif

static void add_batch(kw_forest_job *job, const size_t *plane_counts, const uint64_t *planes, const double *values) {
    size_t words = job->words, table = job->table_size;
    for (size_t w = 0; w < job->used_words; w++) {
        uint8_t numbers[KW_FOREST_BATCH][GROUP];
        double *scores = job->scores + w * GROUP;
        for (size_t t = 0; t < KW_FOREST_BATCH; t++) {
            spread(numbers[t], planes + t * KW_FOREST_PLANES * words, plane_counts[t], words, w);
        }
        for (size_t i = 0; i < GROUP; i++) {
            double score = scores[i];
            for (size_t t = 0; t < KW_FOREST_BATCH; t++) {
                score += values[t * table + numbers[t][i]];
            }
            scores[i] = score;
        }
    }
}

/* A tree of which more than 256 leaves are reached. */
static void add_large(kw_forest_job *job, size_t plane_count, const uint64_t *planes, const double *values) {
    for (size_t i = 0; i < job->used_words * GROUP; i++) {
        size_t number = 0;
        for (size_t p = 0; p < plane_count; p++) {
            number |= (planes[p * job->words + i / GROUP] >> i % GROUP & 1) << p;
        }
        job->scores[i] += values[number];
    }
}

static void score(kw_forest_job *job) {
    const kw_forest *forest = job->forest;
    size_t plane_words = KW_FOREST_PLANES * job->words;
    memset(job->scores, 0, job->used_words * GROUP * sizeof *job->scores);
    for (size_t tree = 0; tree < forest->trees; tree += KW_FOREST_BATCH) {
        size_t plane_counts[KW_FOREST_BATCH] = {0}, most = 0;
        for (size_t t = 0; t < KW_FOREST_BATCH; t++) {
            double *values = job->values + t * job->table_size;
            values[0] = 0; /* beyond the last tree: a sum that began with +0 is never -0, so +0 leaves it as it is */
            if (tree + t < forest->trees) {
                plane_counts[t] = plane_count(walk(job, tree + t, job->planes + t * plane_words, values));
            }
            most = plane_counts[t] > most ? plane_counts[t] : most;
        }
        if (most <= 8) {
            add_batch(job, plane_counts, job->planes, job->values);
            continue;
        }
        for (size_t t = 0; t < KW_FOREST_BATCH; t++) {
            add_large(job, plane_counts[t], job->planes + t * plane_words, job->values + t * job->table_size);
        }
    }
}

const kw_forest_kernel KW_FOREST_NAME = {.instructions = KW_FOREST_INSTRUCTIONS, .span = span_of, .bins = bins_of, .score = score};
