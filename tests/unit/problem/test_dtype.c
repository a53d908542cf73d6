/* test_dtype.c: every pattern of the narrow types, and rounding to nearest even against values between neighbours. */

#include "problem/reference.h"
#include "support/kw_test.h"

#include <float.h>
#include <math.h>

static const struct {
    kw_dtype dtype;
    uint32_t patterns;
    double largest, smallest;
    bool infinite; /* overflow gives infinity, else NaN */
} narrow[] = {
    {KW_BF16, 65536, 0x1.fep127, 0x1p-133, true},
    {KW_FP16, 65536, 65504, 0x1p-24, true},
    {KW_FP8, 256, 448, 0x1p-9, false},
    {KW_BF8, 256, 57344, 0x1p-16, true},
};

enum { NARROW = sizeof narrow / sizeof *narrow };

static double load(kw_dtype dtype, uint32_t pattern) {
    uint16_t bits = (uint16_t)pattern;
    uint8_t byte = (uint8_t)pattern;
    return kw_dtype_load(dtype, kw_dtype_size(dtype) == 1 ? (void *)&byte : (void *)&bits, 0);
}

static uint32_t store(kw_dtype dtype, double value) {
    uint16_t bits[3] = {0xdead, 0xdead, 0xdead};
    if (kw_dtype_size(dtype) == 1) {
        uint8_t *bytes = (uint8_t *)bits;
        kw_dtype_store(dtype, bytes, 2, value);
        assert_int_equal(bits[0], 0xdead);
        assert_int_equal(bits[2], 0xdead);
        return bytes[2];
    }
    kw_dtype_store(dtype, bits, 1, value);
    assert_int_equal(bits[0], 0xdead);
    assert_int_equal(bits[2], 0xdead);
    return bits[1];
}

static void every_pattern_survives_load_and_store(void **state) {
    (void)state;
    for (int i = 0; i < NARROW; i++) {
        int nans = 0;
        for (uint32_t pattern = 0; pattern < narrow[i].patterns; pattern++) {
            double value = load(narrow[i].dtype, pattern);
            if (isnan(value)) {
                nans++;
                assert_true(isnan(load(narrow[i].dtype, store(narrow[i].dtype, value))));
            } else {
                assert_int_equal(store(narrow[i].dtype, value), pattern);
            }
        }
        static const int expected[NARROW] = {2 * 127, 2 * 1023, 2, 2 * 3};
        assert_int_equal(nans, expected[i]);
    }
}

/* Positive patterns grow with their values; of two neighbours the midpoint goes to the even one, and the least beyond it to the nearer. */
static void midpoints_round_to_even(void **state) {
    (void)state;
    for (int i = 0; i < NARROW; i++) {
        kw_dtype dtype = narrow[i].dtype;
        assert_true(load(dtype, 1) == narrow[i].smallest);
        for (uint32_t pattern = 0; load(dtype, pattern) < narrow[i].largest; pattern++) {
            double low = load(dtype, pattern), high = load(dtype, pattern + 1), middle = low + (high - low) / 2;
            assert_true(low < high);
            assert_int_equal(store(dtype, middle), pattern + (pattern & 1));
            assert_int_equal(store(dtype, nextafter(middle, 0)), pattern);
            assert_int_equal(store(dtype, nextafter(middle, INFINITY)), pattern + 1);
            uint32_t sign = narrow[i].patterns / 2;
            assert_int_equal(store(dtype, -middle), sign + pattern + (pattern & 1));
        }
    }
}

static void overflow_follows_the_format(void **state) {
    (void)state;
    for (int i = 0; i < NARROW; i++) {
        kw_dtype dtype = narrow[i].dtype;
        double largest = narrow[i].largest;
        uint32_t pattern = store(dtype, largest);
        double step = largest - load(dtype, pattern - 1);
        /* Half a step beyond is a tie: e4m3's largest is even and keeps it, the others' is odd. */
        double tie = load(dtype, store(dtype, largest + step / 2));
        assert_true(narrow[i].infinite ? isinf(tie) : tie == largest);
        assert_true(load(dtype, store(dtype, nextafter(largest + step / 2, 0))) == largest);
        const double beyond[] = {largest + step, largest * 4, DBL_MAX, INFINITY};
        for (int j = 0; j < 4; j++) {
            double up = load(dtype, store(dtype, beyond[j])), down = load(dtype, store(dtype, -beyond[j]));
            assert_true(narrow[i].infinite ? up == INFINITY && down == -INFINITY : isnan(up) && isnan(down));
        }
        assert_int_equal(store(dtype, 0.0), 0);
        assert_int_equal(store(dtype, -0.0), narrow[i].patterns / 2);
        assert_int_equal(store(dtype, DBL_TRUE_MIN), 0);
        assert_int_equal(store(dtype, narrow[i].smallest / 2), 0);
        assert_int_equal(store(dtype, narrow[i].smallest * 0.51), 1);
    }
}

