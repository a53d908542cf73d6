/* kernel_texts.c: what the C compiler is given for kernels, for tools/mutate.
 *
 *   kernel_texts FOLDER < KERNELS     a line is "ARCH CONFIG", ARCH an architecture that the emulator plays, or "cpu"
 *
 * The Nth line's text is FOLDER/N.c, from 0 on. Texts are those of KW_KERNELS where it is set. */
#include "families/source.h"

#include <stdio.h>
#include <string.h>

static kw_status write_text(const char *folder, size_t number, char *line, kw_error *err) {
    char path[4096];
    kw_config config;
    kw_code code = {0};
    kw_text source = {0};
    char *text = strchr(line, ' ');
    if (!text) {
        return kw_fail(err, KW_MALFORMED, "line %zu: no ARCH CONFIG; it reads %.60s", number + 1, line);
    }
    *text++ = '\0';
    kw_status status = strcmp(line, "cpu") ? kw_code_for(&code, KW_BACKEND_EMU, line, err) : KW_OK;
    status = status ? status : kw_config_parse(&config, text, err);
    status = status ? status : kw_source_make(&source, &config, code, err);
    snprintf(path, sizeof path, "%s/%zu.c", folder, number);
    FILE *file = status ? NULL : fopen(path, "w");
    bool written = file && fwrite(source.data, 1, source.size, file) == source.size;
    written = file && !fclose(file) && written;
    kw_text_drop(&source);
    return status ? status : written ? KW_OK : kw_fail(err, KW_IO, "%.400s cannot be written", path);
}

int main(int argc, char **argv) {
    char line[KW_CONFIG_TEXT_MAX + 32];
    if (argc != 2) {
        fprintf(stderr, "usage: kernel_texts FOLDER < KERNELS\n");
        return 2;
    }
    for (size_t number = 0; fgets(line, sizeof line, stdin); number++) {
        kw_error err = {0};
        line[strcspn(line, "\n")] = '\0';
        if (write_text(argv[1], number, line, &err)) {
            fprintf(stderr, "kernel_texts: %s\n", err.text);
            return 1;
        }
    }
    return 0;
}
