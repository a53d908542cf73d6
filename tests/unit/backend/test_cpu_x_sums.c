/* test_cpu_x_sums.c: sums of x for weights with zero points, by channels and taps one by one: every rest of a vector, more taps than are added at once, and
 * groups of one channel. */
#include "backend/cpu/cpu_x_sums.h"
#include "base/math.h"
#include "support/kw_test.h"

/* less its zero point, of a pixel that padding may have: nothing. */
static int32_t value_of(const kw_conv_dims *d, const signed char *x, bool is_unsigned, const int64_t at[4], int64_t channel, int32_t zero) {
    int64_t place = at[0];
    for (int axis = 0; axis < 3; axis++) {
        if (at[1 + axis] < 0 || at[1 + axis] >= d->in[axis]) {
            return 0;
        }
        place = place * d->in[axis] + at[1 + axis];
    }
    signed char byte = x[place * d->c + channel];
    return (is_unsigned ? (unsigned char)byte : byte) - zero;
}

/* Of one result pixel and group. */
static int32_t sum_of(const kw_problem *problem, const signed char *x, int64_t row, int64_t group, int32_t zero) {
    const kw_conv_dims *d = &problem->conv;
    int64_t out[3], position[3], rest = row, each = d->c / d->g, taps = d->filter[0] * d->filter[1] * d->filter[2];
    int32_t sum = 0;
    kw_problem_output(out, problem);
    for (int axis = 2; axis >= 0; axis--) {
        position[axis] = rest % out[axis];
        rest /= out[axis];
    }
    for (int64_t tap = 0; tap < taps; tap++) {
        int64_t at[4] = {rest}, left = tap;
        for (int axis = 2; axis >= 0; axis--) {
            at[1 + axis] = position[axis] * d->stride[axis] - d->pad[axis] + left % d->filter[axis] * d->dilation[axis];
            left /= d->filter[axis];
        }
        for (int64_t c = group * each; c < (group + 1) * each; c++) {
            sum += value_of(d, x, problem->mixed, at, c, zero);
        }
    }
    return sum;
}

static void check(const char *text, int64_t block) {
    kw_problem problem;
    kw_error err = {0};
    kw_cpu_x_sums what;
    signed char zero = -3, *x;
    int64_t out[3];
    assert_ok(kw_problem_parse(&problem, text, &err), &err);
    const kw_conv_dims *d = &problem.conv;
    kw_problem_output(out, &problem);
    int64_t pixels = d->n * d->in[0] * d->in[1] * d->in[2], rows = d->n * out[0] * out[1] * out[2];
    x = malloc((size_t)(pixels * d->c)); /* to the byte, so that what reads behind it is seen */
    for (int64_t i = 0; i < pixels * d->c; i++) {
        x[i] = (signed char)(i * 37 % 251 - 128);
    }
    kw_cpu_x_sums_of(&what, &problem, block);
    kw_cpu_x_sums_run run = {.what = &what, .x = (const char *)x, .zero = &zero};
    run.pixels = malloc((size_t)(pixels * d->g) * sizeof *run.pixels);
    run.rows = malloc((size_t)(rows * d->g) * sizeof *run.rows);
    kw_cpu_x_sums_do(&run, 0, 0, kw_ceil_div(pixels, KW_X_SUMS_ROWS));
    if (kw_x_sums_have_windows(&problem)) {
        kw_cpu_x_sums_do(&run, 1, 0, kw_ceil_div(rows, KW_X_SUMS_ROWS));
    }
    block = block ? block : d->g;
    for (int64_t row = 0; row < rows; row++) {
        for (int64_t g = 0; g < d->g; g++) {
            int32_t is = run.rows[(g / block * rows + row) * block + g % block],
                    ought = sum_of(&problem, x, row, g, what.shifted ? zero : 0);
            if (is != ought) {
                fail_msg("%s, groups in blocks of %d: row %d, group %d: %d, not %d", text, (int)block, (int)row, (int)g, is, ought);
            }
        }
    }
    free(x);
    free(run.pixels);
    free(run.rows);
}

static void sums_are_those_of_single_elements(void **state) {
    (void)state;
    check("conv_fwd int8 nhwgc n2 c61 k8 i9x8 f1x1 epilogue=zero_w", 0);
    check("conv_fwd int8 nhwgc c157 k8 i5x4 f3x2 p1x1 s2x1 epilogue=zero_x:int8+zero_w", 0);
    check("conv_fwd int8 nhwgc n2 g3 c39 k6 i7x9 f3x3 p2x2 d2x1 x=uint8 epilogue=zero_w", 0);
    check("conv_fwd int8 ndhwgc g4 c20 k4 i3x5x6 f2x2x3 p1x0x1 epilogue=zero_x:int8+zero_w", 2);
}

static void groups_of_one_channel_are_widened(void **state) {
    (void)state;
    check("conv_fwd int8 nhwgc n2 g37 c37 k37 i6x7 f1x1 epilogue=zero_x:int8+zero_w", 0);
    check("conv_fwd int8 nhwgc g37 c37 k37 i6x7 f3x3 p1x1 x=uint8 epilogue=zero_w", 0);
    check("conv_fwd int8 nhwgc g36 c36 k36 i6x7 f3x3 p1x1 epilogue=zero_w", 12);
}

static void more_taps_than_are_added_at_once_are_all_added(void **state) {
    (void)state;
    check("conv_fwd int8 nhwgc g20 c20 k20 i12x13 f9x9 p4x4 epilogue=zero_x:int8+zero_w", 0);
    check("conv_fwd int8 nhwgc c9 k4 i16x16 f16x8 epilogue=zero_w", 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_single_elements),
        cmocka_unit_test(groups_of_one_channel_are_widened),
        cmocka_unit_test(more_taps_than_are_added_at_once_are_all_added),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
