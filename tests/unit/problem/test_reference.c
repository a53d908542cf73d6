/* test_reference.c: the reference against an independent loop nest that scatters: it goes over all (output, tap) pairs, finds each
 * element by formulas written out per layout, and adds into the tensor that the operation writes. */

#include "problem/reference.h"
#include "random.h"
#include "support/kw_test.h"

#include <math.h>

static int64_t x_index(const kw_problem *p, int64_t n, int64_t g, int64_t c, const int64_t i[3]) {
    const kw_conv_dims *d = &p->conv;
    int64_t cg = d->c / d->g;
    return p->layout == KW_CHANNELS_LAST ? (((n * d->in[0] + i[0]) * d->in[1] + i[1]) * d->in[2] + i[2]) * d->c + g * cg + c
                                         : ((((n * d->g + g) * cg + c) * d->in[0] + i[0]) * d->in[1] + i[1]) * d->in[2] + i[2];
}

static int64_t y_index(const kw_problem *p, int64_t n, int64_t g, int64_t k, const int64_t o[3], const int64_t out[3]) {
    const kw_conv_dims *d = &p->conv;
    int64_t kg = d->k / d->g;
    return p->layout == KW_CHANNELS_LAST ? (((n * out[0] + o[0]) * out[1] + o[1]) * out[2] + o[2]) * d->k + g * kg + k
                                         : ((((n * d->g + g) * kg + k) * out[0] + o[0]) * out[1] + o[1]) * out[2] + o[2];
}

static int64_t w_index(const kw_problem *p, int64_t g, int64_t k, int64_t c, const int64_t t[3]) {
    const kw_conv_dims *d = &p->conv;
    int64_t cg = d->c / d->g, row = g * (d->k / d->g) + k;
    const int64_t *f = d->filter;
    if (p->filter_order == KW_FILTER_CRSK) {
        return (((c * f[0] + t[0]) * f[1] + t[1]) * f[2] + t[2]) * d->k + row;
    }
    if (p->filter_order == KW_FILTER_RSCK) {
        return (((t[0] * f[1] + t[1]) * f[2] + t[2]) * cg + c) * d->k + row;
    }
    bool krsc = p->filter_order == KW_FILTER_OF_LAYOUT ? p->layout == KW_CHANNELS_LAST : p->filter_order == KW_FILTER_KRSC;
    return krsc ? (((row * f[0] + t[0]) * f[1] + t[1]) * f[2] + t[2]) * cg + c
                : (((row * cg + c) * f[0] + t[0]) * f[1] + t[1]) * f[2] + t[2];
}

typedef struct data {
    double *tensor[KW_TENSOR_COUNT]; /* the values as doubles; the written one gets the sums */
    void *stored[KW_TENSOR_COUNT];
    int64_t *products;
    double *magnitude;
    int64_t elements[KW_TENSOR_COUNT];
} data;

static void add(data *all, kw_tensor result, const int64_t index[KW_TENSOR_COUNT]) {
    kw_tensor a = result == KW_X ? KW_Y : KW_X, b = result == KW_W ? KW_Y : KW_W;
    double product = all->tensor[a][index[a]] * all->tensor[b][index[b]];
    all->tensor[result][index[result]] += product;
    all->magnitude[index[result]] += fabs(product);
    all->products[index[result]]++;
}

static void scatter_conv(const kw_problem *p, data *all) {
    const kw_conv_dims *d = &p->conv;
    int64_t out[3], o[3], t[3], i[3], at[KW_TENSOR_COUNT];
    kw_problem_output(out, p);
    for (int64_t pair = 0; pair < d->n * d->g * out[0] * out[1] * out[2] * d->filter[0] * d->filter[1] * d->filter[2]; pair++) {
        int64_t rest = pair, inside = 1;
        for (int axis = 0; axis < 3; axis++) {
            o[axis] = rest % out[axis];
            rest /= out[axis];
            t[axis] = rest % d->filter[axis];
            rest /= d->filter[axis];
            i[axis] = o[axis] * d->stride[axis] - d->pad[axis] + t[axis] * d->dilation[axis];
            inside = inside && i[axis] >= 0 && i[axis] < d->in[axis];
        }
        int64_t g = rest % d->g, n = rest / d->g;
        for (int64_t k = 0; k < d->k / d->g && inside; k++) {
            for (int64_t c = 0; c < d->c / d->g; c++) {
                at[KW_X] = x_index(p, n, g, c, i);
                at[KW_W] = w_index(p, g, k, c, t);
                at[KW_Y] = y_index(p, n, g, k, o, out);
                add(all, kw_problem_result(p), at);
            }
        }
    }
}

