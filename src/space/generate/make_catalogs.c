/* make_catalogs.c: a program of the build. It prints the catalog of set "default" for one architecture; CMake compiles the texts into
 * libkernelwright, which thereby has its kernels' names without an interpreter.
 *
 * Usage: make_catalogs SET ARCH FILE. The rules compiled into this program are the ones that are used, whatever the environment says. */
#include "base/os/file.h"
#include "space/enumerate.h"

#include <stdio.h>
#include <stdlib.h>

static bool add_config_line(void *user, const kw_config *config) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_text_addf(user, "%s\n", text);
    return true;
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: make_catalogs SET ARCH FILE\n");
        return 2;
    }
    unsetenv("KW_RULES");
    kw_error err = {0};
    kw_text text = {0};
    kw_text_addf(&text, "# set %s, %s\n", arguments[1], arguments[2]);
    kw_status status = kw_enumerate(&(kw_space_options){.set = arguments[1], .arch = arguments[2]}, add_config_line, &text, &err);
    if (!status && text.failed) {
        status = kw_fail_memory(&err, "a catalog");
    }
    if (!status) {
        status = kw_file_replace(arguments[3], text.data, text.size, 0644, &err);
    }
    if (status) {
        fprintf(stderr, "make_catalogs: %s\n", err.text);
    }
    kw_text_drop(&text);
    return status ? 1 : 0;
}
