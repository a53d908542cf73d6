/* utf8.c: see utf8.h. */
#include "base/format/utf8.h"

#include <stdbool.h>

size_t kw_utf8_decode(const char *text, uint32_t *code) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000}; /* by length: what is smaller has a shorter form */
    const unsigned char *at = (const unsigned char *)text;
    uint32_t value = at[0];
    size_t length = 1;
    if (at[0] >= 0x80) {
        length = at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : at[0] >= 0xc0 ? 2 : 0;
        if (!length || at[0] > 0xf4) {
            return 0;
        }
        value = at[0] & (0x7fu >> length);
        for (size_t i = 1; i < length; i++) {
            if ((at[i] & 0xc0) != 0x80) {
                return 0; /* also at the terminator */
            }
            value = value << 6 | (at[i] & 0x3fu);
        }
        bool surrogate = value >= 0xd800 && value <= 0xdfff;
        if (value < least[length] || value > 0x10ffff || surrogate) {
            return 0;
        }
    }
    if (code) {
        *code = value;
    }
    return length;
}