static void scatter_gemm(const kw_problem *p, data *all) {
    const kw_gemm_dims *d = &p->gemm;
    bool a_row = p->layout == KW_RCR || p->layout == KW_RRR, b_row = p->layout == KW_RRR || p->layout == KW_CRR;
    for (int64_t b = 0; b < d->batch; b++) {
        for (int64_t k = 0; k < d->k; k++) {
            for (int64_t m = 0; m < d->m; m++) {
                for (int64_t n = 0; n < d->n; n++) {
                    const int64_t at[KW_TENSOR_COUNT] = {b * d->m * d->k + (a_row ? m * d->k + k : k * d->m + m),
                                                         b * d->k * d->n + (b_row ? k * d->n + n : n * d->k + k),
                                                         b * d->m * d->n + m * d->n + n};
                    add(all, KW_Y, at);
                }
            }
        }
    }
}

/* Small integers, so that sums are exact in any order. */
static data make_data(const kw_problem *problem, kw_zeros zero, uint64_t *random) {
    data all = {0};
    kw_tensor result = kw_problem_result(problem);
    for (kw_tensor tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        kw_dtype dtype = kw_problem_dtype(problem, tensor);
        int64_t count = all.elements[tensor] = kw_problem_elements(problem, tensor);
        all.tensor[tensor] = calloc((size_t)count, sizeof(double));
        all.stored[tensor] = calloc((size_t)count, kw_dtype_size(dtype));
        assert_non_null(all.tensor[tensor]);
        assert_non_null(all.stored[tensor]);
        for (int64_t i = 0; i < count && tensor != result; i++) {
            all.tensor[tensor][i] = (double)random_between(random, -4, 4);
            kw_dtype_store(dtype, all.stored[tensor], i, all.tensor[tensor][i] * (dtype == KW_UINT8 ? -50 : 1));
            all.tensor[tensor][i] = kw_dtype_load(dtype, all.stored[tensor], i) - (tensor == KW_X   ? zero.x
                                                                                   : tensor == KW_W ? zero.w
                                                                                                    : 0); /* of uint8 0 to 200 */
        }
    }
    all.products = calloc((size_t)all.elements[result], sizeof(int64_t));
    all.magnitude = calloc((size_t)all.elements[result], sizeof(double));
    assert_non_null(all.products);
    assert_non_null(all.magnitude);
    return all;
}

static void drop_data(data *all) {
    for (kw_tensor tensor = 0; tensor < KW_TENSOR_COUNT; tensor++) {
        free(all->tensor[tensor]);
        free(all->stored[tensor]);
    }
    free(all->products);
    free(all->magnitude);
}

static void reference_is_the_definition(void **state) {
    (void)state;
    uint64_t random = 8;
    for (int i = 0; i < 1600; i++) {
        kw_problem problem = random_problem(&random, (kw_op)(i % KW_OP_COUNT), 6);
        bool shifts = problem.dtype == KW_INT8 && problem.op <= KW_CONV_FWD;
        kw_zeros zero = {shifts ? (double)random_between(&random, -3, 3) : 0, shifts ? (double)random_between(&random, -3, 3) : 0};
        data all = make_data(&problem, zero, &random);
        if (problem.op == KW_GEMM) {
            scatter_gemm(&problem, &all);
        } else {
            scatter_conv(&problem, &all);
        }
        kw_tensor result = kw_problem_result(&problem);
        const void *tensors[KW_TENSOR_COUNT] = {all.stored[KW_X], all.stored[KW_W], all.stored[KW_Y]};
        tensors[result] = NULL; /* the result is not read */
        int64_t products_of_all = 0;
        for (int64_t j = 0; j < all.elements[result]; j++) {
            int64_t products = -1;
            double magnitude = -1, value = kw_reference_at(&problem, tensors, zero, j, &products, &magnitude);
            if (value != all.tensor[result][j] || products != all.products[j] || magnitude != all.magnitude[j]) {
                char text[KW_PROBLEM_TEXT_MAX];
                kw_problem_print(text, sizeof text, &problem);
                fail_msg("%s: element %d is %g of %d products, not %g of %d", text, (int)j, value, (int)products, all.tensor[result][j],
                         (int)all.products[j]);
            }
            products_of_all += products;
        }
        assert_int_equal(2 * products_of_all, kw_problem_flops(&problem));
        assert_true(zero.x != 0 || zero.w != 0 ||
                    kw_reference_at(&problem, tensors, (kw_zeros){0}, 0, NULL, NULL) == all.tensor[result][0]);
        drop_data(&all);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reference_is_the_definition)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
