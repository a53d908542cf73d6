/* proposal.h: what stands behind a kw_proposal. Families are evaluated (proposal_families.c), problems are chosen for those that need more
 * (proposal_problems.c), kernels for each problem (proposal_kernels.c); proposal.c puts it together and measures in rounds. Whatever is
 * drawn is drawn from hashes of the seed, the round and texts, so that a proposal depends on what is known and on nothing else. */
#ifndef KW_ACTIVE_PROPOSAL_H
#define KW_ACTIVE_PROPOSAL_H

#include "sweep/shards/manifest.h"
#include "space/problems/distinct.h"
#include "evaluate/group_evaluation.h"
#include "learn/data/split/holdout.h"
#include "learn/data/trained_on.h"

/* A family at work. */
typedef struct kw_family_need {
    kw_proposal_family facts;
    double loss;     /* sum over its problem groups */
    double priority; /* what one more problem of it is worth, before it is shared with those given already; 0: none is wanted */
} kw_family_need;

/* A problem group that counts; loss NAN where it is not evaluated. */
typedef struct kw_problem_group_loss {
    size_t problem_group, family;
    uint64_t shape;
    double loss;
} kw_problem_group_loss;

struct kw_proposal {
    kw_proposal_options options;
    kw_target target;
    char target_text[KW_TARGET_TEXT_MAX];
    kw_catalog configs; /* to choose from */
    kw_holdout holdout;
    kw_distinct forbidden; /* held-out problems, in fp32 */
    kw_distinct tried;     /* proposed before by this proposal */
    const char *out;       /* of kw_proposal_measure: read besides the stores once it is there; NULL: none */
    uint64_t round;
    /* Made anew each round. */
    kw_dataset dataset;
    kw_problem_group_loss *losses; /* by family, the greatest loss first, then those not evaluated */
    size_t loss_count;
    kw_family_need *needs; /* by key */
    size_t need_count;
    kw_distinct known;  /* problems that have rows */
    kw_distinct chosen; /* proposed */
    kw_manifest manifest;
    kw_proposal_family *listed; /* behind facts */
    kw_proposal_facts facts;
};

/* A number in which whatever is drawn for a text begins. */
uint64_t kw_proposal_seed(const kw_proposal *p, const char *what, const char *text);

/* Reads the rows and fills dataset, losses, needs, known and the facts of families. */
kw_status kw_proposal_evaluate(kw_proposal *p, kw_error *err);
/* The family of a key; SIZE_MAX: none. */
size_t kw_proposal_family_of(const kw_proposal *p, const kw_problem *problem);
/* Fills chosen. */
kw_status kw_proposal_select_problems(kw_proposal *p, kw_error *err);
/* Fills the manifest: kernels of the chosen problems. A problem that no kernel serves is left out. */
kw_status kw_proposal_select_kernels(kw_proposal *p, kw_error *err);

#endif
