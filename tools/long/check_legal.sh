#!/usr/bin/env bash
# check_legal.sh: random legal problems at length, under ASan and UBSan: `make check-legal`. The CI's part of it is test_legal and
# test_legal_plans. Nothing is compiled or run here but the tests themselves.
#
#   KW_LEGAL_SEED    what is drawn (the day)
#   KW_LEGAL_PAIRS   pairs of problem and kernel an architecture (1000000); KW_LEGAL_PLANS: problems a device (20000)
#   KW_LEGAL_SETS    rule sets (all that can be enumerated without lists from elsewhere)
set -eu
cd "$(dirname "$0")/../.."
. tools/common.sh
export KW_LEGAL_SEED="${KW_LEGAL_SEED:-$(date +%Y%m%d)}" KW_LEGAL_PAIRS="${KW_LEGAL_PAIRS:-1000000}" KW_LEGAL_PLANS="${KW_LEGAL_PLANS:-20000}"
export KW_LEGAL_SETS="${KW_LEGAL_SETS:-tiny default full-tests full gemm-sweep}"
build debug test_legal test_legal_plans >/dev/null
build-debug/tests/check/legal/test_legal
build-debug/tests/check/legal/test_legal_plans
