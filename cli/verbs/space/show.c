/* show.c: the verb show: families, configs, sources, and why a config does not serve a problem. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

/* --- as JSON: a description's lines are "NAME  SUMMARY" of each family, or of one family its head and an axis a line --- */

static void add_words(cli_json *json, const char *key, char *words) {
    char *save = NULL;
    cli_json_list(json, key);
    for (char *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        cli_json_text(json, NULL, word);
    }
    cli_json_end(json);
}

static void add_pair(cli_json *json, const char *name, char *line) {
    char *rest = line + strcspn(line, " ");
    cli_json_object(json, NULL);
    if (*rest) {
        *rest++ = 0;
    }
    cli_json_text(json, name, line);
    cli_json_text(json, "summary", rest + strspn(rest, " "));
    cli_json_end(json);
}

/* "  tile_h       1..5           output rows of a tile": the columns of kw_family_describe. */
static void add_axis(cli_json *json, const char *line) {
    enum { VALUES = 15, MEANING = 30 };
    char name[32] = "", values[128];
    size_t end = strlen(line), to = VALUES;
    sscanf(line, "%31s", name);
    while (to < end && (to < MEANING - 1 || line[to] != ' ')) {
        to++;
    }
    snprintf(values, sizeof values, "%.*s", (int)(to > VALUES ? to - VALUES : 0), end > VALUES ? line + VALUES : "");
    cli_json_object(json, NULL);
    cli_json_text(json, "axis", name);
    while (*values && values[strlen(values) - 1] == ' ') {
        values[strlen(values) - 1] = 0;
    }
    cli_json_text(json, "values", values);
    cli_json_text(json, "meaning", line + (to < end ? to + 1 : end));
    cli_json_end(json);
}

static void add_description(cli_json *json, char *text, bool all) {
    char *save = NULL, *line = strtok_r(text, "\n", &save);
    bool axes = false;
    if (all) {
        cli_json_list(json, "families");
    }
    for (int i = 0; line; line = strtok_r(NULL, "\n", &save), i++) {
        if (all) {
            add_pair(json, "family", line);
        } else if (!i) {
            char *colon = strchr(line, ':');
            *colon = 0;
            cli_json_text(json, "family", line);
            cli_json_text(json, "summary", colon + 2);
        } else if (!strncmp(line, "operations:", 11)) {
            add_words(json, "operations", line + 11);
        } else if (!strncmp(line, "types:", 6)) {
            add_words(json, "types", line + 6);
        } else if (!strncmp(line, "axes:", 5)) {
            cli_json_list(json, "axes");
            axes = true;
        } else if (axes) {
            add_axis(json, line);
        } else {
            cli_json_text(json, "text", line);
        }
    }
    if (all || axes) {
        cli_json_end(json);
    }
}

static int show_family(const char *family, const char *config, const cli_args *args) {
    kw_error err = {0};
    char *text = NULL;
    cli_json json;
    if (kw_family_describe(&text, family, &err)) {
        return cli_fail(&err);
    }
    if (args->value[OPT_JSON]) {
        cli_json_start(&json);
        if (config) {
            cli_json_text(&json, "config", config);
        }
        add_description(&json, text, !family);
        cli_json_print(&json, stdout);
    } else {
        printf("%s%s%s", config ? config : "", config ? "\n" : "", text);
    }
    kw_free(text);
    return CLI_DONE;
}

static int show_source(const char *config, const cli_args *args) {
    kw_error err = {0};
    char *text = NULL;
    cli_json json;
    if (kw_config_source(&text, config, args->value[OPT_ARCH], &err)) {
        return cli_fail(&err);
    }
    if (args->value[OPT_JSON]) {
        cli_json_start(&json);
        cli_json_text(&json, "config", config);
        cli_json_text(&json, "source", text);
        cli_json_print(&json, stdout);
    } else {
        fputs(text, stdout);
    }
    kw_free(text);
    return CLI_DONE;
}

/* why: NULL where nothing refuses it. */
static void show_verdict(const char *yes, const char *no, const char *why, const cli_args *args) {
    cli_json json;
    if (args->value[OPT_JSON]) {
        cli_json_start(&json);
        cli_json_bool(&json, "refused", why != NULL);
        if (why) {
            cli_json_text(&json, "why", why);
        }
        cli_json_print(&json, stdout);
    } else {
        printf("%s%s\n", why ? no : yes, why ? why : "");
    }
}

/* Says whether a config is legal and, given a problem, whether it serves it. */
static int explain_config(const char *config, const cli_args *args) {
    kw_error err = {0};
    kw_context *context = NULL;
    kw_registry *registry = NULL;
    int code = cli_context(&context, args);
    if (!code && (kw_registry_create(&registry, context, &err) || kw_registry_add(registry, config, &err))) {
        code = cli_fail(&err);
    }
    if (!code && args->value[OPT_WHY_NOT]) {
        kw_problem problem;
        if (kw_problem_import(&problem, args->value[OPT_WHY_NOT], &err)) {
            code = cli_fail(&err);
        } else {
            show_verdict("fits", "does not fit: ", kw_registry_fits(registry, 0, &problem, &err) ? err.text : NULL, args);
        }
    } else if (!code) {
        char family[64];
        snprintf(family, sizeof family, "%.*s", (int)strcspn(config, " \t"), config + strspn(config, " \t"));
        code = show_family(family, kw_registry_config(registry, 0), args);
    }
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}

/* Which rule keeps a config from an architecture. */
static int why_not(const cli_args *args) {
    kw_error why = {0};
    char yes[128];
    kw_status status = kw_config_supported(args->value[OPT_WHY_NOT], args->value[OPT_ARCH], &why);
    if (status && status != KW_ILLEGAL && status != KW_NO_KERNEL) {
        return cli_fail(&why);
    }
    snprintf(yes, sizeof yes, "no rule refuses it on %.60s", args->value[OPT_ARCH]);
    show_verdict(yes, "refused: ", status ? why.text : NULL, args);
    return CLI_DONE;
}

int verb_show(const cli_args *args) {
    if (!args->operand_count) {
        if (args->value[OPT_WHY_NOT] && args->value[OPT_ARCH]) {
            return why_not(args);
        }
        return args->value[OPT_SOURCE] || args->value[OPT_WHY_NOT]
                   ? cli_usage("--source needs a config, --why-not a config or --arch; `kwright list` lists them")
                   : show_family(NULL, NULL, args);
    }
    const char *subject = args->operands[0];
    if (args->value[OPT_SOURCE]) {
        return show_source(subject, args);
    }
    return strchr(subject, ' ') ? explain_config(subject, args) : show_family(subject, NULL, args);
}
