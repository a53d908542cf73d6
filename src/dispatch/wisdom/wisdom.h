/* wisdom.h: measured winners of a context, in three layers that are asked in this order: what this context measured and could not save,
 * the user's file, the system's file. Many threads may use one kw_wisdom. */
#ifndef KW_DISPATCH_WISDOM_WISDOM_H
#define KW_DISPATCH_WISDOM_WISDOM_H

#include "base/os/settings.h"
#include "dispatch/wisdom/wisdom_text.h"
#include "problem/target/target.h"

typedef struct kw_wisdom kw_wisdom;

enum { KW_WISDOM_DAYS = 90 };
enum { KW_LAYER_MEMORY = 0, KW_LAYER_USER, KW_LAYER_SYSTEM, KW_LAYER_COUNT };

/* What wisdom says of one problem on this context's target; a value. next is "" when there was no runner-up, builder when it is not known;
 * checked is "" only where a value is made, and means date. */
typedef struct kw_wisdom_value {
    kw_mode mode;
    int32_t candidates;
    int32_t threads; /* that were measured to be best; 0: it was not measured */
    double time_ns, spread_ns, next_ns;
    char date[11], checked[11], builder[64], config[KW_CONFIG_TEXT_MAX], next[KW_CONFIG_TEXT_MAX];
} kw_wisdom_value;

/* The files are read on first need. target is copied. */
kw_status kw_wisdom_open(kw_wisdom **wisdom, const kw_settings *settings, const char *target, kw_error *err);
void kw_wisdom_close(kw_wisdom **wisdom);

/* A number that grows with every change of what kw_wisdom_find may say, as far as files were read; never 0. */
uint64_t kw_wisdom_generation(kw_wisdom *wisdom);
/* Reads again what changed on disk, and gives the number after that. */
uint64_t kw_wisdom_refresh(kw_wisdom *wisdom);
/* Whether the kernel of the value is to be verified before it is used: another compiler made the one that is loaded now, or the one that
 * was measured is not known, or the last verification is more than KW_WISDOM_DAYS days ago. */
bool kw_wisdom_needs_verification(const kw_wisdom *wisdom, const kw_wisdom_value *value, const char *builder);
/* What one layer says to a key (kw_wisdom_key_print); false when it says nothing. */
bool kw_wisdom_find(kw_wisdom *wisdom, int layer, const char *key, kw_wisdom_value *value);
/* Remembers a value: in the user's file, or in memory when that cannot be (the log and *unsaved, which may be NULL, say why). replace: also
 * over a line that is at least as patient, which otherwise stands. */
kw_status kw_wisdom_record(kw_wisdom *wisdom, const char *key, const kw_wisdom_value *value, bool replace, kw_error *unsaved,
                           kw_error *err);
/* Drops a problem from memory and from the user's file, for every target. */
kw_status kw_wisdom_drop(kw_wisdom *wisdom, const char *problem, int64_t *dropped, kw_error *err);

/* Calls visit with each entry of a file, or with those of all layers when path is NULL, without holding any lock. */
typedef struct kw_wisdom_visitor {
    void (*visit)(void *user, const kw_wisdom_line *line);
    void *user;
} kw_wisdom_visitor;
kw_status kw_wisdom_each(kw_wisdom *wisdom, const char *path, const kw_wisdom_visitor *visitor, kw_error *err);

/* Where a layer lies, for people. */
const char *kw_wisdom_location(const kw_wisdom *wisdom, int layer);

#endif
