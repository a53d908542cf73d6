/* memory_shim.c: preloaded into a program, it refuses one allocation, the KW_FAIL_AT-th, or with KW_FAIL_ON=1 that and every later one, and
 * writes into KW_FAIL_COUNT how many there were. Processes that the program starts are left alone; with KW_FAIL_IN=worker the first of them
 * that is told to be a worker is meant, and no other. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long asked;
static long fail_at;
static int stays;
static char count_path[4096];

/* Whether the first word of the command is this one. */
static int is_called(const char *word) {
    char text[4096] = "";
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t size = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
    close(fd);
    size_t first = strlen(text) + 1;
    return size > 0 && first < (size_t)size && !strcmp(text + first, word);
}

/* Whether nobody was before us; our count will stand there. */
static int is_first(const char *path) {
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL, 0600) : -1;
    close(fd);
    return fd >= 0;
}

__attribute__((constructor)) static void read_orders(void) {
    const char *in = getenv("KW_FAIL_IN");
    if (in && *in && !(is_called(in) && is_first(getenv("KW_FAIL_COUNT")))) {
        return;
    }
    const char *at = getenv("KW_FAIL_AT"), *on = getenv("KW_FAIL_ON"), *path = getenv("KW_FAIL_COUNT");
    if (path) {
        snprintf(count_path, sizeof count_path, "%s", path);
    }
    unsetenv("LD_PRELOAD");
    unsetenv("KW_FAIL_AT");
    unsetenv("KW_FAIL_ON");
    unsetenv("KW_FAIL_COUNT");
    unsetenv("KW_FAIL_IN");
    stays = on && *on == '1';
    atomic_store(&asked, 0);
    fail_at = at ? atol(at) : 0;
}

__attribute__((destructor)) static void tell_count(void) {
    char text[32];
    if (!*count_path) {
        return;
    }
    int length = snprintf(text, sizeof text, "%ld", atomic_load(&asked)), fd = open(count_path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd >= 0) {
        ssize_t written = write(fd, text, (size_t)length);
        close(fd);
        (void)written;
    }
}

static int is_refused(void) {
    long now = atomic_fetch_add(&asked, 1) + 1;
    int refused = fail_at > 0 && (now == fail_at || (stays && now > fail_at));
    errno = refused ? ENOMEM : errno;
    return refused;
}

void *malloc(size_t size) {
    return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return is_refused() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return is_refused() ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return is_refused() ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    void *got = is_refused() ? NULL : __libc_memalign(alignment, size);
    *memory = got ? got : *memory;
    return got ? 0 : ENOMEM;
}
