/* player.c: each kernel is compiled, verified and met with infinities, NaNs and denormals; every so many of them once more as problems with
 * epilogues, channels first, other orders of the filter, pitches and zero points have it. */
#include "check/gpu/player.h"

#include "check/gpu/chosen_kernels.h"
#include "problem/epilogue/epilogue.h"
#include "support/kw_test.h"

const char *const player_arches[PLAYER_ARCHES] = {"sm_90", "gfx942"};

enum { SPECIAL_EVERY = 1, EPILOGUE_EVERY = 5, FIRST_EVERY = 9, FILTER_EVERY = 13, PITCHED_EVERY = 4 };

/* Of results with channels, and of weights. Those without a step are run on infinities and NaNs too. */
static const char *const epilogues[] = {
    "out=int8",
    "epilogue=bias,gelu,add",
    "out=int8 epilogue=scale_row,bias:int32,relu,multiply:bf16",
    "out=fp32 epilogue=scale_row:fp16,scale_channel:bf16,add:int8:-0.5,silu",
    "out=fp16 epilogue=add:fp32,tanh,multiply:fp16,beta:fp16,add:bf16",
    "out=bf16 epilogue=scale,scale_row,bias:fp16,gelu_tanh",
    "out=fp8 epilogue=clamp:-2:3,bias:int8,sigmoid",
    "out=int8 epilogue=scale_channel,add:int32,leaky_relu:0.25",
    "out=bf8 epilogue=hardswish,scale_row:int8,clamp:-40000:50000",
    "out=uint8",
};
static const char *const weight_epilogues[] = {
    "out=fp32 epilogue=scale,beta,add", "epilogue=scale,multiply:fp16,add:bf16:2",
    "out=int8 epilogue=relu",           "out=bf16 epilogue=add:int32,tanh",
    "epilogue=bias_gradient",           "out=fp32 epilogue=bias_gradient,add",
};

