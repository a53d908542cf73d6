/* gpu_pairs.c: which problems every config of a set is checked on, for an architecture of GPUs that need not be here.
 *
 *   gpu_pairs ARCH SET [FILTER] > pairs.manifest     FILTER as in `kwright list --filter`
 *
 * KW_PAIRS_BESIDE=ARCH gives no problems to the kernels that are played from the same text on that architecture: the set has them there,
 * and the C compiler sees the same. KW_PAIRS_EACH=N takes the ragged problem of a kernel and each Nth of its others, which are others from
 * kernel to kernel.
 *
 * Each config gets its own awkward problems, four at least and all of them fit: odd channels as far as its vectors allow, groups (in whole
 * merges), strides, dilation, padding beside the filter's half, single pixels, and one problem of more than a tile along rows, columns and
 * depth with a ragged last tile along each. `kwright sweep --verify-only --pairs` runs them. Standard error gets a line for each operation and type
 * with what the problems of its kernels have, the plain ones aside, which serve all types. Exit: 1 when a config lacks problems, or an operation
 * and type strides, dilation, groups or odd channels; 2 a bad request. */
#include "check/gpu/pair_problems.h"
#include "base/text.h"
#include "sweep/shards/manifest.h"
#include "families/source.h"
#include "config/arch/gpu_arch.h"

#include <kernelwright_tune.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct pair {
    size_t problem, config;
} pair;

/* What the problems of an operation and type have. */
typedef struct traits {
    size_t pairs, strided, dilated, grouped, odd, planes, volumes;
} traits;

typedef struct pairing {
    const kw_target *target;
    const char *beside; /* another architecture, which has the kernels of there; NULL: none */
    kw_catalog there;
    size_t left_out, each;
    kw_manifest manifest;
    pair *pairs;
    size_t count, capacity, lacking;
    traits of[KW_OP_COUNT][KW_DTYPE_COUNT];
} pairing;

/* --- pairs --- */

static void note_traits(traits *t, const kw_problem *problem) {
    const kw_conv_dims *d = &problem->conv;
    t->pairs++;
    if (problem->op == KW_GEMM) {
        t->odd += (problem->gemm.m & problem->gemm.n & problem->gemm.k & 1) != 0;
        t->grouped += problem->gemm.batch > 1;
        return;
    }
    t->strided += d->stride[1] == 2 || d->stride[2] == 2;
    t->dilated += d->dilation[1] > 1 || d->dilation[2] > 1;
    t->grouped += d->g > 1;
    t->odd += (d->c / d->g & d->k / d->g & 1) != 0;
    t->planes += problem->ndim == 2;
    t->volumes += problem->ndim == 3;
}

static kw_status add_pair(pairing *p, size_t config, const kw_problem *problem, kw_error *err) {
    pair one = {.config = config};
    if (p->count == p->capacity) {
        size_t capacity = p->capacity ? 2 * p->capacity : 1024;
        pair *larger = realloc(p->pairs, capacity * sizeof *larger);
        if (!larger) {
            return kw_fail_memory(err, "a list of pairs");
        }
        p->pairs = larger;
        p->capacity = capacity;
    }
    if (!kw_distinct_add(&p->manifest.problems, problem, &one.problem)) {
        return kw_fail_memory(err, "a list of problems");
    }
    p->pairs[p->count++] = one;
    const char *family = p->manifest.configs.configs[config].family->name;
    if (strcmp(family, "conv.reference_gpu") && strcmp(family, "gemm.reference_gpu")) {
        note_traits(&p->of[problem->op][problem->dtype], problem);
    }
    return KW_OK;
}

static bool is_new(const pair_subject *s, size_t position) {
    kw_distinct seen = {0};
    size_t place = 0;
    bool fresh = true;
    for (size_t i = 0; i <= position; i++) {
        size_t before = seen.count;
        fresh = kw_distinct_add(&seen, &s->problems[i], &place) && place == before;
    }
    kw_distinct_drop(&seen);
    return fresh;
}

static kw_status add_config(pairing *p, size_t position, kw_error *err) {
    const kw_config *config = &p->manifest.configs.configs[position];
    pair_subject s = {.config = config, .target = p->target, .tf32 = config->wants.tf32};
    size_t different = 0;
    kw_status status = KW_OK;
    pair_problems_find(&s);
    for (size_t i = 0; i < s.count && !status; i++) {
        if (is_new(&s, i)) {
            different++;
            status = i && (i + position) % p->each ? KW_OK : add_pair(p, position, &s.problems[i], err);
        }
    }
    if (!status && (different < PROBLEMS_MIN || !s.ragged)) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, s.config);
        fprintf(stderr, "%s: %zu problems%s\n", text, different, s.ragged ? "" : ", none with a ragged tile along rows, columns and depth");
        p->lacking++;
    }
    return status;
}

/* --- kernels that another architecture has --- */

/* What the C compiler sees of the text. */
static bool preprocess(kw_text *seen, const kw_text *source) {
    char path[] = "/tmp/gpu_pairs-XXXXXX", command[64], piece[4096];
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    bool good = file && fwrite(source->data, 1, source->size, file) == source->size;
    good = file && !fclose(file) && good;
    snprintf(command, sizeof command, "cc -E -P -x c %s", path);
    FILE *reader = good ? popen(command, "r") : NULL;
    size_t size;
    while (reader && (size = fread(piece, 1, sizeof piece, reader)) > 0) {
        kw_text_add_bytes(seen, piece, size);
    }
    good = reader && !pclose(reader) && seen->size && !seen->failed;
    unlink(path);
    return good;
}

