/* shell.c: see shell.h. */
#include "support/shell.h"

#include "support/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[SCRATCH_MAX];

const char *shell_open(const char *kwright) {
    char path[2 * SCRATCH_MAX];
    scratch_make(folder);
    setenv("KW_CACHE_DIR", scratch_path(path, folder, "cache"), 1);
    setenv("KW_DATA_DIR", scratch_path(path, folder, "data"), 1);
    return symlink(kwright, scratch_path(path, folder, "kwright")) ? NULL : folder;
}

int shell_close(void) {
    scratch_remove(folder);
    return 0;
}

void shell_run(shell_answer *a, const char *line) {
    char command[16384];
    size_t used = 0;
    snprintf(command, sizeof command, "cd %s && PATH=%s:\"$PATH\" && { %s\n} 2>&1 </dev/null", folder, folder, line);
    *a = (shell_answer){.code = 127};
    FILE *pipe = popen(command, "r");
    if (!pipe) {
        return;
    }
    for (size_t got; used + 1 < sizeof a->text && (got = fread(a->text + used, 1, sizeof a->text - 1 - used, pipe));) {
        used += got;
    }
    a->text[used] = 0;
    char rest[4096];
    while (fread(rest, 1, sizeof rest, pipe)) { /* what has no room, so that its writer is not ended by a closed pipe */
    }
    int status = pclose(pipe);
    a->code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool shell_next_command(const char **at, char command[8192]) {
    for (const char *found; (found = strstr(*at, "kwright ")); *at = found + 8) {
        bool quoted = found > *at && found[-1] == '`';
        size_t size = strcspn(found, quoted ? "`" : "\n");
        bool told = quoted || (found > *at + 1 && found[-1] == ' ' && (found[-2] == ' ' || found[-2] == ':'));
        if (told && memchr(found + 8, ' ', size - 8)) {
            snprintf(command, 8192, "%.*s", (int)size, found);
            *at = found + size;
            return true;
        }
    }
    return false;
}
