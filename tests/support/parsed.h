/* parsed.h: problems and targets by their texts, for tests that ask families about them; a text that is none fails the test with its error. */
#ifndef KW_TEST_PARSED_H
#define KW_TEST_PARSED_H

#include "problem/target/target.h"
#include "support/kw_test.h"

static inline kw_problem problem_of(const char *text) {
    kw_problem problem;
    kw_error err = {0};
    if (kw_problem_parse(&problem, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    return problem;
}

static inline kw_target target_of(const char *text) {
    kw_target target;
    kw_error err = {0};
    if (kw_target_parse(&target, text, &err)) {
        fail_msg("%s: %s", text, err.text);
    }
    return target;
}

#endif
