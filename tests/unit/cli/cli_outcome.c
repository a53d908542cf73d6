#include "cli_outcome.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

char folder[] = "/tmp/kw-cli-XXXXXX";

void slurp(char *to, size_t capacity, const char *path) {
    FILE *file = fopen(path, "rb");
    size_t got = file ? fread(to, 1, capacity - 1, file) : 0;
    to[got] = 0;
    if (file) {
        fclose(file);
    }
}

void run(outcome *result, const char *const words[], const char *input) {
    char out[256], err[256];
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        int in_fd = open(input ? input : "/dev/null", O_RDONLY);
        int out_fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600), err_fd = open(err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(in_fd, 0);
        dup2(out_fd, 1);
        dup2(err_fd, 2);
        execv(KW_KWRIGHT, (char *const *)(uintptr_t)words);
        _exit(127);
    }
    int status = 0;
    waitpid(child, &status, 0);
    result->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    slurp(result->out, sizeof result->out, out);
    slurp(result->err, sizeof result->err, err);
}

size_t lines(const char *text) {
    size_t count = 0;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) {
        return -1;
    }
    char path[64];
    snprintf(path, sizeof path, "%s/cache", folder);
    setenv("KW_CACHE_DIR", path, 1);
    snprintf(path, sizeof path, "%s/data", folder);
    setenv("KW_DATA_DIR", path, 1);
    return 0;
}

int remove_folder(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}
