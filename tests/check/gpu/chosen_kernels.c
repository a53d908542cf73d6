/* chosen_kernels.c: see the header. */
#include "check/gpu/chosen_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MAX = KW_CONFIG_TEXT_MAX + 32 };

bool chosen_kernels_are_some(void) {
    return getenv("KW_CHECK_KERNELS") || getenv("KW_CHECK_LIST");
}

static bool has_line(const char *path, const char *line) {
    char read[LINE_MAX];
    bool found = false;
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "KW_CHECK_KERNELS=%s cannot be read\n", path);
        exit(1);
    }
    while (!found && fgets(read, sizeof read, file)) {
        read[strcspn(read, "\n")] = '\0';
        found = !strcmp(read, line);
    }
    fclose(file);
    return found;
}

bool chosen_kernels_has(const char *arch, const kw_config *config, double flops) {
    char text[KW_CONFIG_TEXT_MAX], line[LINE_MAX];
    const char *path = getenv("KW_CHECK_KERNELS");
    kw_config_print(text, sizeof text, config);
    snprintf(line, sizeof line, "%s %s", arch, text);
    if (path && !has_line(path, line)) {
        return false;
    }
    if (getenv("KW_CHECK_LIST")) {
        printf("kernel %s %.0f %s\n", arch, flops, text);
        return false;
    }
    return true;
}
