/* test_ahead.c: what kernels are handed that is compiled with the library (kernels/cpu/ahead/): matrices of every small shape and weights of every
 * small run, element by element, with guards around what is written. */
#include "families/cpu/ahead.h"
#include "support/kw_test.h"

#include "cpu/ahead/ahead.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE = 70, BYTES = 4 * SIDE * SIDE, GUARD = 64 };

static bool has_lanes(int lanes) {
#ifdef __x86_64__
    __builtin_cpu_init();
    return lanes == 8 ? __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c")
                      : __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
#else
    (void)lanes;
    return false;
#endif
}

static void fill_bytes(unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (unsigned char)(i * 2654435761u >> 11);
    }
}

static bool turns_right(kw_ahead_turn *turn, size_t size, size_t rows, size_t cols, size_t apart) {
    static unsigned char from[BYTES], to[BYTES + GUARD], expected[BYTES + GUARD];
    size_t to_row = rows * size + apart, from_row = cols * size + apart;
    fill_bytes(from, sizeof from);
    memset(to, 0xee, sizeof to);
    memset(expected, 0xee, sizeof expected);
    for (size_t row = 0; row < rows; row++) {
        for (size_t col = 0; col < cols; col++) {
            memcpy(expected + col * to_row + row * size, from + row * from_row + col * size, size);
        }
    }
    turn((char *)to, (long long)to_row, (const char *)from, (long long)from_row, (long long)rows, (long long)cols);
    return !memcmp(to, expected, sizeof to);
}

static void matrices_are_turned(void **state) {
    (void)state;
    static const struct {
        int kind;
        size_t size;
    } kinds[] = {{KW_AHEAD_FP32, 4}, {KW_AHEAD_BF16, 2}, {KW_AHEAD_FP8, 1}};
    static const size_t sides[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 67};
    for (int lanes = 8; lanes <= 16; lanes *= 2) {
        for (size_t k = 0; k < 3 && has_lanes(lanes); k++) {
            kw_ahead_turn *turn = kw_cpu_ahead.kind[lanes == 16][kinds[k].kind]->turn;
            for (size_t i = 0; i < 16 * 16 * 2; i++) {
                assert_true(turns_right(turn, kinds[k].size, sides[i % 16], sides[i / 16 % 16], i / 256 * kinds[k].size));
            }
        }
    }
}

/* fp32, whose packed words are the elements. */
static void weights_are_packed(void **state) {
    (void)state;
    static float w[SIDE * SIDE], to[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) {
        w[i] = (float)i + 1;
    }
    for (int lanes = 8; lanes <= 16; lanes *= 2) {
        for (int i = 0; i < 2 * 40 * 40 && has_lanes(lanes); i++) {
            int channels = 1 + i % 40, elements = 1 + i / 40 % 40, block = 2 * lanes, side_by_side = i / 1600;
            int element = side_by_side ? SIDE : 1, channel = side_by_side ? 1 : SIDE;
            kw_cpu_ahead.kind[lanes == 16][KW_AHEAD_FP32]->pack((char *)to, (const char *)w, elements, element, channels, channel, block);
            for (int e = 0; e < elements; e++) {
                for (int k = 0; k < block; k++) {
                    float expected = k < channels ? w[e * element + k * channel] : 0;
                    assert_true(to[e * block + k] == expected);
                }
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(matrices_are_turned), cmocka_unit_test(weights_are_packed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
