/* six_calls.c: one convolution from a line of text to its result, in six calls. */
#include <kernelwright.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Zeroed memory aligned to 64 bytes; at least one byte, so that NULL always means that there is none. */
static void *take(int64_t bytes) {
    size_t size = ((size_t)bytes + 64) / 64 * 64;
    void *memory = aligned_alloc(64, size);
    return memory ? memset(memory, 0, size) : NULL;
}

int main(void) {
    kw_error err = {0};
    kw_problem problem;
    kw_context *context = NULL;
    kw_plan *plan = NULL;
    kw_tensors tensors = {.size = sizeof(kw_tensors)};
    int result = EXIT_FAILURE;

    if (kw_problem_parse(&problem, "conv_fwd fp32 nhwgc n1 c64 k64 i56x56 f3x3 p1x1", &err) ||
        kw_context_open(&context, "cpu", NULL, &err) ||
        kw_plan_create(&plan, context, &problem,
                       &(kw_plan_options){.size = sizeof(kw_plan_options), .mode = KW_SHORTLIST, .workspace_max = 64 << 20}, &err)) {
        goto out;
    }
    tensors.x = take(kw_problem_elements(&problem, KW_X) * 4);
    tensors.w = take(kw_problem_elements(&problem, KW_W) * 4);
    tensors.y = take(kw_problem_elements(&problem, KW_Y) * 4);
    tensors.workspace = take(kw_plan_workspace(plan));
    if (!tensors.x || !tensors.w || !tensors.y || !tensors.workspace) {
        snprintf(err.text, sizeof err.text, "out of memory");
        goto out;
    }
    for (int64_t i = 0; i < kw_problem_elements(&problem, KW_X); i++) {
        ((float *)tensors.x)[i] = 1;
    }
    for (int64_t i = 0; i < kw_problem_elements(&problem, KW_W); i++) {
        ((float *)tensors.w)[i] = 0.5f;
    }
    if (kw_plan_run(plan, &tensors, NULL, &err)) {
        goto out;
    }
    /* Inside the picture 3 * 3 * 64 products of 1 and 0.5 meet; in its corner only four taps of nine do. */
    printf("%s\n", kw_plan_explain(plan));
    printf("corner %g (128), inside %g (288)\n", ((float *)tensors.y)[0], ((float *)tensors.y)[(56 + 1) * 64]);
    result = EXIT_SUCCESS;
out:
    if (result) {
        fprintf(stderr, "six_calls: %s\n", err.text);
    }
    free(tensors.x);
    free(tensors.w);
    free(tensors.y);
    free(tensors.workspace);
    kw_plan_destroy(&plan);
    kw_context_close(&context);
    return result;
}
