/* worker_setup.c: what a worker does before the first kernel runs in it, so that a kernel gone astray takes nothing else along:
 *
 *   - it dies with the thread that started it (PR_SET_PDEATHSIG; the number of the parent is compared, since that may have died before);
 *   - descriptors 0 and 1 lead to /dev/null, the conversation goes on under high numbers, all others are closed;
 *   - no core files; memory up to what the machine has; at most so many more processes as no sane kernel starts (where the user is not
 *     exempt from that limit); processor time for the job;
 *   - it is the first to go when the machine runs out of memory. */
#include "sweep/worker/worker.h"

#include "base/text.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define UNDER_SANITIZER 1
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNDER_SANITIZER 1
#endif
#endif
#ifndef UNDER_SANITIZER
#define UNDER_SANITIZER 0 /* else terabytes of address space are data, and are not used */
#endif

enum { HIGH_DESCRIPTOR = 40, MORE_PROCESSES = 4096, SPARE_SECONDS = 60, CPUS_MOST = 1 << 16 };

kw_status kw_worker_parse(kw_worker_options *options, int count, char *const *arguments, kw_error *err) {
    struct {
        const char *name;
        const char **text;
        int64_t *number;
    } known[] = {{"--device", &options->device, NULL},   {"--cpus", &options->cpus, NULL},     {"--cache", &options->cache, NULL},
                 {"--threads", NULL, &options->threads}, {"--parent", NULL, &options->parent}, {"--status", NULL, &options->status_fd},
                 {"--memory", NULL, &options->memory},   {"--limit", NULL, &options->limit_s}};
    *options = (kw_worker_options){.status_fd = -1};
    for (int i = 0; i < count; i += 2) {
        const char *value = i + 1 < count ? arguments[i + 1] : "";
        size_t k = 0;
        while (k < sizeof known / sizeof *known && strcmp(arguments[i], known[k].name)) {
            k++;
        }
        if (k == sizeof known / sizeof *known || i + 1 == count) {
            return kw_fail(err, KW_MALFORMED, "%.60s: this verb serves sweeps; its options come in pairs, see docs/measuring/workers.md",
                           arguments[i]);
        }
        if (known[k].text) {
            *known[k].text = value;
        } else if (!kw_word_int((kw_word){value, strlen(value)}, 0, INT64_MAX, known[k].number)) {
            return kw_fail(err, KW_MALFORMED, "%s %.40s: a whole number is wanted", known[k].name, value);
        }
    }
    return options->threads <= INT32_MAX ? KW_OK : kw_fail(err, KW_ILLEGAL, "--threads %lld is too many", (long long)options->threads);
}

static kw_status follow_parent(const kw_worker_options *options, kw_error *err) {
    if (options->parent && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != (pid_t)options->parent)) {
        return kw_fail(err, KW_ENVIRONMENT, "process %lld, which started this one, is gone", (long long)options->parent);
    }
    return KW_OK;
}