static void check_problem(player *p, const kw_kernel *kernel, const kw_config *config, const char *text) {
    kw_problem problem;
    kw_bench *bench;
    kw_record record;
    kw_error err = {0};
    if (kw_problem_parse(&problem, text, &err) || kw_config_fits(config, &problem, p->backend->target(p->device), &err) ||
        kw_bench_open(&bench, p->backend, p->device, &problem, 0, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (kw_bench_verify(bench, kernel, config, &record, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    bool fused = !kw_epilogue_is_none(&problem.epilogue);
    bool special = p->checked++ % SPECIAL_EVERY == 0 && problem.dtype != KW_INT8 && !problem.epilogue.count && !config->wants.pitched &&
                   !config->wants.filter && !config->wants.grouped;
    p->with_epilogue.right += fused && record.outcome == KW_GOOD;
    p->with_first.right += config->wants.first && record.outcome == KW_GOOD;
    p->with_filter.right += config->wants.filter && record.outcome == KW_GOOD;
    p->with_pitches.right += config->wants.pitched && record.outcome == KW_GOOD;
    /* Of a few elements an epilogue may leave nothing that could be wrong. */
    if (record.outcome != KW_GOOD && !(fused && record.outcome == KW_MISTRUSTED)) {
        p->failures++;
        fprintf(stderr, "%s: %s\n  kwright check --device emu:%s --config '%s' '%s'\n", kw_outcome_name(record.outcome), record.detail,
                p->arch, record.config, text);
    }
    special_values *values = NULL;
    if (special && (special_values_open(&values, bench, &err) || special_values_check(values, kernel, config, &p->special, &err))) {
        p->failures++;
        fprintf(stderr, "%s\n  on emu:%s '%s' '%s'\n", err.text, p->arch, record.config, text);
    }
    special_values_close(&values);
    kw_bench_close(&bench);
}

static double flops_of(const char *head, const char *const problems[PLAYER_PROBLEMS], const char *behind) {
    double flops = 0;
    for (int i = 0; i < PLAYER_PROBLEMS && problems[i]; i++) {
        char text[256];
        kw_problem problem;
        snprintf(text, sizeof text, "%s %s%s", head, problems[i], behind);
        flops += kw_problem_parse(&problem, text, NULL) ? 0 : (double)kw_problem_flops(&problem);
    }
    return flops;
}

static void count_kernel(player_tally *kind, bool is_one, bool played) {
    kind->kernels += is_one;
    kind->played += is_one && played;
}

/* behind: what stands behind the problems' sizes. */
static void check_kernel(player *p, const kw_config *config, const char *head, const char *const problems[PLAYER_PROBLEMS],
                         const char *behind) {
    kw_jit jit = {.code = p->code, .compiler = &p->compiler, .cache = p->cache, .log_folder = "/tmp"};
    kw_jit_result result;
    kw_blob blob = {0};
    kw_kernel *kernel = NULL;
    kw_error err = {0};
    bool played = !p->passed_by && (!chosen_kernels_are_some() || chosen_kernels_has(p->arch, config, flops_of(head, problems, behind)));
    count_kernel(&p->with_epilogue, !kw_epilogue_is_none(&config->wants.epilogue), played);
    count_kernel(&p->with_first, config->wants.first, played);
    count_kernel(&p->with_filter, config->wants.filter, played);
    count_kernel(&p->with_pitches, config->wants.pitched, played);
    if (!played) {
        return;
    }
    if (kw_config_runs(config, p->backend->target(p->device), &err) || kw_jit_blob(&jit, config, &blob, &result, &err) ||
        p->backend->load(p->device, config, &blob, &kernel, &err)) {
        fail_msg("%s: %s", head, err.text);
    }
    for (int i = 0; i < PLAYER_PROBLEMS && problems[i]; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s %s%s", head, problems[i], behind);
        check_problem(p, kernel, config, text);
    }
    p->backend->unload(p->device, &kernel);
    kw_blob_drop(&blob);
}

/* Whether a kernel is refused an epilogue for the room that it takes. */
static bool lacks_room(const kw_error *err) {
    return strstr(err->text, "rule lds_result") || strstr(err->text, "rule overlap_epilogue") || strstr(err->text, "rule registers");
}

void player_check_first(player *p, const kw_config *config, const char *head, const char *const problems[PLAYER_PROBLEMS]) {
    static const char *const first[] = {"ngcw", "ngchw", "ngcdhw"};
    const char *words = p->turned++ % 2 && config->dtype == KW_BF16 ? " epilogue=add:bf16:0.5+relu" : "";
    char text[256], front[64];
    kw_problem problem;
    kw_config special, bare = kw_config_plain(config);
    kw_error err = {0};
    snprintf(front, sizeof front, "%.*s %s", (int)(strrchr(head, ' ') - head), head, first[kw_config_axis(config, "ndim", 2) - 1]);
    snprintf(text, sizeof text, "%s %s%s", front, problems[0], words);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err) == KW_OK) {
        check_kernel(p, &special, front, problems, words);
    } else if (!lacks_room(&err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

/* The same kernel with a filter in another order, where this filter has one; every other time of channels-first problems too. */
static void check_filter(player *p, const kw_config *config, const char *head, const char *const problems[PLAYER_PROBLEMS]) {
    static const char *const first[] = {"ngcw", "ngchw", "ngcdhw"};
    static const char *const orders[] = {" filter=rsck", " filter=krsc", " filter=crsk", " filter=kcrs"};
    size_t number = p->filters++;
    bool is_first = config->family->turns && number % 2;
    const char *words = orders[(number + number / 4) % 4], *const one[PLAYER_PROBLEMS] = {problems[0]};
    char text[256], front[64];
    kw_problem problem;
    kw_config special, bare = kw_config_plain(config);
    kw_error err = {0};
    snprintf(front, sizeof front, "%.*s %s", (int)(strrchr(head, ' ') - head), head,
             is_first ? first[kw_config_axis(config, "ndim", 2) - 1] : strrchr(head, ' ') + 1);
    snprintf(text, sizeof text, "%s %s%s", front, problems[0], words);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err) == KW_OK) {
        check_kernel(p, &special, front, one, words);
    } else if (!lacks_room(&err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

/* The same kernel with zero points of x, of w, and of its result. */
static void check_shifted(player *p, const kw_config *config, const char *head, const char *const problems[PLAYER_PROBLEMS]) {
    static const char *const words[] = {" epilogue=zero_x:int32", " out=uint8 epilogue=zero_x:int32+bias+scale+zero_y",
                                        " epilogue=zero_w_channel:int8", " out=int8 epilogue=zero_x:int32+zero_w+scale_channel"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char text[256];
        kw_problem problem;
        kw_config special, bare = kw_config_plain(config);
        kw_error err = {0};
        snprintf(text, sizeof text, "%s %s%s", head, problems[0], words[i]);
        if (kw_problem_parse(&problem, text, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        if (kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err) == KW_OK) {
            check_kernel(p, &special, head, problems, words[i]);
        } else if (!lacks_room(&err) && !strstr(err.text, "rule zero_fill") && !strstr(err.text, "rule zero_w_merge")) {
            fail_msg("%s: %s", text, err.text);
        }
    }
}

void player_check(player *p, const kw_config *config, const char *head, const char *const problems[PLAYER_PROBLEMS]) {
    check_kernel(p, config, head, problems, "");
    if (config->family->turns && p->configs % FIRST_EVERY == 0) {
        player_check_first(p, config, head, problems);
    }
    if (config->family->filter_text && p->configs % FILTER_EVERY == 1) {
        check_filter(p, config, head, problems);
    }
    if (config->dtype == KW_INT8 && config->op <= KW_CONV_FWD && !config->wants.grouped) {
        check_shifted(p, config, head, problems);
    }
    if (p->configs++ % EPILOGUE_EVERY == 0) {
        bool weights = config->op == KW_CONV_BWD_WEIGHT;
        const char *words = weights ? weight_epilogues[p->fused_weights++ % (sizeof weight_epilogues / sizeof *weight_epilogues)]
                                    : epilogues[p->fused++ % (sizeof epilogues / sizeof *epilogues)];
        char text[256];
        kw_problem problem;
        kw_config special, bare = kw_config_plain(config); /* of a grouped product its words are made anew */
        kw_error err = {0};
        snprintf(text, sizeof text, "%s %s %s", head, problems[0], words);
        if (kw_problem_parse(&problem, text, &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        if (kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err) == KW_OK) {
            snprintf(text, sizeof text, " %s", words);
            check_kernel(p, &special, head, problems, text);
        } else if (!lacks_room(&err)) {
            fail_msg("%s: %s", text, err.text);
        }
    }
}

void player_check_pitched_images(player *p, const kw_config *config, const char *head, const char *sizes) {
    static const char *const first[] = {"ngcw", "ngchw", "ngcdhw"};
    bool as_is = kw_word_is(kw_config_axis_word(config, "spec"), "filter1x1_stride1_pad0");
    const char *const words[PLAYER_PROBLEMS] = {sizes};
    char text[256], front[64], behind[96];
    kw_problem problem;
    kw_config special;
    kw_error err = {0};
    if (!as_is && p->pitched_images++ % PITCHED_EVERY) {
        return;
    }
    snprintf(front, sizeof front, "%.*s %s", (int)(strrchr(head, ' ') - head), head,
             as_is ? first[kw_config_axis(config, "ndim", 2) - 1] : strrchr(head, ' ') + 1);
    snprintf(text, sizeof text, "%s %s", front, sizes);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    const kw_conv_dims *d = &problem.conv;
    int64_t x = as_is ? d->in[0] * d->in[1] * d->in[2] : d->c, y = as_is ? x : d->k;
    snprintf(behind, sizeof behind, " ldx%c%d ldy%c%d%s", as_is ? 'c' : 'w', (int)(x / 8 * 8 + 8), as_is ? 'c' : 'w', (int)(y / 8 * 8 + 16),
             as_is && config->op != KW_CONV_BWD_WEIGHT ? " epilogue=add" : "");
    snprintf(text, sizeof text, "%s %s%s", front, sizes, behind);
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    if (kw_config_serves(&special, config, &problem, p->backend->target(p->device), &err) == KW_OK) {
        check_kernel(p, &special, front, words, behind);
    } else if (!strstr(err.text, "rule pitches") && !lacks_room(&err)) {
        fail_msg("%s: %s", text, err.text);
    }
}

void player_check_pitched(player *p, const kw_config *config, const char *head, bool vectors, const char *sizes) {
    static const char *const odd[PLAYER_PROBLEMS] = {"lda69 ldb67 ldc41 stridea0 strideb14001 stridec3001",
                                                     "lda71 ldc80 stridec40 strideb0", "lda51 ldb51 ldc53 epilogue=bias:fp32+relu+add"},
                             *const even[PLAYER_PROBLEMS] = {"lda160 ldb144 ldc80 stridea0 strideb24000 stridec12000",
                                                             "ldb176 ldc128 stridec64 stridea26000 strideb0",
                                                             "lda192 ldc80 epilogue=bias:fp32+relu+add"};
    if (!p->pitched_only && p->products++ % PITCHED_EVERY) {
        return;
    }
    for (int i = 0; i < PLAYER_PROBLEMS; i++) {
        char text[256], behind[128];
        const char *words[PLAYER_PROBLEMS] = {sizes};
        kw_problem problem;
        kw_config special, bare = kw_config_plain(config);
        kw_error err = {0};
        snprintf(behind, sizeof behind, " %s", vectors ? even[i] : odd[i]);
        snprintf(text, sizeof text, "%s %s%s", head, sizes, behind);
        if (kw_problem_parse(&problem, text, &err) || kw_config_serves(&special, &bare, &problem, p->backend->target(p->device), &err)) {
            fail_msg("%s: %s", text, err.text);
        }
        check_kernel(p, &special, head, words, behind);
    }
}

void player_open(player *p, int arch) {
    char name[32], note[256];
    int index;
    kw_error err = {0};
    const char *folder = getenv("KW_CHECK_CACHE");
    *p = (player){.arch = player_arches[arch], .pitched_only = getenv("KW_CHECK_PITCHED") != NULL};
    snprintf(name, sizeof name, "emu:%s", p->arch);
    if (kw_backend_find(&p->backend, &index, name, &err) || p->backend->open(&p->device, index, 0, &err) ||
        kw_code_for(&p->code, KW_BACKEND_EMU, p->arch, &err) || kw_compiler_find(&p->compiler, getenv("KW_CC"), p->code, &err) ||
        (folder && kw_cache_open(&p->cache, folder, note, &err))) {
        fail_msg("%s: %s", name, err.text);
    }
}

static size_t none_is_right(const player_tally *kind, bool wanted) {
    return (wanted && !kind->kernels) || (kind->played > 0 && !kind->right);
}

size_t player_close(player *p) {
    size_t failures = p->failures;
    print_message("%s: %zu pairs of kernel and problem, %zu wrong; %zu with an epilogue, %zu with their channels first, %zu with "
                  "another order of the "
                  "filter and %zu with pitches are right\n",
                  p->arch, p->checked, p->failures, p->with_epilogue.right, p->with_first.right, p->with_filter.right,
                  p->with_pitches.right);
    if (!chosen_kernels_are_some()) {
        failures += none_is_right(&p->with_epilogue, p->configs > 0) + none_is_right(&p->with_first, p->turned > 0) +
                    none_is_right(&p->with_pitches, p->products > 0);
    }
    kw_cache_close(&p->cache);
    p->backend->close(&p->device);
    return failures;
}
