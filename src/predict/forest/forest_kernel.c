/* forest_kernel.c: scoring all candidates at once, in vectors as wide as the instruction set that this file is compiled for; included by
 * forest_avx2.c and forest_avx512.c besides being the baseline itself. Only additions of doubles happen here, each candidate's in the
 * order of the trees, so every build returns the same bits.
 *
 * Per batch of trees: walk_planes() numbers the leaves that some candidate reaches and leaves the numbers as bit planes; add_batch() turns
 * planes into bytes and adds the leaves' values. */
#include "predict/forest/forest_kernel.h"

#include <string.h>

#ifndef KW_FOREST_NAME
#define KW_FOREST_NAME kw_forest_baseline
#define KW_FOREST_INSTRUCTIONS "baseline"
#endif

#if defined __AVX512BW__ && defined __AVX512VL__
enum { BYTES = 64 };
#elif defined __AVX2__
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "planes become bytes in this order");

enum { LANES = BYTES / 8, GROUP = 64 };

typedef uint64_t bits __attribute__((vector_size(BYTES), aligned(8), may_alias));

/* A subtree yet to be walked, for the candidates of a mask. */
typedef struct subtree {
    size_t split, leaf, leaves;
} subtree;

/* Exchanges a and b where flip is all ones and not where it is 0; without a branch, which would be foreseen half the time. */
static void exchange_subtrees_if(uint64_t flip, subtree *a, subtree *b) {
    size_t split = (a->split ^ b->split) & flip, leaf = (a->leaf ^ b->leaf) & flip, leaves = (a->leaves ^ b->leaves) & flip;
    a->split ^= split, b->split ^= split;
    a->leaf ^= leaf, b->leaf ^= leaf;
    a->leaves ^= leaves, b->leaves ^= leaves;
}

/* Bit 0: a has a bit, bit 1: b has one. */
static unsigned any_bits(bits a, bits b) {
    uint64_t some_a = 0, some_b = 0;
#if defined __AVX512BW__ && !defined __clang__
    /* lanes of a and b in turn, halved twice: shorter than gcc's own sum over lanes */
    bits both = __builtin_shuffle(a, b, (bits){0, 8, 2, 10, 4, 12, 6, 14}) | __builtin_shuffle(a, b, (bits){1, 9, 3, 11, 5, 13, 7, 15});
    both |= __builtin_shuffle(both, (bits){4, 5, 6, 7, 0, 1, 2, 3});
    both |= __builtin_shuffle(both, (bits){2, 3, 0, 1, 6, 7, 4, 5});
    some_a = both[0];
    some_b = both[1];
#else
    for (int i = 0; i < LANES; i++) {
        some_a |= a[i];
        some_b |= b[i];
    }
#endif
    return (some_a != 0) | (unsigned)(some_b != 0) << 1;
}

#define INLINED static inline __attribute__((always_inline))

/* small = mask & (row ^ flip), large = the rest of mask; large may be mask itself. Bit 0 of the answer: small has candidates, bit 1:
 * large. */
INLINED unsigned split_mask(const uint64_t *mask, const uint64_t *row, uint64_t flip, uint64_t *small, uint64_t *large, size_t words) {
    if (words <= KW_FOREST_NARROW) {
        uint64_t some_small = 0, some_large = 0;
        for (size_t w = 0; w < words; w++) {
            uint64_t s = mask[w] & (row[w] ^ flip), l = mask[w] & ~(row[w] ^ flip);
            some_small |= s;
            some_large |= l;
            small[w] = s;
            large[w] = l;
        }
        return (some_small != 0) | (unsigned)(some_large != 0) << 1;
    }
    bits any_small = {0}, any_large = {0}, flips = any_small + flip;
    for (size_t w = 0; w < words; w += LANES) {
        bits m = *(const bits *)(mask + w), r = *(const bits *)(row + w) ^ flips;
        bits s = m & r, l = m & ~r;
        any_small |= s;
        any_large |= l;
        *(bits *)(small + w) = s;
        *(bits *)(large + w) = l;
    }
    return any_bits(any_small, any_large);
}

