/* cubin.c: reads what a CUBIN says of its kernels. A CUBIN is an ELF64 file of machine 190; facts stand in sections .nv.info as records of
 * a format, an attribute and 16 bits, which in format 4 are the length of what follows.
 *
 * Two facts are not there and are put there: shared memory that the launch asks for is a constant that kernel text leaves among its symbols
 * (KW_LDS of kernels/prelude/gpu_ptx.h); bytes of spilled registers, which only the compiler's log has, stand behind the end of the file as
 * ELF knows it, where no loader looks. Nothing is believed: every offset is compared with the size of the bytes first. */
#include "jit/toolchain/nvrtc.h"
#include "jit/object/object.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUDA_MACHINE = 190, RESERVED_LDS = 1024 };
enum { RECORD_SIZED = 4, ATTRIBUTE_FRAME = 0x11, ATTRIBUTE_REGISTERS = 0x2f };
enum { NOTE_BYTES = 16, NOTE_DIGITS = 8 };
static const char note_magic[] = "KWSPILL\n";

/* A file under reading. end: of the last part that ELF knows. */
typedef struct reader {
    const unsigned char *data;
    size_t size, end;
    Elf64_Ehdr head;
} reader;

static bool inside_section(uint64_t offset, uint64_t length, size_t size) {
    return offset <= size && length <= size - offset;
}

static Elf64_Shdr section_at(const reader *r, unsigned index) {
    Elf64_Shdr section;
    memcpy(&section, r->data + r->head.e_shoff + (size_t)index * sizeof section, sizeof section);
    return section;
}

/* A string of a table of strings; "" when it does not end inside it. */
static const char *string_at(const reader *r, const Elf64_Shdr *table, uint64_t offset) {
    if (table->sh_type != SHT_STRTAB || offset >= table->sh_size) {
        return "";
    }
    const char *text = (const char *)r->data + table->sh_offset + offset;
    return memchr(text, 0, (size_t)(table->sh_size - offset)) ? text : "";
}

static const char *section_name(const reader *r, const Elf64_Shdr *section) {
    Elf64_Shdr names = section_at(r, r->head.e_shstrndx);
    return string_at(r, &names, section->sh_name);
}

static void reach_offset(reader *r, uint64_t end) {
    r->end = end > r->end ? (size_t)end : r->end;
}

static kw_status open_reader(reader *r, const kw_blob *blob, kw_error *err) {
    *r = (reader){.data = blob->data, .size = blob->size};
    kw_status status = kw_object_check(blob, ET_EXEC, CUDA_MACHINE, err);
    if (status) {
        return status;
    }
    memcpy(&r->head, r->data, sizeof r->head);
    const Elf64_Ehdr *head = &r->head;
    if (head->e_shstrndx >= head->e_shnum) {
        return kw_fail(err, KW_MALFORMED, "the CUBIN has no names of its sections");
    }
    reach_offset(r, head->e_shoff + (uint64_t)head->e_shnum * sizeof(Elf64_Shdr));
    reach_offset(r, head->e_phoff + (uint64_t)head->e_phnum * sizeof(Elf64_Phdr));
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, r->data + head->e_phoff + (size_t)i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD || part.p_type == PT_DYNAMIC || part.p_type == PT_NOTE) {
            reach_offset(r, part.p_offset + part.p_filesz);
        }
    }
    for (unsigned i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr section = section_at(r, i);
        if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL) {
            reach_offset(r, section.sh_offset + section.sh_size);
        }
    }
    return KW_OK;
}

/* --- kernels by name ---------------------------------------------------------------------------------------------- */

/* The kernel whose name stands at the start of text, with nothing or *rest behind it; NULL when it is none of ours. */
static kw_cubin_stage *stage_named(kw_cubin *cubin, const char *text, const char *rest) {
    static const char prefix[] = "kw_stage";
    if (strncmp(text, prefix, sizeof prefix - 1)) {
        return NULL;
    }
    unsigned number = (unsigned)(unsigned char)text[sizeof prefix - 1] - '0';
    return number < KW_STAGE_MAX && !strcmp(text + sizeof prefix, rest) ? &cubin->stage[number] : NULL;
}

static bool symbol_at(const reader *r, const Elf64_Shdr *table, uint64_t index, Elf64_Sym *symbol, const char **name) {
    if (index >= table->sh_size / sizeof *symbol || table->sh_link >= r->head.e_shnum) {
        return false;
    }
    Elf64_Shdr strings = section_at(r, table->sh_link);
    memcpy(symbol, r->data + table->sh_offset + index * sizeof *symbol, sizeof *symbol);
    *name = string_at(r, &strings, symbol->st_name);
    return true;
}

/* The constant that KW_LDS of a kernel leaves: a variable inside a function, by its mangled name. */
static void read_requested(kw_cubin *cubin, const reader *r, const Elf64_Sym *symbol, const char *name) {
    static const char prefix[] = "_ZZ9", rest[] = "E12kw_lds_bytes";
    uint32_t bytes = 0;
    kw_cubin_stage *stage = strncmp(name, prefix, sizeof prefix - 1) ? NULL : stage_named(cubin, name + sizeof prefix - 1, rest);
    if (!stage || symbol->st_shndx >= r->head.e_shnum) {
        return;
    }
    Elf64_Shdr section = section_at(r, symbol->st_shndx);
    if (section.sh_type == SHT_PROGBITS && inside_section(symbol->st_value, sizeof bytes, (size_t)section.sh_size)) {
        memcpy(&bytes, r->data + section.sh_offset + symbol->st_value, sizeof bytes);
        stage->requested_lds = bytes <= INT32_MAX ? (int32_t)bytes : INT32_MAX;
    }
}

