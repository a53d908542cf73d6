/* fuzz_lines.c: bytes as the line table of a kernel for the emulator: every address has a text, of whatever it can make of them. */
#include "backend/emu/emu.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char code[64];
    unsigned char *lines = malloc(size ? size : 1); /* a block of its own, so that reading on is seen */
    require(lines != NULL);
    memcpy(lines, data, size);
    kw_emu_object object = {.base = code, .size = sizeof code, .lines = lines, .lines_size = size};
    for (size_t i = 0; i < sizeof code; i += 7) {
        char text[80];
        kw_emu_line(&object, code + i, text);
        require(memchr(text, 0, sizeof text) != NULL && *text);
    }
    free(lines);
    return 0;
}
