/* cpu_hunt.c: random problems for the kernels of CPUs: `make hunt`.
 *
 *   cpu_hunt SECONDS SEED [ARCH ...]
 *
 * The problems of problems.txt are awkward in ways that somebody thought of; these are drawn (legal/), for a kernel of set tests or default of
 * any architecture that this machine runs, some with an epilogue or as parts of larger tensors. Other kernels that serve the problem are asked
 * too, and all that are made to its measure. Each is verified on one thread and on two, three or five, and gives the same bits on both. What is not right is printed as the command
 * that shows it again; the same seed draws the same problems. Each problem has a process of its own. Compiled kernels are kept in the folder
 * that KW_CHECK_CACHE names, else in ./build-kernels. Exit: 1 when anything was wrong; 2 a bad request; 3 no compiler. */
#include "backend/backend.h"
#include "base/statistics/random.h"
#include "check/legal/legal_problems.h"
#include "check/legal/legal_wants.h"
#include "check/repeated_runs.h"
#include "check/set_kernels.h"
#include "config/arch/isa.h"
#include "measure/measure.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FIELDS_MAX = 32, DEVICES = 2, KERNELS = 64, SPECIAL_KERNELS = 8, PROBLEM_SECONDS = 60 };
static const double most_flops = 6e7;
static const int64_t most_elements = 1 << 19;

/* The kernels of a set for an architecture. */
typedef struct field {
    const char *arch, *set;
    kw_catalog catalog;
} field;

/* What the process of a problem tells, also when it dies. */
typedef struct found {
    char config[KW_CONFIG_TEXT_MAX];
    int threads;
    size_t pairs, mistrusted, wrong;
} found;

typedef struct hunt {
    uint64_t random;
    const kw_backend *backend;
    kw_jit jit;
    field fields[FIELDS_MAX];
    size_t count, problems, wrong;
    found *found;
} hunt;

/* A problem; first: the kernel of the set that it was drawn for, where the search for others begins. */
typedef struct drawn {
    const field *of;
    kw_problem problem;
    char text[KW_PROBLEM_TEXT_MAX];
    size_t first;
    int threads[DEVICES];
} drawn;

static void complain(const hunt *h, const drawn *p, const char *what, const char *why) {
    printf("%s: %s\n  KW_CPU_ARCH=%s kwright check --threads %d --config '%s' '%s'\n", what, why, p->of->arch, h->found->threads,
           h->found->config, p->text);
    fflush(stdout);
    h->found->wrong++;
}

/* --- one kernel on one problem --- */

typedef struct opened {
    kw_device *device[DEVICES];
    kw_bench *bench[DEVICES];
    kw_kernel *kernel[DEVICES];
} opened;

static kw_status verify(const hunt *h, const drawn *p, opened *t, const kw_config *config, int d, kw_error *err) {
    kw_record record;
    h->found->threads = p->threads[d];
    kw_status status = kw_bench_verify(t->bench[d], t->kernel[d], config, &record, err);
    h->found->pairs++;
    h->found->mistrusted += !status && record.outcome == KW_MISTRUSTED;
    if (!status && record.outcome != KW_GOOD && record.outcome != KW_MISTRUSTED) {
        complain(h, p, kw_outcome_name(record.outcome), record.detail);
    }
    return status;
}

static kw_status compare_threads(const hunt *h, const drawn *p, const opened *t, const kw_config *config, kw_error *err) {
    repeated_result first = {0};
    kw_status status = KW_OK;
    for (int d = 0; d < DEVICES && !status; d++) {
        status = repeated_run(&first, t->bench[d], t->kernel[d], config, err);
    }
    free(first.bytes);
    if (status == KW_FAILED) {
        complain(h, p, "differs from one thread", err->text);
        return KW_OK;
    }
    return status;
}

static kw_status check_kernel(const hunt *h, const drawn *p, opened *t, const kw_config *config, kw_error *err) {
    kw_blob blob = {0};
    kw_jit_result built;
    kw_config_print(h->found->config, sizeof h->found->config, config);
    kw_status status = kw_jit_blob(&h->jit, config, &blob, &built, err);
    size_t wrong = h->found->wrong;
    for (int d = 0; d < DEVICES && !status; d++) {
        status = t->bench[d] ? KW_OK : kw_bench_open(&t->bench[d], h->backend, t->device[d], &p->problem, 0, err);
        status = status ? status : h->backend->load(t->device[d], config, &blob, &t->kernel[d], err);
        status = status ? status : verify(h, p, t, config, d, err);
    }
    if (!status && wrong == h->found->wrong) {
        status = compare_threads(h, p, t, config, err);
    }
    for (int d = 0; d < DEVICES; d++) {
        if (t->kernel[d]) {
            h->backend->unload(t->device[d], &t->kernel[d]);
        }
    }
    kw_blob_drop(&blob);
    return status;
}