/* Candidates of mask have leaf number `number`; numbers come in ascending order, so a plane is first written by its own power of two. */
INLINED void number_leaf(uint64_t *planes, const uint64_t *mask, size_t number, size_t words) {
    if ((number & (number - 1)) == 0) { /* a power of two, or 0 */
        if (number) {
            memcpy(planes + (size_t)__builtin_ctzll(number) * words, mask, words * sizeof *planes);
        }
        return;
    }
    for (size_t rest = number; rest; rest &= rest - 1) {
        uint64_t *plane = planes + (size_t)__builtin_ctzll(rest) * words;
        for (size_t w = 0; w < words; w++) {
            plane[w] |= mask[w];
        }
    }
}

/* Walks a tree for all candidates; returns how many leaves they reach. */
INLINED size_t walk_planes(const kw_forest_job *job, size_t tree, uint64_t *planes, double *values, size_t words) {
    const kw_forest *forest = job->forest;
    const kw_forest_split *splits = forest->splits;
    const uint32_t *answers = job->answers;
    const uint64_t *rows = job->rows, *mask = job->all;
    uint64_t *slots[KW_FOREST_SLOTS];
    size_t first = forest->tree_leaf[tree], reached = 0;
    subtree at = {first - tree, first, forest->tree_leaf[tree + 1] - first}, pending[KW_FOREST_SLOTS];
    memcpy(slots, job->slots, sizeof slots);
    for (size_t depth = 0;;) {
        while (at.leaves > 1) {
            const kw_forest_split *split = &splits[at.split];
            uint32_t answer = answers[kw_forest_split_condition(split)];
            size_t left = split->left;
            if (answer < KW_ANSWER_ROW) { /* by arithmetic: which way cannot be foreseen */
                size_t right = answer == KW_ANSWER_LEFT ? 0 : left;
                at.split += answer == KW_ANSWER_LEFT ? 1 : left;
                at.leaf += right;
                at.leaves = answer == KW_ANSWER_LEFT ? left : at.leaves - left;
                continue;
            }
            subtree to_left = {at.split + 1, at.leaf, left}, to_right = {at.split + left, at.leaf + left, at.leaves - left};
            size_t row = answer - KW_ANSWER_ROW;
            uint64_t flip = -(uint64_t)(left > at.leaves - left); /* all ones where the right side is the smaller one */
            unsigned sides = split_mask(mask, rows + row * words, flip, slots[depth + 1], slots[depth], words);
            subtree small = to_left, large = to_right;
            exchange_subtrees_if(flip, &small, &large);
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

#if defined __AVX2__ && !defined __clang__
typedef uint8_t octets __attribute__((vector_size(BYTES), aligned(1), may_alias));

#define EIGHT(a) a, a, a, a, a, a, a, a
#define EIGHT_BITS 1, 2, 4, 8, 16, 32, 64, 128

/* The leaf numbers of the 64 candidates of word w, as bytes, from at most 8 planes: the eight bytes of a plane's word stand in every
 * eighth of a vector; a shuffle brings each candidate the byte that has its bit, a comparison makes that a byte. */
static void spread_planes(uint8_t *numbers, const uint64_t *planes, size_t count, size_t words, size_t w) {
#ifdef __AVX512BW__ /* shuffles within 16 bytes: 16 i + what is wanted of 8 */
    const octets place = {EIGHT(0), EIGHT(1), EIGHT(18), EIGHT(19), EIGHT(36), EIGHT(37), EIGHT(54), EIGHT(55)};
    const octets select = {EIGHT_BITS, EIGHT_BITS, EIGHT_BITS, EIGHT_BITS, EIGHT_BITS, EIGHT_BITS, EIGHT_BITS, EIGHT_BITS};
#else
    const octets place = {EIGHT(0), EIGHT(1), EIGHT(18), EIGHT(19)}, select = {EIGHT_BITS, EIGHT_BITS, EIGHT_BITS, EIGHT_BITS};
#endif
    octets sum[GROUP / BYTES] = {{0}};
    for (size_t p = 0; p < count; p++) {
        for (int h = 0; h < GROUP / BYTES; h++) {
            octets same = (octets)((bits){0} + (planes[p * words + w] >> (32 * h)));
            octets mine = __builtin_shuffle(same, place);
            sum[h] |= (octets)((mine & select) == select) & (uint8_t)(1 << p);
        }
    }
    for (int h = 0; h < GROUP / BYTES; h++) {
        *(octets *)(numbers + h * BYTES) = sum[h];
    }
}
#else
typedef uint8_t sixteen __attribute__((vector_size(16)));
typedef uint64_t two __attribute__((vector_size(16)));

#ifdef __clang__
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (sixteen){__VA_ARGS__})
#endif

/* Bytes, pairs of bytes and fours of bytes of a and b in turn, of their lower or upper halves. */
static sixteen turns_1(sixteen a, sixteen b) {
    return SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

static sixteen turns_2(sixteen a, sixteen b, bool upper) {
    return upper ? SHUFFLE(a, b, 8, 9, 24, 25, 10, 11, 26, 27, 12, 13, 28, 29, 14, 15, 30, 31)
                 : SHUFFLE(a, b, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
}

static sixteen turns_4(sixteen a, sixteen b, bool upper) {
    return upper ? SHUFFLE(a, b, 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31)
                 : SHUFFLE(a, b, 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
}

/* Step of the transposition of the 8 x 8 bits of each word: exchanges the bits of mask with those `shift` above. */
static two exchange_lanes(two v, uint64_t mask, int shift) {
    two t = (v ^ (v >> shift)) & ((two){0} + mask);
    return v ^ t ^ (t << shift);
}

/* The leaf numbers of the 64 candidates of word w, as bytes, from at most 8 planes: byte g of the planes becomes word g, whose byte p
 * holds bit p of eight candidates' numbers, and is transposed. */
static void spread_planes(uint8_t *numbers, const uint64_t *planes, size_t count, size_t words, size_t w) {
    sixteen in[8];
    for (size_t p = 0; p < 8; p++) {
        in[p] = (sixteen)(two){planes[p * words + w], 0}; /* what lies beyond count is masked off at the end */
    }
    sixteen a = turns_1(in[0], in[1]), b = turns_1(in[2], in[3]), c = turns_1(in[4], in[5]), d = turns_1(in[6], in[7]);
    sixteen ab = turns_2(a, b, false), ab_up = turns_2(a, b, true), cd = turns_2(c, d, false), cd_up = turns_2(c, d, true);
    sixteen out[4] = {turns_4(ab, cd, false), turns_4(ab, cd, true), turns_4(ab_up, cd_up, false), turns_4(ab_up, cd_up, true)};
    const two known = (two){0} + ((1u << count) - 1) * 0x0101010101010101u;
    for (size_t i = 0; i < 4; i++) {
        two v = exchange_lanes(exchange_lanes(exchange_lanes((two)out[i], 0x00aa00aa00aa00aau, 7), 0x0000cccc0000ccccu, 14),
                               0x00000000f0f0f0f0u, 28) &
                known;
        memcpy(numbers + 16 * i, &v, sizeof v);
    }
}
#endif

#if defined __AVX512BW__ && !defined __clang__
typedef double reals __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef int64_t whole __attribute__((vector_size(BYTES)));

static inline reals select_lanes(whole high, reals yes, reals no) {
    return (reals)((high & (whole)yes) | (~high & (whole)no));
}

/* Adds to the scores of so many lanes, eight at a time, the values that numbers below 8 * tables name; the values are in registers, so
 * that nothing is loaded per candidate. */
INLINED void add_tables(double *scores, const uint8_t *numbers, const double *values, int tables, size_t lanes) {
    const bits shifts = {0, 8, 16, 24, 32, 40, 48, 56};
    reals table[8];
    for (int i = 0; i < tables; i++) {
        table[i] = *(const reals *)(values + 8 * i);
    }
    for (size_t i = 0; i < lanes; i += 8) {
        uint64_t eight;
        memcpy(&eight, numbers + i, sizeof eight);
        bits number = ((bits){0} + eight) >> shifts; /* its low byte; a shuffle minds no higher bits than it needs */
        reals value;
        if (tables == 1) {
            value = __builtin_shuffle(table[0], number);
        } else {
            value = __builtin_shuffle(table[0], table[1], number);
            if (tables >= 4) {
                value = select_lanes((number & 16) != 0, __builtin_shuffle(table[2], table[3], number), value);
            }
            if (tables == 8) {
                reals low = __builtin_shuffle(table[4], table[5], number), high = __builtin_shuffle(table[6], table[7], number);
                value = select_lanes((number & 32) != 0, select_lanes((number & 16) != 0, high, low), value);
            }
        }
        *(reals *)(scores + i) += value;
    }
}

static void add_trees(double *scores, uint8_t numbers[][GROUP], const double *values, size_t stride, const size_t *plane_counts,
                      size_t lanes) {
    for (size_t t = 0; t < KW_FOREST_BATCH; t++, values += stride) {
        if (plane_counts[t] <= 3) {
            add_tables(scores, numbers[t], values, 1, lanes);
        } else if (plane_counts[t] == 4) {
            add_tables(scores, numbers[t], values, 2, lanes);
        } else if (plane_counts[t] == 5) {
            add_tables(scores, numbers[t], values, 4, lanes);
        } else if (plane_counts[t] == 6) {
            add_tables(scores, numbers[t], values, 8, lanes);
        } else {
            for (size_t i = 0; i < lanes; i++) {
                scores[i] += values[numbers[t][i]];
            }
        }
    }
}
#else
static void add_trees(double *scores, uint8_t numbers[][GROUP], const double *values, size_t stride, const size_t *plane_counts,
                      size_t lanes) {
    (void)plane_counts;
    for (size_t i = 0; i < lanes; i++) {
        double score_job = scores[i];
        for (size_t t = 0; t < KW_FOREST_BATCH; t++) {
            score_job += values[t * stride + numbers[t][i]];
        }
        scores[i] = score_job;
    }
}
#endif

static void add_batch(kw_forest_job *job, const size_t *plane_counts) {
    for (size_t w = 0; w < job->used_words; w++) {
        _Alignas(64) uint8_t numbers[KW_FOREST_BATCH][GROUP];
        for (size_t t = 0; t < KW_FOREST_BATCH; t++) {
            spread_planes(numbers[t], job->planes + t * KW_FOREST_PLANES * job->words, plane_counts[t], job->words, w);
        }
        size_t rest = job->candidates - w * GROUP, lanes = rest < GROUP ? rest : GROUP;
        add_trees(job->scores + w * GROUP, numbers, job->values, job->table_size, plane_counts, lanes);
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

INLINED void score_words(kw_forest_job *job, size_t words) {
    const kw_forest *forest = job->forest;
    size_t plane_words = KW_FOREST_PLANES * words;
    memset(job->scores, 0, job->used_words * GROUP * sizeof *job->scores);
    for (size_t tree = 0; tree < forest->trees; tree += KW_FOREST_BATCH) {
        size_t plane_counts[KW_FOREST_BATCH] = {0}, most = 0;
        for (size_t t = 0; t < KW_FOREST_BATCH; t++) {
            double *values = job->values + t * job->table_size;
            values[0] = 0; /* beyond the last tree: a sum that began with +0 is never -0, so +0 leaves it as it is */
            if (tree + t < forest->trees) {
                plane_counts[t] = plane_count(walk_planes(job, tree + t, job->planes + t * plane_words, values, words));
            }
            most = plane_counts[t] > most ? plane_counts[t] : most;
        }
        if (most <= 8) {
            add_batch(job, plane_counts);
            continue;
        }
        for (size_t t = 0; t < KW_FOREST_BATCH; t++) {
            add_large(job, plane_counts[t], job->planes + t * plane_words, job->values + t * job->table_size);
        }
    }
}

static void score_job(kw_forest_job *job) {
    switch (job->words) {
    case 1:
        score_words(job, 1);
        break;
    case 2:
        score_words(job, 2);
        break;
    case 3:
        score_words(job, 3);
        break;
    case 4:
        score_words(job, 4);
        break;
    default:
        score_words(job, job->words);
    }
}

const kw_forest_kernel KW_FOREST_NAME = {KW_FOREST_INSTRUCTIONS, LANES, score_job};
