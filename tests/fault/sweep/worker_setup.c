/* worker_setup.c: see worker_setup.h. */
#include "fault/sweep/worker_setup.h"

#include "base/os/clock.h"

#include <kernelwright_tune.h>

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

static const char problem_text[] = "gemm fp32 rcr m24 n48 k64";

/* --- setting up ------------------------------------------------------------------------------------------------------ */

static bool take_config(void *user, const char *text) {
    setup *s = user;
    kw_target target;
    kw_config config;
    kw_cpu_target(&target, 1);
    if (!kw_config_parse(&config, text, NULL) && config.family->emit && !kw_config_fits(&config, &s->problem, &target, NULL)) {
        s->config[s->configs++] = config;
    }
    return s->configs <= HONEST_KERNELS;
}

/* A real kernel behind a piece of C, under a key of its own. */
static void make_evil(setup *s, int which) {
    kw_text source = {0};
    kw_error err = {0};
    kw_compile_result result;
    char machine[256];
    const kw_config *config = &s->config[HONEST_KERNELS];
    assert_int_equal(kw_source_make(&source, config, (kw_code){0}, &err), KW_OK);
    kw_text_addf(&source, "%s#define EVIL_FILE \"%s\"\n", evil_head, s->once);
    kw_text_addf(&source, evil_frame, evils[which].body);
    snprintf(machine, sizeof machine, "%s -Dkw_stage0=kw_honest", kw_source_options(config, (kw_code){0}));
    kw_compile compile = {&s->compiler, source.data, source.size, machine, "evil.c"};
    if (kw_compile_run(&compile, &result, &err)) {
        print_error("%s: %s\n%s\n", evils[which].name, err.text, kw_text_string(&result.messages));
        fail();
    }
    snprintf(s->evil_key[which], sizeof s->evil_key[which], "%.48s%04x", s->key[HONEST_KERNELS], which);
    assert_int_equal(kw_cache_put(s->cache, s->evil_key[which], &result.blob, &err), KW_OK);
    kw_compile_result_drop(&result);
    kw_text_drop(&source);
}

bool is_meant(int which) {
    return !SANITIZED || evils[which].where == ANYWHERE;
}

int count_descriptors(void) {
    DIR *list = opendir("/proc/self/fd");
    int count = 0;
    while (list && readdir(list)) {
        count++;
    }
    closedir(list);
    return count;
}

int open_setup(void **state) {
    static setup the_setup;
    setup *s = &the_setup;
    char note[256];
    kw_error err = {0};
    kw_space_options space = {
        .size = sizeof(kw_space_options), .set = "default", .filter = "c.family == 'gemm.tiled' and c.op == 'gemm' and c.dtype == 'fp32'"};
    *state = s;
    scratch_make(s->folder);
    scratch_path(s->cache_folder, s->folder, "cache");
    scratch_path(s->once, s->folder, "once");
    assert_int_equal(kw_problem_parse(&s->problem, problem_text, &err), KW_OK);
    assert_int_equal(kw_space_visit(&space, take_config, s, &err), KW_OK);
    if (kw_compiler_find(&s->compiler, NULL, (kw_code){0}, &err) || s->configs <= HONEST_KERNELS) {
        print_message("skipped: %s\n", *err.text ? err.text : "no generated kernels for this machine");
        exit(0);
    }
    assert_int_equal(kw_cache_open(&s->cache, s->cache_folder, note, &err), KW_OK);
    kw_jit jit = {.compiler = &s->compiler, .cache = s->cache};
    for (int i = 0; i <= HONEST_KERNELS; i++) {
        kw_blob blob;
        kw_jit_result result;
        assert_int_equal(kw_jit_blob(&jit, &s->config[i], &blob, &result, &err), KW_OK);
        kw_blob_drop(&blob);
        memcpy(s->key[i], result.key, sizeof result.key);
    }
    for (int i = 0; i < EVILS; i++) {
        if (is_meant(i)) {
            make_evil(s, i);
        }
    }
    s->descriptors = count_descriptors();
    return 0;
}