/* --- one problem, in a process of its own --- */

static bool serves(kw_config *special, const hunt *h, const drawn *p, const opened *t, const kw_config *config) {
    bool good = config->op == p->problem.op && config->dtype == p->problem.dtype;
    for (int d = 0; d < DEVICES && good; d++) {
        good = !kw_config_serves(special, config, &p->problem, h->backend->target(t->device[d]), NULL);
    }
    return good;
}

/* Those that families make to the problem's measure, which no set has. */
static kw_status check_tailored(const hunt *h, const drawn *p, opened *t, kw_error *err) {
    kw_status status = KW_OK;
    for (const kw_family *const *family = kw_family_table; *family; family++) {
        bool makes = (*family)->tailor && (*family)->kind == KW_KIND_CPU && (*family)->ops >> p->problem.op & 1 &&
                     (*family)->dtypes >> p->problem.dtype & 1;
        kw_config made[KW_TAILORED_MAX], special;
        size_t count = makes ? (*family)->tailor(&p->problem, h->backend->target(t->device[0]), made) : 0;
        for (size_t i = 0; i < count && !status; i++) {
            status = serves(&special, h, p, t, &made[i]) ? check_kernel(h, p, t, &special, err) : KW_OK;
        }
    }
    return status;
}

/* Kernels of a special text are all to be compiled, so there are fewer. */
static kw_status check_all(const hunt *h, const drawn *p, kw_error *err) {
    opened t = {0};
    kw_status status = KW_OK;
    for (int d = 0; d < DEVICES && !status; d++) {
        status = h->backend->open(&t.device[d], 0, p->threads[d], err);
    }
    status = status ? status : check_tailored(h, p, &t, err);
    size_t count = p->of->catalog.count;
    for (size_t i = 0, met = 0; i < count && met < KERNELS && !status; i++) {
        kw_config special;
        /* The one that the problem was drawn for, then far ones: neighbours in a catalog differ by little. */
        size_t at = (p->first + i * 7919) % count;
        if (serves(&special, h, p, &t, &p->of->catalog.configs[at])) {
            status = check_kernel(h, p, &t, &special, err);
            met += kw_config_is_plain(&special) ? 1 : KERNELS / SPECIAL_KERNELS;
        }
    }
    for (int d = 0; d < DEVICES; d++) {
        kw_bench_close(&t.bench[d]);
        if (t.device[d]) {
            h->backend->close(&t.device[d]);
        }
    }
    return status;
}

static int check_problem(const hunt *h, const drawn *p) {
    kw_error err = {0};
    size_t before = h->found->wrong;
    setenv("KW_CPU_ARCH", p->of->arch, 1);
    if (check_all(h, p, &err)) {
        complain(h, p, "cannot be checked", err.text);
    }
    return h->found->wrong > before;
}

static void check_apart(hunt *h, const drawn *p) {
    int status = 0;
    char why[64];
    h->found->config[0] = '\0';
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CPU, &(struct rlimit){PROBLEM_SECONDS, PROBLEM_SECONDS + 1}); /* of processor time, however busy the machine is */
        exit(check_problem(h, p));
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
        complain(h, p, "not checked", "no process");
    } else if (WIFSIGNALED(status)) {
        bool late = WTERMSIG(status) == SIGXCPU;
        snprintf(why, sizeof why, late ? "after %d s" : "signal %d", late ? (int)PROBLEM_SECONDS : WTERMSIG(status));
        complain(h, p, late ? "timed_out" : "crashed", why);
    }
    h->wrong += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
}

/* --- drawing --- */

static bool is_small(const kw_problem *problem) {
    bool small = kw_problem_flops(problem) <= most_flops;
    for (int t = 0; t < KW_TENSOR_COUNT; t++) {
        small &= kw_problem_elements(problem, (kw_tensor)t) <= most_elements;
    }
    return small;
}

