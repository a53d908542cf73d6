/* benchdnn_batch.c: options as texts, compared by name. What an option means is the importer's matter; here it is only known which ones are lists. */
#include "space/logs/benchdnn_batch.h"

#include <string.h>

bool kw_benchdnn_batch_is_option(kw_word word) {
    return word.size > 2 && kw_word_starts(word, "--") && word.at[2] >= 'a' && word.at[2] <= 'z';
}

/* "--name" of "--name=value". */
static kw_word batch_option_name(kw_word option) {
    const char *equals = memchr(option.at, '=', option.size);
    return (kw_word){option.at, equals ? (size_t)(equals - option.at) : option.size};
}

static bool is_list(kw_word option) {
    static const char *const lists[] = {"--dir",
                                        "--dt",
                                        "--cfg",
                                        "--mb",
                                        "--stag",
                                        "--wtag",
                                        "--dtag",
                                        "--bia_dt",
                                        "--bia-dt",
                                        "--bia_mask",
                                        "--attr-post-ops",
                                        "--attr-scales",
                                        "--attr-zero-points",
                                        "--attr-fpmath"};
    kw_word name = batch_option_name(option);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (kw_word_is(name, lists[i])) {
            return name.size < option.size;
        }
    }
    return false;
}

/* Position of the option of this name; the count when it is not there. */
static int find_batch_option(const kw_benchdnn_batch *batch, kw_word name) {
    int i = 0;
    for (; i < batch->count; i++) {
        kw_word known = batch_option_name(batch->options[i]);
        if (known.size == name.size && !memcmp(known.at, name.at, name.size)) {
            break;
        }
    }
    return i;
}

bool kw_benchdnn_batch_set(kw_benchdnn_batch *batch, kw_word option) {
    if (kw_word_is(option, "--reset")) {
        batch->count = 0;
        return true;
    }
    kw_word name = batch_option_name(option);
    int at = find_batch_option(batch, name);
    if (option.size == name.size + 1) { /* "--name=" */
        if (at < batch->count) {
            batch->options[at] = batch->options[--batch->count];
        }
        return true;
    }
    if (at == KW_BATCH_OPTIONS || option.size > KW_BATCH_OPTION_SIZE) {
        return false;
    }
    option.at = kw_arena_copy(&batch->arena, option.at, option.size);
    if (!option.at) {
        batch->failed = true;
        return false;
    }
    batch->options[at] = option;
    batch->count += at == batch->count;
    return true;
}

static int count_values(kw_word option) {
    int count = 1;
    for (size_t i = 0; i < option.size && is_list(option) && count <= KW_BATCH_COMBINATIONS; i++) {
        count += option.at[i] == ',';
    }
    return count;
}

int kw_benchdnn_batch_combinations(const kw_benchdnn_batch *batch) {
    int total = 1;
    for (int i = 0; i < batch->count; i++) {
        total *= count_values(batch->options[i]);
        if (total > KW_BATCH_COMBINATIONS) {
            return 0;
        }
    }
    return total;
}

void kw_benchdnn_batch_print(kw_text *line, const kw_benchdnn_batch *batch, int combination) {
    for (int i = 0; i < batch->count; i++) {
        kw_word option = batch->options[i], name = batch_option_name(option), value;
        int values = count_values(option), index = combination % values;
        combination /= values;
        kw_text_add(line, " ");
        if (!is_list(option)) {
            kw_text_add_bytes(line, option.at, option.size);
            continue;
        }
        kw_scan rest = {name.at + name.size + 1, option.at + option.size};
        while (kw_scan_field(&rest, ',', &value) && index-- > 0) {
        }
        kw_text_add_bytes(line, name.at, name.size + 1);
        kw_text_add_bytes(line, value.at, value.size);
    }
}

void kw_benchdnn_batch_drop(kw_benchdnn_batch *batch) {
    kw_arena_drop(&batch->arena);
    *batch = (kw_benchdnn_batch){0};
}