int close_setup(void **state) {
    setup *s = *state;
    kw_cache_close(&s->cache);
    scratch_remove(s->folder);
    return 0;
}

/* --- looking at processes -------------------------------------------------------------------------------------------- */

size_t read_process(char *text, size_t capacity, const char *pid, const char *name) {
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/%s", pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, capacity - 1) : 0;
    if (fd >= 0) {
        close(fd);
    }
    for (ssize_t i = 0; i < got; i++) {
        text[i] = text[i] ? text[i] : ' ';
    }
    text[got > 0 ? got : 0] = 0;
    return (size_t)(got > 0 ? got : 0);
}

int count_processes(const setup *s) {
    char text[4096];
    int count = 0;
    DIR *list = opendir("/proc");
    for (struct dirent *entry = list ? readdir(list) : NULL; entry; entry = readdir(list)) {
        int pid = atoi(entry->d_name), parent = 0;
        if (pid <= 0 || pid == getpid()) {
            continue;
        }
        bool worker = read_process(text, sizeof text, entry->d_name, "cmdline") && strstr(text, s->cache_folder);
        if (read_process(text, sizeof text, entry->d_name, "stat")) {
            const char *behind = strrchr(text, ')');
            parent = behind && strlen(behind) > 4 ? atoi(behind + 4) : 0;
        }
        count += worker || parent == getpid();
    }
    closedir(list);
    return count;
}

bool are_gone(const setup *s, int64_t limit_ns) {
    int64_t until = kw_clock_ns() + limit_ns;
    while (count_processes(s)) {
        if (kw_clock_ns() > until) {
            return false;
        }
        usleep(5000);
    }
    return true;
}

/* --- jobs ------------------------------------------------------------------------------------------------------------ */

kw_worker_client_options pool_options(const setup *s) {
    return (kw_worker_client_options){.program = KW_KWRIGHT,
                                      .device = "cpu",
                                      .cache = s->cache_folder,
                                      .threads = 1,
                                      .kernel_limit_ns = patient_limit_ns,
                                      .batch_limit_ns = 20000000000,
                                      .memory_limit = 256 << 20};
}

void fill_batch(batch *b, const setup *s, int evil_at, const char *evil_key) {
    size_t count = 0;
    memset(b, 0, sizeof *b);
    for (int i = 0; i < HONEST_KERNELS; i++) {
        if (i == evil_at) {
            b->kernels[count++] = (kw_worker_job_kernel){&s->config[HONEST_KERNELS], evil_key};
        }
        b->kernels[count++] = (kw_worker_job_kernel){&s->config[i], s->key[i]};
    }
    b->job = (kw_worker_job){.problem = &s->problem, .kernels = b->kernels, .count = count, .batches = 3, .seed = 7};
    b->job.control_problem = &s->problem;
    b->job.control = (kw_worker_job_kernel){&s->config[0], s->key[0]};
    b->result.records = b->records;
}

bool is_measured(const kw_record *record) {
    return record->outcome == KW_GOOD && record->samples > 0 && record->time_ns > 0 && record->time_ns < 1e9;
}

bool honest_are_measured(const batch *b, int evil_at) {
    bool good = true;
    for (size_t i = 0; i < b->job.count; i++) {
        char text[KW_CONFIG_TEXT_MAX];
        kw_config_print(text, sizeof text, b->kernels[i].config);
        good = good && !strcmp(text, b->records[i].config) && ((int)i == evil_at || is_measured(&b->records[i]));
    }
    return good;
}

void show(const batch *b) {
    for (size_t i = 0; i < b->job.count; i++) {
        const kw_record *r = &b->records[i];
        print_error("  %-10s %g ns, %d samples: %s\n", kw_outcome_name(r->outcome), r->time_ns, r->samples, r->detail);
    }
}

int find_evil(const char *name) {
    for (int i = 0; i < EVILS; i++) {
        if (!strcmp(evils[i].name, name)) {
            return i;
        }
    }
    fail();
    return 0;
}