/* For any kernel of the field, small enough to be computed at once. */
static void draw(hunt *h, drawn *p) {
    static const int threads[] = {2, 3, 5};
    do {
        p->first = (size_t)kw_random_below(&h->random, p->of->catalog.count);
        legal_sizes sizes = kw_random_below(&h->random, 3) ? LEGAL_SMALL : LEGAL_USUAL;
        p->problem = legal_problem_draw(&h->random, &p->of->catalog.configs[p->first], sizes);
    } while (!is_small(&p->problem));
    kw_problem plain = p->problem;
    if (!kw_random_below(&h->random, 5)) {
        legal_epilogue_draw(&h->random, &p->problem);
    } else if (!kw_random_below(&h->random, 6)) {
        legal_pitches_draw(&h->random, &p->problem);
    }
    p->problem = is_small(&p->problem) ? p->problem : plain;
    kw_problem_print(p->text, sizeof p->text, &p->problem);
    p->threads[0] = 1;
    p->threads[1] = threads[kw_random_below(&h->random, sizeof threads / sizeof *threads)];
}

/* Architectures that this machine is not are left out. */
static kw_status open_fields(hunt *h, const char *arch, kw_error *err) {
    static const char *const sets[] = {"tests", "default"};
    kw_device *device = NULL;
    setenv("KW_CPU_ARCH", arch, 1);
    kw_status status = h->backend->open(&device, 0, 1, err);
    if (status) {
        printf("left out: %s\n", err->text);
        return KW_OK;
    }
    h->backend->close(&device);
    for (size_t i = 0; i < sizeof sets / sizeof *sets && !status && h->count < FIELDS_MAX; i++) {
        field *f = &h->fields[h->count++];
        *f = (field){.arch = arch, .set = sets[i]};
        status = set_kernels(&f->catalog, sets[i], arch, err);
        h->count -= !status && !f->catalog.count;
    }
    return status;
}

static kw_status open_all(hunt *h, kw_compiler *compiler, kw_cache **cache, char **archs, kw_error *err) {
    char note[256];
    int index;
    const char *folder = getenv("KW_CHECK_CACHE");
    h->found = mmap(NULL, sizeof *h->found, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    kw_status status = h->found == MAP_FAILED ? kw_fail_memory(err, "what is found") : kw_backend_find(&h->backend, &index, "cpu", err);
    status = status ? status : kw_compiler_find(compiler, getenv("KW_CC"), (kw_code){0}, err);
    status = status ? status : kw_cache_open(cache, folder ? folder : "build-kernels", note, err);
    h->jit = (kw_jit){.compiler = compiler, .cache = *cache, .log_folder = "/tmp"};
    for (int i = 0; archs[i] && !status; i++) {
        status = open_fields(h, archs[i], err);
    }
    for (const kw_cpu_arch *arch = kw_cpu_archs; arch->name && !archs[0] && !status; arch++) {
        status = open_fields(h, arch->name, err);
    }
    return status || h->count ? status : kw_fail(err, KW_NO_KERNEL, "no kernels");
}

int main(int argc, char **argv) {
    hunt h = {0};
    kw_compiler compiler;
    kw_cache *cache = NULL;
    kw_error err = {0};
    if (argc < 3) {
        fprintf(stderr, "usage: cpu_hunt SECONDS SEED [ARCH ...]\n");
        return 2;
    }
    h.random = strtoull(argv[2], NULL, 10);
    kw_status status = open_all(&h, &compiler, &cache, argv + 3, &err);
    if (status) {
        fprintf(stderr, "cpu_hunt: %s\n", err.text);
        return status == KW_ENVIRONMENT ? 3 : 2;
    }
    time_t end = time(NULL) + atol(argv[1]);
    for (; time(NULL) < end; h.problems++) {
        drawn p = {.of = &h.fields[h.problems % h.count]};
        draw(&h, &p);
        check_apart(&h, &p);
    }
    printf("%zu problems for kernels of %zu sets, %zu pairs verified, of %zu few values say anything; %zu problems had a wrong kernel\n",
           h.problems, h.count, h.found->pairs, h.found->mistrusted, h.wrong);
    for (size_t i = 0; i < h.count; i++) {
        kw_catalog_drop(&h.fields[i].catalog);
    }
    kw_cache_close(&cache);
    return h.wrong ? 1 : 0;
}
