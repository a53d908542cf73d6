/* card.h: what somebody should know before trusting a model: MODEL_CARD.md for people, model_card.json for machines. */
#ifndef KW_LEARN_MODEL_CARD_H
#define KW_LEARN_MODEL_CARD_H

#include "learn/model/artifacts.h"
#include "json/json_write.h"

kw_status kw_card_print(kw_text *markdown, kw_text *json, const kw_artifacts *artifacts, kw_error *err);
/* The members of a figure, into an object under way. */
void kw_metrics_json(kw_json_out *json, const kw_train_metrics *metrics);

#endif
