/* run_compiler.c: source -> blob by a program or two, compiler and linker, as child processes without a shell: what the toolchains share
 * whose compiler is one.
 *
 * Source and object live in a private folder (base/os/temp_folder.h) for as long as the compiler runs; it is removed on every path. It is
 * the compiler's TMPDIR, too, so that what a compiler leaves that was killed goes with it. */
#include "jit/toolchain/run_compiler.h"

#include "base/container/arena.h"
#include "base/os/file.h"
#include "base/os/process/process.h"
#include "base/os/temp_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 64 };
static const int64_t usual_limit_ns = 60000000000;
static const size_t object_limit = (size_t)64 << 20;
static const char linked_name[] = "kernel.so", compiled_name[] = "kernel.o";

/* One program that is run, by its words. */
typedef struct step {
    const char *program; /* as errors name it */
    const char *argv[ARGUMENTS_MAX];
    size_t count;
    bool failed; /* a word is missing, for want of memory or of room */
} step;

typedef struct run {
    const kw_compile *compile;
    const kw_command *command;
    kw_arena arena; /* of the words */
    kw_temp_folder folder;
} run;

static const char *path_of(run *r, const char *name) {
    return kw_arena_format(&r->arena, "%s/%s", r->folder.path, name);
}

static kw_status write_source(run *r, kw_error *err) {
    const char *path = path_of(r, r->compile->name);
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    bool good = fd >= 0 && kw_file_write(fd, r->compile->source, r->compile->size);
    if (fd >= 0 && close(fd)) {
        good = false;
    }
    return good ? KW_OK
                : kw_fail(err, KW_ENVIRONMENT, "cannot write in %s; is the disk full? Set TMPDIR to a folder with room", r->folder.path);
}

/* --- the programs ------------------------------------------------------------------------------------------------- */

static void add_argument(step *s, const char *word) {
    s->failed |= !word || s->count == ARGUMENTS_MAX - 1; /* the last one is the end */
    if (!s->failed) {
        s->argv[s->count++] = word;
    }
}

static void add_words(step *s, const char *const *words) {
    for (; words && *words; words++) {
        add_argument(s, *words);
    }
}

static void compile_words(step *s, run *r) {
    const kw_compile *compile = r->compile;
    kw_scan scan = kw_scan_string(compile->machine);
    kw_word word;
    *s = (step){.program = compile->compiler->path};
    add_words(s, r->command->launcher);
    add_argument(s, compile->compiler->path);
    add_words(s, compile->compiler->toolchain->options(compile->compiler));
    while (kw_scan_word(&scan, &word)) {
        add_argument(s, kw_arena_format(&r->arena, "%s%.*s", r->command->machine_prefix, KW_WORD(word)));
    }
    add_argument(s, "-o");
    add_argument(s, path_of(r, r->command->linker ? compiled_name : linked_name));
    add_argument(s, path_of(r, compile->name));
}

