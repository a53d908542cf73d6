"""make_ffi.py INCLUDE CC OUT.c: the source of kernelwright._ffi, cffi's API mode, from the public headers.

No declaration is written twice: the compiler's preprocessor expands the headers, and what comes from them is what cffi reads. The compiler then
checks every struct and function of the generated source against the headers themselves.
"""

import re
import subprocess
import sys

import cffi

# What calls back into Python, one function each; user is cffi's handle of the Python object.
CALLBACKS = """
extern "Python" {
    void kwpy_line(void *user, const char *line);
    void kwpy_progress(void *user, const kw_progress *progress);
    void kwpy_sweep_progress(void *user, const kw_sweep_progress *progress);
    void kwpy_train_progress(void *user, const kw_train_progress *progress);
    bool kwpy_config(void *user, const char *config);
    bool kwpy_problem(void *user, const char *name, const kw_problem *problem);
    bool kwpy_explanation(void *user, const kw_explanation *explanation);
    bool kwpy_prediction(void *user, const kw_prediction *prediction);
    void kwpy_model(void *user, const kw_model_info *model);
    void kwpy_wisdom(void *user, const kw_wisdom_entry *entry);
    void kwpy_device(void *user, const kw_device_entry *entry);
    bool kwpy_row(void *user, const kw_row *row);
    bool kwpy_run(void *user, const kw_run *run);
    void kwpy_report_line(void *user, const kw_report_line *line);
    void kwpy_missing(void *user, const char *config, const char *why);
    void kwpy_about(void *user, const char *name, const char *value);
}
"""


def declarations(include: str, compiler: str) -> str:
    """The headers' declarations alone, without those of the C library."""
    header = f"{include}/kernelwright_tune.h"
    text = subprocess.run([compiler, "-E", "-I", include, header], check=True, capture_output=True, text=True).stdout
    ours, kept = False, []
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            ours = marker[1].startswith(include)
        elif ours and not line.startswith("#"):
            kept.append(line)
    text = "\n".join(kept)
    text = re.sub(r"_Bool", "bool", text)
    # The compiler works out what cffi's parser does not.
    text = re.sub(r"typedef struct kw_stop \{.*?\} kw_stop;", "typedef struct kw_stop { ...; } kw_stop;", text, flags=re.S)
    return re.sub(r"(unsigned char reserved)\[[^;]*\];", r"\1[...];", text)


def main() -> None:
    include, compiler, out = sys.argv[1:]
    ffi = cffi.FFI()
    ffi.cdef(declarations(include, compiler) + CALLBACKS)
    ffi.set_source("kernelwright._ffi", "#include <kernelwright_tune.h>\n")
    ffi.emit_c_code(out)


main()