static void read_symbols(kw_cubin *cubin, const reader *r, const Elf64_Shdr *table) {
    Elf64_Sym symbol;
    const char *name;
    for (uint64_t i = 0; symbol_at(r, table, i, &symbol, &name); i++) {
        kw_cubin_stage *stage = stage_named(cubin, name, "");
        if (stage && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC) {
            stage->present = true;
        }
        read_requested(cubin, r, &symbol, name);
    }
}

static void read_attribute(kw_cubin *cubin, const reader *r, const Elf64_Shdr *info, int attribute, const uint32_t pair[2]) {
    Elf64_Sym symbol;
    const char *name;
    if (info->sh_link >= r->head.e_shnum) {
        return;
    }
    Elf64_Shdr table = section_at(r, info->sh_link);
    kw_cubin_stage *stage =
        table.sh_type == SHT_SYMTAB && symbol_at(r, &table, pair[0], &symbol, &name) ? stage_named(cubin, name, "") : NULL;
    int32_t value = pair[1] <= INT32_MAX ? (int32_t)pair[1] : INT32_MAX;
    if (stage && attribute == ATTRIBUTE_REGISTERS) {
        stage->registers = value;
    } else if (stage && attribute == ATTRIBUTE_FRAME) {
        stage->stack = value;
    }
}

static void read_info(kw_cubin *cubin, const reader *r, const Elf64_Shdr *info) {
    const unsigned char *data = r->data + info->sh_offset;
    for (uint64_t at = 0; inside_section(at, 4, (size_t)info->sh_size);) {
        unsigned format = data[at], attribute = data[at + 1], length = data[at + 2] | (unsigned)data[at + 3] << 8;
        uint32_t pair[2];
        at += 4;
        if (format != RECORD_SIZED) {
            continue; /* its value stands in the 16 bits */
        }
        if (length >= sizeof pair && inside_section(at, sizeof pair, (size_t)info->sh_size)) {
            memcpy(pair, data + at, sizeof pair);
            read_attribute(cubin, r, info, (int)attribute, pair);
        }
        at += length;
    }
}

/* Of shared memory that is fixed, 1 KiB is the system's where a section says that it keeps some; a block may have its share besides. */
static void read_shared_section(kw_cubin *cubin, const Elf64_Shdr *section, const char *name, bool reserved) {
    static const char prefix[] = ".nv.shared.";
    kw_cubin_stage *stage = strncmp(name, prefix, sizeof prefix - 1) ? NULL : stage_named(cubin, name + sizeof prefix - 1, "");
    if (stage) {
        uint64_t kept = reserved && section->sh_size >= RESERVED_LDS ? RESERVED_LDS : 0, own = section->sh_size - kept;
        stage->fixed_lds = own <= INT32_MAX ? (int32_t)own : INT32_MAX;
    }
}

static int32_t read_cubin_note(const reader *r) {
    char digits[NOTE_DIGITS + 1] = "", *end = digits;
    if (r->size - r->end != NOTE_BYTES || memcmp(r->data + r->end, note_magic, sizeof note_magic - 1)) {
        return -1;
    }
    memcpy(digits, r->data + r->end + sizeof note_magic - 1, NOTE_DIGITS);
    unsigned long value = strtoul(digits, &end, 16);
    return end == digits + NOTE_DIGITS && value <= INT32_MAX ? (int32_t)value : -1;
}

kw_status kw_cubin_read(kw_cubin *cubin, const kw_blob *blob, kw_error *err) {
    reader r;
    *cubin = (kw_cubin){.spill_bytes = -1};
    kw_status status = open_reader(&r, blob, err);
    if (status) {
        return status;
    }
    bool reserved = false;
    for (unsigned i = 0; i < r.head.e_shnum; i++) {
        Elf64_Shdr section = section_at(&r, i);
        reserved |= !strncmp(section_name(&r, &section), ".nv.shared.reserved", 19);
    }
    for (unsigned i = 0; i < r.head.e_shnum; i++) {
        Elf64_Shdr section = section_at(&r, i);
        const char *name = section_name(&r, &section);
        if (section.sh_type == SHT_SYMTAB) {
            read_symbols(cubin, &r, &section);
        } else if (section.sh_type == SHT_NOBITS) {
            read_shared_section(cubin, &section, name, reserved);
        } else if (section.sh_type != SHT_NULL && !strncmp(name, ".nv.info", 8)) {
            read_info(cubin, &r, &section);
        }
    }
    cubin->spill_bytes = read_cubin_note(&r);
    return KW_OK;
}

kw_status kw_cubin_note_spills(kw_blob *blob, int32_t spill_bytes, kw_error *err) {
    reader r;
    char note[NOTE_BYTES + 1];
    kw_status status = open_reader(&r, blob, err);
    if (status) {
        return status;
    }
    char *longer = realloc(blob->data, r.end + NOTE_BYTES);
    if (!longer) {
        return kw_fail_memory(err, "a compiled kernel");
    }
    snprintf(note, sizeof note, "%s%08x", note_magic, (unsigned)spill_bytes);
    memcpy(longer + r.end, note, NOTE_BYTES);
    blob->data = longer;
    blob->size = r.end + NOTE_BYTES;
    return KW_OK;
}