static void link_words(step *s, run *r) {
    *s = (step){.program = r->command->linker[0]};
    add_words(s, r->command->linker);
    add_argument(s, "-o");
    add_argument(s, path_of(r, linked_name));
    add_argument(s, path_of(r, compiled_name));
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

/* Whether a compiler says that it wanted for processes, descriptors, memory or room on a disk, which is no fault of the source. Its
 * messages are in the C locale. */
static bool is_want(kw_word line) {
    static const int wants[] = {EAGAIN, ENOMEM, EMFILE, ENFILE, ENOSPC, EDQUOT};
    for (size_t i = 0; i < sizeof wants / sizeof *wants; i++) {
        const char *words = strerrordesc_np(wants[i]);
        if (memmem(line.at, line.size, words, strlen(words))) {
            return true;
        }
    }
    return memmem(line.at, line.size, "Killed signal terminated", 24); /* part of the compiler, by the kernel for want of memory */
}

static kw_status check_compiler_exit(const step *s, const kw_process_result *process, const kw_compiler *compiler, const char *messages,
                                     kw_error *err) {
    if (process->timed_out && kw_stop_requested(compiler->stop)) {
        return kw_fail_stopped(err);
    }
    if (process->timed_out) {
        int64_t limit_ns = compiler->limit_ns ? compiler->limit_ns : usual_limit_ns;
        return kw_fail(err, KW_FAILED, "%s needed more than %.3g s and was ended", s->program, (double)limit_ns / 1e9);
    }
    if (process->signal) {
        return kw_fail(err, KW_FAILED, "%s was ended by signal %d (%s)", s->program, process->signal, strsignal(process->signal));
    }
    if (process->exit_code) {
        kw_word line = first_error(messages);
        if (is_want(line)) {
            return kw_fail(err, KW_ENVIRONMENT, "%s could not do its work: %.*s", s->program, (int)(line.size < 200 ? line.size : 200),
                           line.at);
        }
        return kw_fail(err, KW_FAILED, "%s refused the source: %.*s", s->program, (int)(line.size < 200 ? line.size : 200), line.at);
    }
    return KW_OK;
}

static kw_status run_step(const run *r, const step *s, kw_compile_result *result, kw_error *err) {
    const kw_compiler *compiler = r->compile->compiler;
    int64_t limit_ns = compiler->limit_ns ? compiler->limit_ns : usual_limit_ns;
    kw_text line = {0}, output = {0};
    kw_process_result process = {0};
    if (s->failed) {
        return kw_fail_memory(err, "a compiler's command line");
    }
    for (size_t i = 0; i < s->count; i++) {
        kw_text_addf(&line, "%s%s", i ? " " : result->command.size ? " && " : "", s->argv[i]);
    }
    add_without(&result->command, kw_text_string(&line), r->folder.path);
    kw_status status =
        kw_process_run_job(&(kw_process_job){.argv = s->argv, .limit_ns = limit_ns, .stop = compiler->stop, .temporary = r->folder.path},
                           &output, &process, err);
    result->cpu_ns += process.cpu_ns;
    if (!status) {
        add_without(&result->messages, kw_text_string(&output), r->folder.path);
        status = check_compiler_exit(s, &process, compiler, kw_text_string(&result->messages), err);
    }
    kw_text_drop(&line);
    kw_text_drop(&output);
    return status;
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

static kw_status read_object(run *r, kw_blob *blob, kw_error *err) {
    const kw_compiler *compiler = r->compile->compiler;
    const char *path = path_of(r, linked_name);
    char *data = NULL;
    size_t size = 0;
    kw_error why = {0};
    if (!path) {
        return kw_fail_memory(err, "a compiled kernel");
    }
    if (kw_file_read(&r->arena, path, object_limit, &data, &size, &why)) {
        return kw_fail(err, KW_FAILED, "%s said nothing was wrong but left no object (%s)", compiler->path, why.text);
    }
    blob->data = malloc(size ? size : 1);
    if (!blob->data) {
        return kw_fail_memory(err, "a compiled kernel");
    }
    memcpy(blob->data, data, size);
    blob->size = size;
    kw_status status = compiler->toolchain->check(blob, &why);
    return status ? kw_fail(err, KW_FAILED, "%s said nothing was wrong but %s", compiler->path, why.text) : KW_OK;
}

kw_status kw_run_compiler(const kw_compile *compile, const kw_command *command, kw_compile_result *result, kw_error *err) {
    run r = {.compile = compile, .command = command};
    step s;
    *result = (kw_compile_result){0};
    kw_status status = kw_temp_folder_make(&r.folder, err);
    status = status ? status : write_source(&r, err);
    status = status ? status : check_unchanged(compile->compiler, err);
    if (!status) {
        compile_words(&s, &r);
        status = run_step(&r, &s, result, err);
    }
    if (!status && command->linker) {
        link_words(&s, &r);
        status = run_step(&r, &s, result, err);
    }
    status = status ? status : check_unchanged(compile->compiler, err);
    status = status ? status : read_object(&r, &result->blob, err);
    if (status) {
        kw_blob_drop(&result->blob);
    }
    kw_temp_folder_remove(&r.folder);
    kw_arena_drop(&r.arena);
    return status;
}
