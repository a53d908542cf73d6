/* quantities.c: what is to be learned, by its words. */
#include "learn/fit/quantities.h"

#include <stdio.h>
#include <string.h>

kw_status kw_quantity_find(kw_model_quantity *quantity, kw_word word, kw_error *err) {
    for (int q = 0; q < KW_PREDICTS_COUNT; q++) {
        if (kw_word_is(word, kw_model_quantity_name((kw_model_quantity)q))) {
            *quantity = (kw_model_quantity)q;
            return KW_OK;
        }
    }
    return kw_fail(err, KW_MISSING, "quantity %.*s is not known; known: " KW_MODEL_QUANTITIES " choose", KW_WORD(word));
}

kw_status kw_quantities_read(char targets[KW_QUANTITIES_MAX], const char *list, kw_error *err) {
    kw_scan scan = kw_scan_string(list);
    kw_word word, other;
    bool good = (size_t)snprintf(targets, KW_QUANTITIES_MAX, "%s", list) < KW_QUANTITIES_MAX && list[0] != ',' &&
                list[strlen(list) - 1] != ',' && !strstr(list, ",,");
    kw_status status = KW_OK;
    while (good && !status && kw_scan_field(&scan, ',', &word)) {
        kw_model_quantity quantity;
        int times = 0;
        for (kw_scan again = kw_scan_string(list); kw_scan_field(&again, ',', &other);) {
            times += other.size == word.size && !memcmp(other.at, word.at, word.size);
        }
        good = times == 1 && !kw_word_is(word, "choose");
        status = good ? kw_quantity_find(&quantity, word, err) : KW_OK;
    }
    for (char *comma = targets; (comma = strchr(comma, ','));) {
        *comma = ' ';
    }
    return good ? status
                : kw_fail(err, KW_ILLEGAL,
                          "quantities %.80s: several are different ones with a comma between each two, none of them choose", list);
}
