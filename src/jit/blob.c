/* blob.c: is this an object that a loader can take? A loader trusts the tables of a file; a file cut short would end the process with
 * SIGBUS inside dlopen, and a driver may fare no better. So everything that the tables name must lie inside the bytes. This finds
 * accidents; trust comes from the cache's folder (cache.c). */
#include "jit/toolchain/cc.h"
#include "jit/object/object.h"

#include <elf.h>
#include <string.h>

#if defined __x86_64__
enum { OWN_MACHINE = EM_X86_64 };
#elif defined __aarch64__
enum { OWN_MACHINE = EM_AARCH64 };
#else
enum { OWN_MACHINE = EM_NONE };
#endif

enum { PROGRAM_HEADERS_MAX = 64 };

static bool inside_blob(uint64_t offset, uint64_t length, size_t size) {
    return offset <= size && length <= size - offset;
}

static kw_status check_parts(const kw_blob *blob, const Elf64_Ehdr *head, kw_error *err) {
    if (head->e_phentsize != sizeof(Elf64_Phdr) || !head->e_phnum || head->e_phnum > PROGRAM_HEADERS_MAX ||
        !inside_blob(head->e_phoff, (uint64_t)head->e_phnum * sizeof(Elf64_Phdr), blob->size)) {
        return kw_fail(err, KW_MALFORMED, "the program headers of the object lie outside it");
    }
    for (int i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr part;
        memcpy(&part, (const char *)blob->data + head->e_phoff + (size_t)i * sizeof part, sizeof part);
        if ((part.p_type == PT_LOAD || part.p_type == PT_DYNAMIC || part.p_type == PT_NOTE) &&
            !inside_blob(part.p_offset, part.p_filesz, blob->size)) {
            return kw_fail(err, KW_MALFORMED, "part %d of the object lies outside it: cut short?", i);
        }
    }
    return KW_OK;
}

static kw_status check_sections(const kw_blob *blob, const Elf64_Ehdr *head, kw_error *err) {
    if (head->e_shnum && (head->e_shentsize != sizeof(Elf64_Shdr) ||
                          !inside_blob(head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr), blob->size))) {
        return kw_fail(err, KW_MALFORMED, "the section headers of the object lie outside it");
    }
    for (int i = 0; i < head->e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, (const char *)blob->data + head->e_shoff + (size_t)i * sizeof section, sizeof section);
        if (section.sh_type != SHT_NULL && section.sh_type != SHT_NOBITS && !inside_blob(section.sh_offset, section.sh_size, blob->size)) {
            return kw_fail(err, KW_MALFORMED, "section %d of the object lies outside it: cut short?", i);
        }
    }
    return KW_OK;
}

kw_status kw_object_check(const kw_blob *blob, int type, int machine, kw_error *err) {
    Elf64_Ehdr head;
    if (!blob->data || blob->size < sizeof head) {
        return kw_fail(err, KW_MALFORMED, "the object has %zu bytes, less than a header", blob->size);
    }
    memcpy(&head, blob->data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_ident[EI_DATA] != ELFDATA2LSB) {
        return kw_fail(err, KW_MALFORMED, "the object is not a 64-bit little-endian ELF file");
    }
    if (head.e_type != type || head.e_machine != machine) {
        return kw_fail(err, KW_MALFORMED, "the object is of type %d for machine %d; what is loaded here is of type %d for machine %d",
                       head.e_type, head.e_machine, type, machine);
    }
    kw_status status = check_parts(blob, &head, err);
    return status ? status : check_sections(blob, &head, err);
}

kw_status kw_blob_check(const kw_blob *blob, kw_error *err) {
    return kw_object_check(blob, ET_DYN, OWN_MACHINE, err);
}
