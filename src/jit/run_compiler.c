/* run_compiler.c: source -> blob by a program, as a child process without a shell: what the toolchains share whose compiler is one.
 *
 * Source and object live in a private folder (mode 0700) under $TMPDIR or /tmp for as long as the compiler runs; it is removed on every
 * path. */
#include "jit/run_compiler.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 48, FOLDER_MAX = 512 };
static const int64_t usual_limit_ns = 60000000000;
static const size_t object_limit = (size_t)64 << 20;
static const char object_name[] = "kernel.so";

typedef struct kw_run {
    const kw_compile *compile;
    const kw_command *command;
} kw_run;

static kw_status make_folder(char folder[FOLDER_MAX], kw_error *err) {
    const char *base = secure_getenv("TMPDIR");
    if (!base || *base != '/' || snprintf(folder, FOLDER_MAX, "%s/kernelwright.XXXXXX", base) >= FOLDER_MAX || !mkdtemp(folder)) {
        snprintf(folder, FOLDER_MAX, "/tmp/kernelwright.XXXXXX");
        if (!mkdtemp(folder)) {
            *folder = 0;
            return kw_fail(err, KW_ENVIRONMENT,
                           "cannot make a temporary folder for the compiler in %s or /tmp; set TMPDIR to one that can be written",
                           base ? base : "$TMPDIR");
        }
    }
    return KW_OK;
}

/* A compiler that was killed may have left more than we put there. */
static void remove_folder(const char *folder) {
    int fd = *folder ? open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    if (!list) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    for (struct dirent *entry = readdir(list); entry; entry = readdir(list)) {
        unlinkat(fd, entry->d_name, 0);
    }
    closedir(list);
    rmdir(folder);
}

static kw_status write_source(const char *path, const kw_compile *compile, kw_error *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && kw_file_write(fd, compile->source, compile->size);
    if (fd >= 0 && close(fd)) {
        good = false;
    }
    return good ? KW_OK : kw_fail(err, KW_ENVIRONMENT, "cannot write %s; is the disk full? Set TMPDIR to a folder with room", path);
}

/* argv of the compiler, its words in the arena, and the same as one line of text that names the files without their folder. */
static kw_status make_command(const char *argv[ARGUMENTS_MAX], kw_arena *arena, const char *folder, const kw_run *run, kw_text *line) {
    const kw_compile *compile = run->compile;
    size_t used = 0;
    kw_scan scan = kw_scan_string(compile->machine);
    kw_word word;
    for (const char *const *word_before = run->command->launcher; word_before && *word_before; word_before++) {
        argv[used++] = *word_before;
    }
    argv[used++] = compile->compiler->path;
    for (const char *const *option = compile->compiler->toolchain->options(compile->compiler); *option; option++) {
        argv[used++] = *option;
    }
    while (used < ARGUMENTS_MAX - 4 && kw_scan_word(&scan, &word)) {
        argv[used++] = kw_arena_format(arena, "%s%.*s", run->command->machine_prefix, KW_WORD(word));
    }
    argv[used++] = "-o";
    for (size_t i = 0; i < used; i++) {
        kw_text_addf(line, "%s ", argv[i] ? argv[i] : "");
    }
    kw_text_addf(line, "%s %s", object_name, compile->name);
    argv[used++] = kw_arena_format(arena, "%s/%s", folder, object_name);
    argv[used++] = kw_arena_format(arena, "%s/%s", folder, compile->name);
    for (size_t i = 0; i < used; i++) {
        if (!argv[i]) {
            return KW_NO_MEMORY;
        }
    }
    argv[used] = NULL;
    return KW_OK;
}

/* What is said of a file should name the file that is kept, not the folder that is gone. */
static void add_without(kw_text *to, const char *text, const char *folder) {
    size_t length = strlen(folder);
    for (const char *at = strstr(text, folder); at; at = strstr(text, folder)) {
        kw_text_add_bytes(to, text, (size_t)(at - text));
        text = at + length + (at[length] == '/');
    }
    kw_text_add(to, text);
}

/* The first line that says error, else the first line. */
static kw_word first_error(const char *messages) {
    kw_scan scan = kw_scan_string(messages);
    kw_word line, first = {"no message", 10};
    for (bool any = false; kw_scan_line(&scan, &line); any = true) {
        if (!any && line.size) {
            first = line;
        }
        if (memmem(line.at, line.size, "error:", 6)) {
            return line;
        }
    }
    return first;
}