static kw_status move_descriptors(kw_worker *w, kw_error *err) {
    struct stat info;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    w->in = fcntl(0, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
    w->out = fcntl(1, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
    if (null < 0 || w->in < 0 || w->out < 0 || fstat(w->out, &info) || dup2(null, 0) < 0 || dup2(null, 1) < 0) {
        return kw_fail(err, KW_ENVIRONMENT, "standard input and output cannot be moved away, or there is no /dev/null");
    }
    w->out_device = info.st_dev;
    w->out_inode = info.st_ino;
    if (null > 2) {
        close(null);
    }
    return KW_OK;
}

/* All but standard error, the conversation and what was opened as 0 and 1. Old kernels lack the call: then they stay open. */
static void close_others(const kw_worker *w) {
#ifdef SYS_close_range
    unsigned least = (unsigned)(w->in < w->out ? w->in : w->out), most = (unsigned)(w->in < w->out ? w->out : w->in);
    syscall(SYS_close_range, 3u, least - 1, 0u);
    if (most - least > 1) {
        syscall(SYS_close_range, least + 1, most - 1, 0u);
    }
    syscall(SYS_close_range, most + 1, ~0u, 0u);
#else
    (void)w;
#endif
}

/* Lowers a limit; a limit that is lower already stays. */
static void limit_resource(__rlimit_resource_t what, rlim_t value) {
    struct rlimit now;
    if (!getrlimit(what, &now) && (now.rlim_max == RLIM_INFINITY || now.rlim_max > value)) {
        setrlimit(what, &(struct rlimit){value, value});
    }
}

/* Threads of the whole machine, which are more than the user's: "0.20 0.18 0.12 1/80 11206" in /proc/loadavg. 0: unknown. */
static rlim_t count_threads(void) {
    char text[128];
    int64_t count = 0;
    int fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = 0;
    const char *slash = strchr(text, '/');
    kw_scan scan = kw_scan_string(slash ? slash + 1 : "");
    return kw_scan_int(&scan, 1, INT32_MAX, &count) ? (rlim_t)count : 0;
}

static void set_limits(const kw_worker *w) {
    struct sysinfo machine;
    rlim_t threads = count_threads();
    limit_resource(RLIMIT_CORE, 1); /* 1, not 0: that also keeps a program from being started for the core */
    if (threads) {
        limit_resource(RLIMIT_NPROC, threads + MORE_PROCESSES);
    }
    kw_backend_id backend = KW_BACKEND_CPU;
    (void)(w->options.device && kw_backend_id_of_device(&backend, w->options.device));
    /* A driver reserves address space for all of the device's memory. */
    bool driver = kw_backend_is_gpu_hardware(backend);
    if (!UNDER_SANITIZER && !driver && !sysinfo(&machine)) {
        limit_resource(RLIMIT_DATA, w->options.memory ? (rlim_t)w->options.memory : (rlim_t)machine.totalram * machine.mem_unit);
    }
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        (void)!write(fd, "1000", 4);
        close(fd);
    }
}

/* "0,2-3" into a set. */
static bool read_cpus(cpu_set_t *set, size_t size, const char *text) {
    kw_scan scan = kw_scan_string(text);
    do {
        int64_t first, last;
        if (!kw_scan_int(&scan, 0, CPUS_MOST - 1, &first)) {
            return false;
        }
        last = first;
        if (kw_scan_char(&scan, '-') && !kw_scan_int(&scan, first, CPUS_MOST - 1, &last)) {
            return false;
        }
        for (; first <= last; first++) {
            CPU_SET_S((size_t)first, size, set);
        }
    } while (kw_scan_char(&scan, ','));
    return scan.at == scan.end;
}

static kw_status set_cpus(const char *text, kw_error *err) {
    size_t size = CPU_ALLOC_SIZE(CPUS_MOST);
    cpu_set_t *set = text ? CPU_ALLOC(CPUS_MOST) : NULL;
    kw_status status = KW_OK;
    if (set) {
        CPU_ZERO_S(size, set);
        if (!read_cpus(set, size, text)) {
            status = kw_fail(err, KW_MALFORMED, "--cpus %.100s: a list such as 0,2-3 is wanted", text);
        } else if (sched_setaffinity(0, size, set)) {
            status = kw_fail(err, KW_ENVIRONMENT, "--cpus %.100s: none of these may be used", text);
        }
        CPU_FREE(set);
    }
    return status;
}

kw_status kw_worker_confine(kw_worker *w, kw_error *err) {
    kw_status status = follow_parent(&w->options, err);
    if (!status && w->options.status_fd >= 0) {
        status = w->options.status_fd <= INT32_MAX ? kw_worker_status_map(&w->status_page, (int)w->options.status_fd, err)
                                                   : kw_fail(err, KW_ILLEGAL, "--status: no such descriptor");
    }
    status = status ? status : move_descriptors(w, err);
    if (!status) {
        close_others(w);
        set_limits(w);
        status = set_cpus(w->options.cpus, err);
    }
    return status;
}

void kw_worker_allow_time(const kw_worker *w, size_t kernels) {
    struct rusage used;
    struct rlimit now;
    if (!w->options.limit_s || getrusage(RUSAGE_SELF, &used) || getrlimit(RLIMIT_CPU, &now)) {
        return;
    }
    rlim_t units = (rlim_t)w->backend->target(w->device)->units;
    rlim_t spent = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
    rlim_t wanted = spent + (rlim_t)w->options.limit_s * (kernels + 1) * units + SPARE_SECONDS;
    now.rlim_cur = now.rlim_max == RLIM_INFINITY || now.rlim_max > wanted ? wanted : now.rlim_max;
    setrlimit(RLIMIT_CPU, &now);
}
