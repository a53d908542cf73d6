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

const char *cli_hint(char hint[CLI_HINT_MAX], const char *wrong, const char *before, const char *names) {
    char near[KW_NAME_MAX];
    bool helps = kw_name_nearest(near, wrong, names);
    snprintf(hint, CLI_HINT_MAX, helps ? "; did you mean %s%s" : "%.0s%.0s", before, helps ? near : "");
    return hint;
}

/* Verbs that take problems take lines of MIOpenDriver, benchdnn and hipblaslt-bench, whose options a shell passes on as words of their own. */
static const char *quotes_hint(const cli_verb *verb) {
    return cli_takes(verb, OPT_PROBLEMS) ? "; a line of another tool needs quotes around it" : "";
}

/* The nearest of the verb's options, as cli_hint gives it. */
static const char *option_hint(char hint[CLI_HINT_MAX], const cli_verb *verb, const char *wrong) {
    char names[1024] = "";
    size_t used = 0;
    for (int i = 0; i < OPT_COUNT && used < sizeof names; i++) {
        if (cli_takes(verb, i)) {
            used += (size_t)snprintf(names + used, sizeof names - used, "%s ", cli_options[i].name);
        }
    }
    return cli_hint(hint, wrong, "--", names);
}

static int unknown_option(const cli_verb *verb, const char *name, size_t size) {
    char copy[64], hint[CLI_HINT_MAX];
    snprintf(copy, sizeof copy, "%.*s", (int)(size < 60 ? size : 60), name);
    return cli_usage("%s has no option --%s%s; `kwright help %s` lists its options%s", verb->name, copy, option_hint(hint, verb, copy),
                     verb->name, quotes_hint(verb));
}

/* An operand too many may be an option without its dashes, as in `kwright cache clear`. */
static int too_many_operands(const cli_verb *verb, const cli_args *args) {
    char hint[CLI_HINT_MAX] = "";
    for (int i = 0; i < args->operand_count && !*hint; i++) {
        option_hint(hint, verb, args->operands[i]);
    }
    return cli_usage("%s takes no operand %.60s%s; `kwright help %s` shows what it takes; a problem or config with blanks needs quotes "
                     "around it",
                     verb->name, cli_shown(args->operands[verb->most]), hint, verb->name);
}

/* Whether a word that starts with '-' is an operand all the same: "-" alone, or a foreign problem line given as one word. */
static bool is_operand(const char *word) {
    return word[0] != '-' || !word[1] || strchr(word, ' ');
}

/* Whether a word can belong to the problem before it. */
static bool is_bare_word(const char *word) {
    kw_op op;
    return strcmp(word, "-") && !strchr(word, ' ') && !kw_op_find(&op, word);
}

/* A problem without quotes around it comes as its words: "gemm fp32 m4 n4 k4" begins with an operation's name that stands alone. The words up
 * to the next such name become one operand, in args->joined. */
static bool join_problems(cli_args *args, const char **operands) {
    kw_op op;
    int kept = 0;
    size_t size = 1, used = 0;
    for (int i = 0; i < args->operand_count; i++) {
        size += strlen(operands[i]) + 1;
    }
    args->joined = calloc(size, 1);
    if (!args->joined) {
        return false;
    }
    for (int i = 0; i < args->operand_count; i++) {
        if (kw_op_find(&op, operands[i])) {
            const char *joined = args->joined + used;
            do {
                used += (size_t)snprintf(args->joined + used, size - used, "%s ", operands[i]);
            } while (i + 1 < args->operand_count && is_bare_word(operands[i + 1]) && ++i);
            args->joined[used - 1] = 0;
            operands[kept++] = joined;
        } else {
            operands[kept++] = operands[i];
        }
    }
    args->operand_count = kept;
    return true;
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
            return cli_usage("option %.60s is not known; options begin with two dashes, `kwright help %s` lists them%s", word, verb->name,
                             quotes_hint(verb));
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
    if (strstr(verb->operands, "PROBLEM") && !join_problems(args, operands)) {
        return cli_no_memory("the request");
    }
    if (args->operand_count < verb->least) {
        return cli_usage("%s needs %s; for example: %s", verb->name, verb->operands, verb->example);
    }
    if (verb->most >= 0 && args->operand_count > verb->most) {
        return too_many_operands(verb, args);
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
        char hint[CLI_HINT_MAX];
        cli_usage("--%s %.60s is not known%s; known: %s", cli_options[option].name, text, cli_hint(hint, text, "", kw_op_names()),
                  kw_op_names());
        return false;
    }
    return true;
}

bool cli_dtype(const cli_args *args, bool *given, kw_dtype *dtype) {
    const char *text = args->value[OPT_DTYPE];
    *given = text != NULL;
    if (text && !kw_dtype_find(dtype, text)) {
        char hint[CLI_HINT_MAX];
        cli_usage("--dtype %.60s is not known%s; known: %s", text, cli_hint(hint, text, "", kw_dtype_names()), kw_dtype_names());
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
