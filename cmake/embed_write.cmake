# embed_write.cmake: writes the C file of kw_embed (embed.cmake): OUTPUT, SYMBOL, ROOT, FILES are its arguments. Each file's digest stands beside its
# name: ccache does not see what the assembler takes in, and would answer with an older file's object where the C text is the same.
cmake_policy(VERSION 3.25)
set(assembly "")
set(declarations "")
set(table "")
set(index 0)
foreach(file IN LISTS FILES)
    set(bytes ${SYMBOL}_${index})
    file(MD5 ${ROOT}/${file} digest)
    string(APPEND assembly "    EMBED(\"${bytes}\", \"${ROOT}/${file}\") /* ${digest} */\n")
    string(APPEND declarations "extern const char ${bytes}[], ${bytes}_end[];\n")
    string(APPEND table "    {\"${file}\", ${bytes}, ${bytes}_end},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "/* made by cmake/embed_write.cmake */
#include \"base/embedded.h\"

#define EMBED(name, file) \\
    \".globl \" name \"\\n.hidden \" name \"\\n\" name \":\\n.incbin \\\"\" file \"\\\"\\n\" \\
    \".globl \" name \"_end\\n.hidden \" name \"_end\\n\" name \"_end:\\n.byte 0\\n\"
__asm__(\".section .rodata\\n.balign 16\\n\"
${assembly}    \".previous\\n\");

${declarations}
extern const kw_embedded ${SYMBOL}[];
const kw_embedded ${SYMBOL}[] = {
${table}    {0, 0, 0}};
")