static kw_status judge(const kw_compile *compile, const kw_process_result *process, const char *messages, kw_error *err) {
    const kw_compiler *compiler = compile->compiler;
    int64_t limit = compiler->limit_ns ? compiler->limit_ns : usual_limit_ns;
    if (process->timed_out) {
        return kw_fail(err, KW_FAILED, "%s needed more than %.3g s and was ended", compiler->path, (double)limit / 1e9);
    }
    if (process->signal) {
        return kw_fail(err, KW_FAILED, "%s was ended by signal %d (%s)", compiler->path, process->signal, strsignal(process->signal));
    }
    if (process->exit_code) {
        kw_word line = first_error(messages);
        return kw_fail(err, KW_FAILED, "%s refused the source: %.*s", compiler->path, (int)(line.size < 200 ? line.size : 200), line.at);
    }
    return KW_OK;
}

/* Its key says which compiler made a blob; a compiler that was replaced since it was asked would make that a lie. */
static kw_status check_unchanged(const kw_compiler *compiler, kw_error *err) {
    struct stat info;
    if (stat(compiler->path, &info)) {
        return kw_fail(err, KW_ENVIRONMENT, "compiler %s is gone since it was found; open a new context to look for another one",
                       compiler->path);
    }
    if (info.st_size != compiler->size || (int64_t)info.st_mtim.tv_sec * 1000000000 + info.st_mtim.tv_nsec != compiler->time) {
        return kw_fail(err, KW_ENVIRONMENT, "compiler %s was replaced since it was found; open a new context", compiler->path);
    }
    return KW_OK;
}

static kw_status read_object(kw_blob *blob, kw_arena *arena, const char *path, const kw_compile *compile, kw_error *err) {
    char *data = NULL;
    size_t size = 0;
    kw_error why = {0};
    if (kw_file_read(arena, path, object_limit, &data, &size, &why)) {
        return kw_fail(err, KW_FAILED, "%s said nothing was wrong but left no object (%s)", compile->compiler->path, why.text);
    }
    blob->data = malloc(size ? size : 1);
    if (!blob->data) {
        return kw_fail_memory(err, "a compiled kernel");
    }
    memcpy(blob->data, data, size);
    blob->size = size;
    kw_status status = compile->compiler->toolchain->check(blob, &why);
    return status ? kw_fail(err, KW_FAILED, "%s said nothing was wrong but %s", compile->compiler->path, why.text) : KW_OK;
}

kw_status kw_run_compiler(const kw_compile *compile, const kw_command *command, kw_compile_result *result, kw_error *err) {
    kw_arena arena = {0};
    kw_text output = {0};
    kw_process_result process = {0};
    const char *argv[ARGUMENTS_MAX];
    char folder[FOLDER_MAX] = "", path[FOLDER_MAX + 64];
    const kw_compiler *compiler = compile->compiler;
    const kw_run run = {compile, command};
    *result = (kw_compile_result){0};
    kw_status status = make_folder(folder, err);
    if (status) {
        goto out;
    }
    snprintf(path, sizeof path, "%s/%s", folder, compile->name);
    if ((status = write_source(path, compile, err))) {
        goto out;
    }
    if (make_command(argv, &arena, folder, &run, &result->command)) {
        status = kw_fail_memory(err, "a compiler's command line");
        goto out;
    }
    if ((status = check_unchanged(compiler, err))) {
        goto out;
    }
    int64_t limit_ns = compiler->limit_ns ? compiler->limit_ns : usual_limit_ns;
    status = kw_process_run_until(argv, limit_ns, compiler->stop, &output, &process, err);
    result->cpu_ns = process.cpu_ns;
    if (status) {
        goto out;
    }
    add_without(&result->messages, kw_text_string(&output), folder);
    if ((status = judge(compile, &process, kw_text_string(&result->messages), err)) || (status = check_unchanged(compiler, err))) {
        goto out;
    }
    snprintf(path, sizeof path, "%s/%s", folder, object_name);
    status = read_object(&result->blob, &arena, path, compile, err);
out:
    if (status) {
        kw_blob_drop(&result->blob);
    }
    remove_folder(folder);
    kw_text_drop(&output);
    kw_arena_drop(&arena);
    return status;
}
