/* fuzz_wisdom.c: any text as a wisdom file. An entry that is read prints a line that is read alike; an edit keeps the text readable and
 * is idempotent. */
#include "fuzz/fuzz.h"

#include "dispatch/wisdom/wisdom_text.h"

static void check_line(kw_word text) {
    kw_wisdom_line line, again;
    kw_error why = {0};
    kw_text printed = {0};
    if (!kw_wisdom_line_read(&line, text, &why)) {
        return;
    }
    kw_wisdom_line_print(&printed, &line);
    kw_scan scan = {printed.data, printed.data + printed.size};
    kw_word word = {0};
    require(!printed.failed && kw_scan_line(&scan, &word));
    require(kw_wisdom_line_read(&again, word, &why));
    require(again.mode == line.mode && again.candidates == line.candidates);
    require(again.config.size == line.config.size && !memcmp(again.config.at, line.config.at, line.config.size));

    kw_text edited = {0}, twice = {0};
    kw_wisdom_edit edit = {.put = &line, .replace = true};
    kw_wisdom_text_edit(&edited, text, &edit);
    kw_wisdom_text_edit(&twice, (kw_word){kw_text_string(&edited), edited.size}, &edit);
    require(edited.size == twice.size || edited.failed || twice.failed || !twice.size);
    kw_text_drop(&edited);
    kw_text_drop(&twice);
    kw_text_drop(&printed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    kw_scan scan = {(const char *)data, (const char *)data + size};
    kw_word line;
    kw_wisdom_text_check("fuzz", (kw_word){(const char *)data, size}, NULL);
    while (kw_scan_line(&scan, &line)) {
        check_line(line);
    }
    return 0;
}
