/* show.c: the verb show: families, configs, sources, and why a config does not serve a problem. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

static int print_and_free(char *text, kw_status status, const kw_error *err) {
    if (status) {
        return cli_fail(err);
    }
    fputs(text, stdout);
    kw_free(text);
    return CLI_DONE;
}

static int show_family(const char *family) {
    kw_error err = {0};
    char *text = NULL;
    kw_status status = kw_family_describe(&text, family, &err);
    return print_and_free(text, status, &err);
}

static int show_source(const char *config, const char *arch) {
    kw_error err = {0};
    char *text = NULL;
    kw_status status = kw_config_source(&text, config, arch, &err);
    return print_and_free(text, status, &err);
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
        } else if (kw_registry_fits(registry, 0, &problem, &err)) {
            printf("does not fit: %s\n", err.text);
        } else {
            printf("fits\n");
        }
    } else if (!code) {
        printf("%s\n", kw_registry_config(registry, 0));
        char family[64];
        snprintf(family, sizeof family, "%.*s", (int)strcspn(config, " \t"), config + strspn(config, " \t"));
        code = show_family(family);
    }
    kw_registry_destroy(&registry);
    kw_context_close(&context);
    return code;
}

/* Which rule keeps a config from an architecture. */
static int why_not(const char *config, const char *arch) {
    kw_error why = {0};
    kw_status status = kw_config_supported(config, arch, &why);
    if (status == KW_OK) {
        printf("no rule refuses it on %s\n", arch);
    } else if (status == KW_ILLEGAL || status == KW_NO_KERNEL) {
        printf("refused: %s\n", why.text);
    } else {
        return cli_fail(&why);
    }
    return CLI_DONE;
}

int verb_show(const cli_args *args) {
    if (!args->operand_count) {
        if (args->value[OPT_WHY_NOT] && args->value[OPT_ARCH]) {
            return why_not(args->value[OPT_WHY_NOT], args->value[OPT_ARCH]);
        }
        return args->value[OPT_SOURCE] || args->value[OPT_WHY_NOT]
                   ? cli_usage("--source needs a config, --why-not a config or --arch; `kwright list` lists them")
                   : show_family(NULL);
    }
    const char *subject = args->operands[0];
    if (args->value[OPT_SOURCE]) {
        return show_source(subject, args->value[OPT_ARCH]);
    }
    return strchr(subject, ' ') ? explain_config(subject, args) : show_family(subject);
}
