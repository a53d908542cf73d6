/* report.c: the verb report: a store in short on standard output, or as one HTML file. */
#include "cli.h"

#include <stdio.h>

int verb_report(const cli_args *args) {
    kw_error err = {0};
    char *text = NULL;
    const char *store = args->operands[0], *html = args->value[OPT_HTML];
    kw_report_options options = {.baseline = args->value[OPT_BASELINE], .title = args->value[OPT_TITLE]};
    if (html) {
        if (kw_report_html(store, html, &options, &err)) {
            return cli_fail(&err);
        }
        printf("%s\n", html);
        return CLI_DONE;
    }
    if (args->value[OPT_TITLE]) {
        return cli_usage("--title is of the HTML report; give --html FILE as well");
    }
    if (kw_report_text(&text, store, &options, &err)) {
        return cli_fail(&err);
    }
    fputs(text, stdout);
    kw_free(text);
    return CLI_DONE;
}
