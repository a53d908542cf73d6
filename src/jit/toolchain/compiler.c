/* compiler.c: finds a compiler that is a program and asks it who it is.
 *
 * A compiler is identified by what it says of itself (kind, version, target) and by size and time stamp of its binary, so that an upgrade,
 * a rebuilt compiler of the same version and a cross compiler all give other cache keys. One child process, `PATH -v`, which gcc and clang
 * both answer without input. A compiler that is found but does not answer is an error that names it, never a silent step to the next one,
 * when it was asked for by name. */
#include "base/os/process/process.h"
#include "jit/toolchain/run_compiler.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t ask_limit_ns = 10000000000;

static bool is_executable(const char *path, struct stat *info) {
    return !stat(path, info) && S_ISREG(info->st_mode) && !access(path, X_OK);
}

/* Fills path with the absolute path of a program: one with a slash is taken as it is, a name is looked up on PATH. Relative folders on
 * PATH are passed over, since what they hold depends on where the process happens to stand. */
static bool resolve_program(char *path, size_t capacity, const char *wanted, struct stat *info) {
    if (*wanted == '/') {
        return (size_t)snprintf(path, capacity, "%s", wanted) < capacity && is_executable(path, info);
    }
    if (strchr(wanted, '/')) {
        char *here = getcwd(NULL, 0);
        bool found = here && (size_t)snprintf(path, capacity, "%s/%s", here, wanted) < capacity && is_executable(path, info);
        free(here);
        return found;
    }
    const char *folders = getenv("PATH");
    kw_scan scan = kw_scan_string(folders ? folders : "/usr/local/bin:/usr/bin:/bin");
    kw_word folder;
    while (*wanted && kw_scan_field(&scan, ':', &folder)) {
        if (!folder.size || *folder.at != '/' || folder.size >= capacity) {
            continue;
        }
        if ((size_t)snprintf(path, capacity, "%.*s/%s", (int)folder.size, folder.at, wanted) < capacity && is_executable(path, info)) {
            return true;
        }
    }
    return false;
}

/* "gcc version 12.2.0 (Debian ...)" and "Debian clang version 14.0.6" name the compiler, "Target: x86_64-linux-gnu" its machine. */
static void read_answer(kw_compiler *compiler, char target[64], const char *answer) {
    kw_scan scan = kw_scan_string(answer);
    kw_word line;
    while (kw_scan_line(&scan, &line)) {
        kw_scan words = {line.at, line.at + line.size};
        kw_word word, before = {0};
        if (kw_word_starts(line, "Target:") && kw_scan_word(&words, &word) && kw_scan_word(&words, &word)) {
            kw_word_copy(target, 64, word);
        }
        while (!*compiler->kind && kw_scan_word(&words, &word)) {
            if (kw_word_is(word, "version") && (kw_word_is(before, "gcc") || kw_word_is(before, "clang")) && kw_scan_word(&words, &word)) {
                kw_word_copy(compiler->kind, sizeof compiler->kind, before);
                kw_word_copy(compiler->version, sizeof compiler->version, word);
            }
            before = word;
        }
    }
}

static kw_status ask_compiler_target(kw_compiler *compiler, char target[64], const struct stat *info, kw_error *err) {
    kw_status status = KW_OK;
    kw_text answer = {0};
    kw_process_result result;
    const char *const argv[] = {compiler->path, "-v", NULL};
    status = kw_process_run(argv, ask_limit_ns, &answer, &result, err);
    if (status) {
        goto out;
    }
    if (result.timed_out) {
        status = kw_fail(err, KW_ENVIRONMENT, "compiler %s gave no answer to -v in 10 s; name another one", compiler->path);
        goto out;
    }
    if (result.exit_code) {
        status = kw_fail(err, KW_ENVIRONMENT, "compiler %s is broken: -v ended with %s %d; repair it or name another one", compiler->path,
                         result.signal ? "signal" : "exit code", result.signal ? result.signal : result.exit_code);
        goto out;
    }
    read_answer(compiler, target, kw_text_string(&answer));
    if (!*compiler->kind) {
        status = kw_fail(err, KW_ENVIRONMENT, "compiler %s is neither gcc nor clang by its answer to -v; name one that is", compiler->path);
        goto out;
    }
    compiler->size = (int64_t)info->st_size;
    compiler->time = (int64_t)info->st_mtim.tv_sec * 1000000000 + info->st_mtim.tv_nsec;
    snprintf(compiler->identity, sizeof compiler->identity, "%s %s %s size=%lld time=%lld", compiler->kind, compiler->version, target,
             (long long)compiler->size, (long long)compiler->time);
out:
    kw_text_drop(&answer);
    return status;
}

kw_status kw_compiler_choose(kw_compiler *compiler, const char *wanted, const kw_choice *choice, kw_code code, kw_error *err) {
    const char *const only[] = {wanted, NULL};
    kw_error why = {0};
    for (const char *const *name = wanted ? only : choice->usual; *name; name++) {
        struct stat info;
        char target[64] = "";
        *compiler = (kw_compiler){0};
        if (!resolve_program(compiler->path, sizeof compiler->path, *name, &info)) {
            continue;
        }
        kw_error reason;
        if (!ask_compiler_target(compiler, target, &info, &reason) && !choice->accepts(compiler, target, code, &reason)) {
            return KW_OK;
        }
        if (!why.status) {
            why = reason;
        }
    }
    *compiler = (kw_compiler){0};
    if (why.status) {
        return kw_fail(err, KW_ENVIRONMENT, "%s", why.text);
    }
    if (wanted) {
        return kw_fail(err, KW_ENVIRONMENT, "compiler %s is not a program here or on PATH; give a path or a name, without options", wanted);
    }
    return kw_fail(err, KW_ENVIRONMENT, "%s", choice->none);
}
