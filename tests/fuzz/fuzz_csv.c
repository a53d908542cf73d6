/* fuzz_csv.c: any text as a CSV file, and as the rows behind a good header. The text ends where memory ends, without a zero. */
#include "fuzz/accepted.h"
#include "problem/import/csv.h"

static void read_rows(const kw_csv *csv, kw_scan scan) {
    kw_word line, name;
    while (kw_scan_line(&scan, &line)) {
        kw_problem problem;
        kw_error err = {0};
        kw_status status = kw_csv_row(&problem, &name, csv, line, &err);
        require(status == err.status);
        if (!status) {
            require(name.at >= line.at && name.at + name.size <= line.at + line.size);
            check_accepted(&problem);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const headers[] = {
        "M,N,K,batch",
        "name,ndim,G,N,C,K,Di,Hi,Wi,Z,Y,X,stride_d,stride_h,stride_w,pad_d,pad_h,pad_w,dil_d,dil_h,dil_w,padr_d,padr_h,padr_w,Do,Ho,Wo",
        "ndim,G,N,C,K,Di,Hi,Wi,Z,Y,X,stride_d,stride_h,stride_w,pad_d,pad_h,pad_w,dil_d,dil_h,dil_w",
    };
    kw_scan scan = {(const char *)data, (const char *)data + size}, rest = scan;
    kw_word line;
    kw_csv csv;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        require(kw_csv_header(&csv, (kw_word){headers[i], strlen(headers[i])}, KW_OP_COUNT, KW_DTYPE_COUNT, NULL) == KW_OK);
        read_rows(&csv, scan);
    }
    if (size && kw_scan_line(&rest, &line) && kw_csv_header(&csv, line, KW_OP_COUNT, KW_DTYPE_COUNT, NULL) == KW_OK) {
        read_rows(&csv, rest);
    }
    return 0;
}