static bool is_same_text(const kw_config *config, const char *arch, const char *other) {
    const char *const names[] = {arch, other};
    kw_text seen[2] = {{0}};
    bool made = true;
    for (int i = 0; i < 2; i++) {
        kw_code code;
        kw_text source = {0};
        made = made && !kw_code_for(&code, KW_BACKEND_EMU, names[i], NULL) && !kw_source_make(&source, config, code, NULL) &&
               preprocess(&seen[i], &source);
        kw_text_drop(&source);
    }
    bool same = made && seen[0].size == seen[1].size && !memcmp(seen[0].data, seen[1].data, seen[0].size);
    kw_text_drop(&seen[0]);
    kw_text_drop(&seen[1]);
    return same;
}

static bool note(void *user, const char *text) {
    kw_config config;
    return !kw_config_parse(&config, text, NULL) && !kw_catalog_add(user, &config, NULL, NULL);
}

/* As it is listed, or with the permission without which it serves nothing. */
static bool take(void *user, const char *text) {
    pairing *p = user;
    kw_config config;
    if (kw_config_parse(&config, text, NULL)) {
        return false;
    }
    pair_subject s = {.config = &config, .target = p->target};
    if (config.dtype == KW_FP32) {
        pair_problems_find(&s);
        config.wants.tf32 = !s.count;
    }
    return !kw_catalog_add(&p->manifest.configs, &config, NULL, NULL);
}

static int ascending(const void *a, const void *b) {
    const pair *x = a, *y = b;
    return x->problem != y->problem ? (x->problem > y->problem ? 1 : -1) : (x->config > y->config) - (x->config < y->config);
}

static bool show_traits_of(const traits *t, kw_op op, kw_dtype dtype) {
    fprintf(stderr, "%s %s: %zu pairs", kw_op_name(op), kw_dtype_name(dtype), t->pairs);
    if (op == KW_GEMM) {
        fprintf(stderr, ", %zu of batches, %zu of odd sizes\n", t->grouped, t->odd);
        return t->grouped && t->odd;
    }
    fprintf(stderr, ", %zu in 2D, %zu in 3D, %zu with stride 2, %zu dilated, %zu grouped, %zu with odd channels\n", t->planes, t->volumes,
            t->strided, t->dilated, t->grouped, t->odd);
    return t->planes && t->volumes && t->strided && t->dilated && t->grouped && t->odd;
}

static bool show_traits(const pairing *p) {
    bool whole = true;
    for (int op = 0; op < KW_OP_COUNT; op++) {
        for (int dtype = 0; dtype < KW_DTYPE_COUNT; dtype++) {
            const traits *t = &p->of[op][dtype];
            whole = (!t->pairs || show_traits_of(t, (kw_op)op, (kw_dtype)dtype)) && whole;
        }
    }
    return whole;
}

static kw_status pair_up(pairing *p, const kw_space_options *options, kw_error *err) {
    kw_space_options there = *options;
    there.arch = p->beside;
    kw_status status = p->beside ? kw_space_visit(&there, note, &p->there, err) : KW_OK;
    status = status ? status : kw_space_visit(options, take, p, err);
    for (size_t i = 0; i < p->manifest.configs.count && !status; i++) {
        const kw_config *config = &p->manifest.configs.configs[i];
        bool elsewhere = p->beside && kw_catalog_has(&p->there, config) && is_same_text(config, p->target->arch, p->beside);
        p->left_out += elsewhere;
        status = elsewhere ? KW_OK : add_config(p, i, err);
    }
    if (p->count) {
        qsort(p->pairs, p->count, sizeof *p->pairs, ascending);
    }
    for (size_t i = 0; i < p->count && !status; i++) {
        uint32_t config = (uint32_t)p->pairs[i].config;
        status = kw_manifest_add_run(&p->manifest, (kw_manifest_run){(uint32_t)p->pairs[i].problem, config, config}, err);
    }
    kw_text text = {0};
    status = status ? status : kw_manifest_print(&text, &p->manifest, err);
    if (!status) {
        fwrite(text.data, 1, text.size, stdout);
    }
    kw_text_drop(&text);
    return status;
}

int main(int argc, char **argv) {
    const kw_gpu_arch *arch = argc == 3 || argc == 4 ? kw_gpu_arch_find(argv[1]) : NULL;
    if (!arch) {
        fprintf(stderr, "usage: gpu_pairs ARCH SET [FILTER], for an architecture of GPUs such as gfx942 or sm_90\n");
        return 2;
    }
    const char *each = getenv("KW_PAIRS_EACH");
    pairing p = {.target = &arch->typical, .beside = getenv("KW_PAIRS_BESIDE"), .each = each && atoi(each) > 0 ? (size_t)atoi(each) : 1};
    kw_error err = {0};
    kw_status status = pair_up(
        &p, &(kw_space_options){.size = sizeof(kw_space_options), .set = argv[2], .arch = argv[1], .filter = argc == 4 ? argv[3] : NULL},
        &err);
    if (status) {
        fprintf(stderr, "gpu_pairs: %s\n", err.text);
    }
    if (p.beside) {
        fprintf(stderr, "%zu kernels are played on %s, from the same text\n", p.left_out, p.beside);
    }
    bool whole = !status && (show_traits(&p) || p.beside) && !p.lacking && p.count;
    kw_manifest_drop(&p.manifest);
    kw_catalog_drop(&p.there);
    free(p.pairs);
    return status ? 2 : !whole;
}
