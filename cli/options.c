/* options.c: "--name value", "--name=value", flags and operands, checked against the verb's own list. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cli_option cli_options[OPT_COUNT] = {
#define CLI_ROW(id, name, value, meaning) {name, value, meaning},
    CLI_OPTIONS(CLI_ROW)
#undef CLI_ROW
};

/* Edit distance, for names of up to 31 characters; a longer word is near nothing. */
static size_t edit_distance(const char *a, const char *b) {
    size_t row[32], m = strlen(a), n = strlen(b);
    if (m > 31 || n > 31) {
        return 99;
    }
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 1; i <= m; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < best ? change : best;
        }
    }
    return row[n];
}

const char *cli_nearest(const char *wrong, const char *(*name_at)(int index)) {
    const char *best = NULL;
    size_t least = 3;
    for (int i = 0; name_at(i); i++) {
        bool begun = *wrong && !strncmp(wrong, name_at(i), strlen(wrong)); /* cut short rather than mistyped */
        size_t d = begun ? 0 : edit_distance(wrong, name_at(i));
        if (d < least) {
            least = d;
            best = name_at(i);
        }
    }
    return best;
}

static const char *option_name(int index) {
    return index < OPT_COUNT ? cli_options[index].name : NULL;
}

static int find_cli_option(const char *name, size_t size) {
    for (int i = 0; i < OPT_COUNT; i++) {
        if (strlen(cli_options[i].name) == size && !memcmp(cli_options[i].name, name, size)) {
            return i;
        }
    }
    return -1;
}

bool cli_takes(const cli_verb *verb, int option) {
    const cli_option_id *has = verb->options;
    while (*has != OPT_COUNT && (int)*has != option) {
        has++;
    }
    return *has != OPT_COUNT;
}

static int unknown_option(const cli_verb *verb, const char *name, size_t size) {
    char copy[64];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < 60 ? size : 60), name);
    const char *near = find_cli_option(name, size) < 0 ? cli_nearest(copy, option_name) : NULL;
    bool helps = near && cli_takes(verb, find_cli_option(near, strlen(near)));
    return cli_usage("%s has no option --%s%s%s; `kwright help %s` lists its options", verb->name, copy, helps ? "; did you mean --" : "",
                     helps ? near : "", verb->name);
}

/* Whether a word that starts with '-' is an operand all the same: "-" alone, or a foreign problem line given as one word. */
static bool is_operand(const char *word) {
    return word[0] != '-' || !word[1] || strchr(word, ' ');
}

int cli_parse(cli_args *args, const cli_verb *verb, int count, char **words, const char **operands) {
    args->operands = operands;
    bool only_operands = false;
    for (int i = 0; i < count; i++) {
        const char *word = words[i];
        if (only_operands || is_operand(word)) {
            operands[args->operand_count++] = word;
            continue;
        }
        if (!strcmp(word, "--")) {
            only_operands = true;
            continue;
        }
        if (word[1] != '-') {
            return cli_usage("option %.60s is not known; options begin with two dashes, `kwright help %s` lists them", word, verb->name);
        }
        const char *name = word + 2;
        const char *equals = strchr(name, '=');
        size_t size = equals ? (size_t)(equals - name) : strlen(name);
        int option = find_cli_option(name, size);
        if (option < 0 || !cli_takes(verb, option)) {
            return unknown_option(verb, name, size);
        }
        if (args->value[option]) {
            return cli_usage("--%s is given twice; give it once", cli_options[option].name);
        }
        if (!cli_options[option].value) {
            if (equals) {
                return cli_usage("--%s takes no value", cli_options[option].name);
            }
            args->value[option] = "";
        } else if (equals) {
            args->value[option] = equals + 1;
        } else if (i + 1 < count) {
            args->value[option] = words[++i];
        } else {
            return cli_usage("--%s needs a value: --%s %s", cli_options[option].name, cli_options[option].name, cli_options[option].value);
        }
    }
    if (args->operand_count < verb->least) {
        return cli_usage("%s needs %s; for example: %s", verb->name, verb->operands, verb->example);
    }
    if (verb->most >= 0 && args->operand_count > verb->most) {
        return cli_usage("%s takes no operand %.60s; a problem or config with blanks needs quotes around it", verb->name,
                         operands[verb->most]);
    }
    return CLI_DONE;
}

bool cli_number(const cli_args *args, cli_option_id option, int64_t low, int64_t high, int64_t fallback, int64_t *value) {
    const char *text = args->value[option];
    *value = fallback;
    if (!text) {
        return true;
    }
    char *end = NULL;
    long long number = strtoll(text, &end, 10);
    if (!*text || *end || number < low || number > high) {
        cli_usage("--%s %.60s is not a whole number from %lld to %lld", cli_options[option].name, text, (long long)low, (long long)high);
        return false;
    }
    *value = number;
    return true;
}

bool cli_op(const cli_args *args, cli_option_id option, bool *given, kw_op *op) {
    const char *text = args->value[option];
    *given = text != NULL;
    if (text && !kw_op_find(op, text)) {
        cli_usage("--%s %.60s is not known; known: %s", cli_options[option].name, text, kw_op_names());
        return false;
    }
    return true;
}

bool cli_dtype(const cli_args *args, bool *given, kw_dtype *dtype) {
    const char *text = args->value[OPT_DTYPE];
    *given = text != NULL;
    if (text && !kw_dtype_find(dtype, text)) {
        cli_usage("--dtype %.60s is not known; known: %s", text, kw_dtype_names());
        return false;
    }
    return true;
}

bool cli_duration(const cli_args *args, cli_option_id option, double *seconds) {
    const char *text = args->value[option], *unit = "s";
    char *end = NULL;
    *seconds = text ? strtod(text, &end) : 0;
    if (text && end > text && *end) {
        unit = end;
    }
    double factor = !strcmp(unit, "s") ? 1 : !strcmp(unit, "m") ? 60 : !strcmp(unit, "h") ? 3600 : 0;
    *seconds *= factor;
    if (text && (end == text || !(*seconds > 0) || *seconds > 1e7)) {
        cli_usage("--%s %.60s is no time above 0; for example 90s, 20m or 2h", cli_options[option].name, text);
        return false;
    }
    return true;
}
