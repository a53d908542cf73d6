/* cubin.c: the parts that src/jit/object/cubin.c reads, in the order in which they stand in the file: head, one program header, strings, symbols, the
 * record of registers, the constant of shared memory, section headers. */
#include "support/device/cubin.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES, SYMBOLS, INFO, CONSTANTS, TEXT, COUNT };

typedef struct sample {
    Elf64_Ehdr head;
    Elf64_Phdr part;
    char names[160];
    Elf64_Sym symbol[3];
    struct {
        uint8_t format, attribute;
        uint16_t size;
        uint32_t symbol, value;
    } info;
    uint32_t lds, text;
    Elf64_Shdr section[COUNT + 1];
} sample;

/* Where a name stands among the names; it is put there when it is new. */
static uint32_t name_of(sample *s, size_t *used, const char *name) {
    uint32_t at = (uint32_t)*used;
    memcpy(s->names + at, name, strlen(name) + 1);
    *used += strlen(name) + 1;
    return at;
}

kw_blob cubin_sample(unsigned lds) {
    sample *s = calloc(1, sizeof *s);
    size_t used = 1;
    if (!s) {
        return (kw_blob){0};
    }
    memcpy(s->head.e_ident, ELFMAG, SELFMAG);
    s->head.e_ident[EI_CLASS] = ELFCLASS64;
    s->head.e_ident[EI_DATA] = ELFDATA2LSB;
    s->head.e_type = ET_EXEC;
    s->head.e_machine = 190;
    s->head.e_phoff = offsetof(sample, part);
    s->head.e_phentsize = sizeof s->part;
    s->head.e_phnum = 1;
    s->head.e_shoff = offsetof(sample, section);
    s->head.e_shentsize = sizeof *s->section;
    s->head.e_shnum = COUNT + 1;
    s->head.e_shstrndx = NAMES + 1;
    s->part = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof *s};
    s->symbol[1] = (Elf64_Sym){.st_name = name_of(s, &used, "kw_stage0"), .st_info = STT_FUNC, .st_shndx = TEXT + 1};
    s->symbol[2] = (Elf64_Sym){.st_name = name_of(s, &used, "_ZZ9kw_stage0E12kw_lds_bytes"), .st_shndx = CONSTANTS + 1};
    s->info.format = 4;
    s->info.attribute = 0x2f;
    s->info.size = 8;
    s->info.symbol = 1;
    s->info.value = 42;
    s->lds = lds;
    const struct {
        const char *name;
        uint32_t type, link;
        size_t offset, size;
    } parts[COUNT] = {
        [NAMES] = {".strtab", SHT_STRTAB, 0, offsetof(sample, names), sizeof s->names},
        [SYMBOLS] = {".symtab", SHT_SYMTAB, NAMES + 1, offsetof(sample, symbol), sizeof s->symbol},
        [INFO] = {".nv.info", SHT_LOPROC, SYMBOLS + 1, offsetof(sample, info), sizeof s->info},
        [CONSTANTS] = {".nv.global.init", SHT_PROGBITS, 0, offsetof(sample, lds), sizeof s->lds},
        [TEXT] = {".text.kw_stage0", SHT_PROGBITS, 0, offsetof(sample, text), sizeof s->text},
    };
    for (int i = 0; i < COUNT; i++) {
        s->section[i + 1] = (Elf64_Shdr){.sh_name = name_of(s, &used, parts[i].name),
                                         .sh_type = parts[i].type,
                                         .sh_link = parts[i].link,
                                         .sh_offset = parts[i].offset,
                                         .sh_size = parts[i].size};
    }
    return (kw_blob){s, sizeof *s};
}
