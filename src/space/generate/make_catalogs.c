/* make_catalogs.c: a program of the build. It writes the catalog of a rule set for one architecture as gzip; the build takes it into
 * libkernelwright, which thereby has its kernels' names without an interpreter.
 *
 * Usage: make_catalogs SET ARCH FILE [BUILDER_CONF]. The rules compiled into this program are the ones that are used, whatever the
 * environment says. BUILDER_CONF is the folder of CK Builder's lists, for sets that come from there. */
#include "base/format/gzip.h"
#include "base/os/file.h"
#include "space/enumerate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool add_config_line(void *user, const kw_config *config) {
    char text[KW_CONFIG_TEXT_MAX];
    kw_config_print(text, sizeof text, config);
    kw_text_addf(user, "%s\n", text);
    return true;
}

static kw_status write_catalog(const kw_space_options *space, const char *file, kw_error *err) {
    kw_text text = {0}, packed = {0};
    kw_text_addf(&text, "# set %s, %s\n", space->set, space->arch);
    kw_status status = kw_enumerate(space, add_config_line, &text, err);
    if (!status && text.failed) {
        status = kw_fail_memory(err, "a catalog");
    }
    status = status ? status : kw_gzip_pack(&packed, text.data, text.size, err);
    status = status ? status : kw_file_replace(file, packed.data, packed.size, 0644, err);
    kw_text_drop(&text);
    kw_text_drop(&packed);
    return status;
}

int main(int count, char **arguments) {
    if (count < 4 || count > 5) {
        fprintf(stderr, "usage: make_catalogs SET ARCH FILE [BUILDER_CONF]\n");
        return 2;
    }
    unsetenv("KW_RULES");
    kw_error err = {0};
    kw_space_options space = {
        .size = sizeof(kw_space_options), .set = arguments[1], .arch = arguments[2], .builder_conf = count > 4 ? arguments[4] : NULL};
    if (write_catalog(&space, arguments[3], &err)) {
        fprintf(stderr, "make_catalogs: set %s: %s\n", arguments[1], err.text);
        return 1;
    }
    return 0;
}
