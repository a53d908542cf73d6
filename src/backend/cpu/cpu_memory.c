/* cpu_memory.c: memory of the CPU device. What would not fit is refused before it is touched: the kernel hands out more memory than there
 * is and ends a process, perhaps another one, when it is used. */
#include "backend/cpu/cpu.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t small_alignment = 64, large = (size_t)2 << 20, page = 4096;

/* Bytes that can be had without swapping; -1 when unknown. */
static int64_t available(void) {
    char text[2048];
    int fd = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) {
        close(fd);
    }
    text[got > 0 ? got : 0] = 0;
    const char *line = strstr(text, "MemAvailable:");
    return line ? strtoll(line + strlen("MemAvailable:"), NULL, 10) * 1024 : -1;
}

kw_status kw_cpu_alloc(void **memory, size_t size, kw_error *err) {
    size_t alignment = size >= large ? large : small_alignment;
    *memory = NULL;
    if (size > (size_t)PTRDIFF_MAX - large) {
        return kw_fail(err, KW_NO_MEMORY, "%zu bytes are more than a process can have", size);
    }
    if (size >= large) {
        int64_t room = available();
        if (room >= 0 && (int64_t)size > room) {
            return kw_fail(err, KW_NO_MEMORY, "%zu bytes wanted, %lld available; choose a smaller problem or free memory", size,
                           (long long)room);
        }
    }
    size_t whole = size ? (size + alignment - 1) / alignment * alignment : alignment;
    char *start = aligned_alloc(alignment, whole);
    if (!start) {
        return kw_fail(err, KW_NO_MEMORY, "%zu bytes cannot be had; choose a smaller problem or free memory", size);
    }
    if (size >= large) {
        madvise(start, whole, MADV_HUGEPAGE); /* a wish; refusal changes nothing */
        for (size_t at = 0; at < whole; at += page) {
            start[at] = 0;
        }
    }
    *memory = start;
    return KW_OK;
}
