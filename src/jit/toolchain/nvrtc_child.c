/* nvrtc_child.c: the process that compiles for another one: LIBRARY OPTION... -o OBJECT SOURCE, as any compiler is called. What NVRTC says
 * goes to standard output; the exit code is 0 when the object was written. */
#include "jit/toolchain/nvrtc.h"

#include "base/container/arena.h"
#include "base/os/file.h"
#include "jit/toolchain/nvrtc_library.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { SOURCE_LIMIT = 64 << 20 };

static kw_status write_object(const char *path, const kw_blob *blob, kw_error *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && kw_file_write(fd, blob->data, blob->size);
    if (fd >= 0 && close(fd)) {
        good = false;
    }
    return good ? KW_OK : kw_fail(err, KW_IO, "cannot write %.300s", path);
}

int kw_nvrtc_serve(int count, char *const *arguments) {
    kw_arena arena = {0};
    kw_blob blob = {0};
    kw_text messages = {0};
    kw_error err = {0};
    kw_nvrtc library;
    char *source = NULL;
    size_t size = 0;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    kw_status status = count < 4 || strcmp(arguments[count - 3], "-o")
                           ? kw_fail(&err, KW_ILLEGAL, "LIBRARY OPTION... -o OBJECT SOURCE is wanted")
                           : kw_file_read(&arena, arguments[count - 1], SOURCE_LIMIT, &source, &size, &err);
    status = status ? status : kw_nvrtc_open(&library, arguments[0], &err);
    if (!status) {
        const char *name = strrchr(arguments[count - 1], '/');
        const kw_nvrtc_job job = {.source = source,
                                  .name = name ? name + 1 : arguments[count - 1],
                                  .options = (const char *const *)(arguments + 1),
                                  .option_count = (size_t)count - 4};
        status = kw_nvrtc_compile(&library, &job, &blob, &messages, &err);
        fputs(kw_text_string(&messages), stdout);
    }
    status = status ? status : write_object(arguments[count - 2], &blob, &err);
    if (status) {
        printf("error: %s\n", err.text);
    }
    kw_blob_drop(&blob);
    kw_text_drop(&messages);
    kw_arena_drop(&arena);
    return fflush(stdout) || status ? 1 : 0;
}
