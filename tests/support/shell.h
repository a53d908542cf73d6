/* shell.h: lines as a user would type or paste them, in a folder of their own, with kwright found on PATH. */
#ifndef KW_TESTS_SHELL_H
#define KW_TESTS_SHELL_H

#include <stdbool.h>

typedef struct shell_answer {
    int code;
    char text[65536]; /* both outputs; what is longer is cut */
} shell_answer;

/* A fresh folder with caches and wisdom of its own. Returns its path, NULL where it cannot be made. */
const char *shell_open(const char *kwright);
/* Removes the folder. */
int shell_close(void);
void shell_run(shell_answer *a, const char *line);
/* The next printed command from *at on: behind a backquote up to the next one, or behind blanks or ": " up to the line's end. Names of verbs
 * alone are no commands to paste. */
bool shell_next_command(const char **at, char command[8192]);

#endif