static void known_values(void **state) {
    (void)state;
    static const struct {
        kw_dtype dtype;
        uint32_t pattern;
        double value;
    } cases[] = {
        {KW_BF16, 0x3f80, 1},       {KW_BF16, 0xc049, -3.140625},
        {KW_FP16, 0x3c00, 1},       {KW_FP16, 0x3555, 0.333251953125},
        {KW_FP16, 0x0400, 0x1p-14}, {KW_FP8, 0x38, 1},
        {KW_FP8, 0x7e, 448},        {KW_FP8, 0xc4, -3},
        {KW_BF8, 0x3c, 1},          {KW_BF8, 0x7b, 57344},
        {KW_BF8, 0x46, 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(load(cases[i].dtype, cases[i].pattern) == cases[i].value);
        assert_int_equal(store(cases[i].dtype, cases[i].value), cases[i].pattern);
    }
}

/* One rounding: a value just above a bf16 tie that fp32 would round onto the tie still goes up. */
static void stores_round_once(void **state) {
    (void)state;
    double tie = 1 + 0x1p-8; /* between bf16 1 and 1 + 2^-7 */
    assert_int_equal(store(KW_BF16, tie), 0x3f80);
    assert_true((float)(tie + 0x1p-40) == (float)tie);
    assert_int_equal(store(KW_BF16, tie + 0x1p-40), 0x3f81);
}

static void integers_saturate_and_round_to_even(void **state) {
    (void)state;
    static const struct {
        double value;
        int8_t narrow;
        int32_t wide;
    } cases[] = {
        {0.5, 0, 0},
        {1.5, 2, 2},
        {2.5, 2, 2},
        {-0.5, 0, 0},
        {-1.5, -2, -2},
        {127.4, 127, 127},
        {127.5, 127, 128},
        {1e300, 127, INT32_MAX},
        {-128.5, -128, -128},
        {-1e300, -128, INT32_MIN},
        {INFINITY, 127, INT32_MAX},
        {NAN, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int8_t narrow_value;
        int32_t wide_value;
        kw_dtype_store(KW_INT8, &narrow_value, 0, cases[i].value);
        kw_dtype_store(KW_INT32, &wide_value, 0, cases[i].value);
        assert_int_equal(narrow_value, cases[i].narrow);
        assert_int_equal(wide_value, cases[i].wide);
        assert_true(kw_dtype_load(KW_INT8, &narrow_value, 0) == cases[i].narrow);
        assert_true(kw_dtype_load(KW_INT32, &wide_value, 0) == cases[i].wide);
        uint8_t unsigned_value;
        kw_dtype_store(KW_UINT8, &unsigned_value, 0, cases[i].value);
        assert_true(kw_dtype_load(KW_UINT8, &unsigned_value, 0) == fmin(fmax(cases[i].wide, 0), 255));
    }
    float single;
    kw_dtype_store(KW_FP32, &single, 0, 0.1);
    assert_true(kw_dtype_load(KW_FP32, &single, 0) == (double)0.1f);
}

static void types_know_their_names_sizes_and_outputs(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t size;
        kw_dtype output;
    } cases[KW_DTYPE_COUNT] = {{"fp32", 4, KW_FP32}, {"bf16", 2, KW_BF16},  {"fp16", 2, KW_FP16},   {"fp8", 1, KW_FP16},
                               {"bf8", 1, KW_FP16},  {"int8", 1, KW_INT32}, {"int32", 4, KW_INT32}, {"uint8", 1, KW_INT32}};
    for (kw_dtype dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
        assert_string_equal(kw_dtype_name(dtype), cases[dtype].name);
        assert_int_equal(kw_dtype_size(dtype), cases[dtype].size);
        assert_int_equal(kw_dtype_output(dtype), cases[dtype].output);
    }
    assert_string_equal(kw_dtype_name(KW_DTYPE_COUNT), "unknown");
    assert_int_equal(kw_dtype_size(KW_DTYPE_COUNT), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pattern_survives_load_and_store),
        cmocka_unit_test(midpoints_round_to_even),
        cmocka_unit_test(overflow_follows_the_format),
        cmocka_unit_test(known_values),
        cmocka_unit_test(stores_round_once),
        cmocka_unit_test(integers_saturate_and_round_to_even),
        cmocka_unit_test(types_know_their_names_sizes_and_outputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
