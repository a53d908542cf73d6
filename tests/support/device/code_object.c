/* code_object.c: MessagePack and ELF, written the plain way round. */
#include "support/device/code_object.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

void pack_byte(pack_text *pack, unsigned byte) {
    if (pack->size < sizeof pack->data) {
        pack->data[pack->size++] = (unsigned char)byte;
    }
}

void pack_string(pack_text *pack, const char *string) {
    size_t length = strlen(string);
    if (length >= 32) {
        pack_byte(pack, 0xd9);
    }
    pack_byte(pack, (unsigned)(length < 32 ? 0xa0 | length : length));
    for (; *string; string++) {
        pack_byte(pack, (unsigned char)*string);
    }
}

void pack_number(pack_text *pack, unsigned long long number) {
    if (number < 128) {
        pack_byte(pack, (unsigned)number);
        return;
    }
    pack_byte(pack, 0xcf);
    for (int shift = 56; shift >= 0; shift -= 8) {
        pack_byte(pack, (unsigned)(number >> shift & 0xff));
    }
}

void pack_kernel(pack_text *pack, const char *name, const unsigned counts[6]) {
    static const char *const keys[] = {
        ".vgpr_count", ".agpr_count", ".sgpr_count", ".group_segment_fixed_size", ".private_segment_fixed_size", ".vgpr_spill_count"};
    pack_byte(pack, 0x80 | 8);
    pack_string(pack, ".args"); /* what holds other things is passed over */
    pack_byte(pack, 0x91);
    pack_byte(pack, 0x81);
    pack_string(pack, ".vgpr_count");
    pack_number(pack, 100000);
    pack_string(pack, ".name");
    pack_string(pack, name);
    for (int i = 0; i < 6; i++) {
        pack_string(pack, keys[i]);
        pack_number(pack, counts[i]);
    }
}

kw_blob code_object_make(const void *note, size_t note_size, const char *names) {
    static const char owner[8] = "AMDGPU";
    Elf64_Nhdr title = {.n_namesz = 7, .n_descsz = (Elf64_Word)note_size, .n_type = 32};
    Elf64_Ehdr head = {.e_type = ET_DYN, .e_machine = 224, .e_version = 1, .e_phoff = sizeof head, .e_phnum = 1};
    size_t padded = (note_size + 3) & ~(size_t)3, part = sizeof title + sizeof owner + padded;
    Elf64_Phdr where = {.p_type = PT_NOTE, .p_offset = sizeof head + sizeof where, .p_filesz = part};
    kw_blob blob = {.size = sizeof head + sizeof where + part + strlen(names) + 1};
    char *at = blob.data = calloc(1, blob.size);
    if (!at) {
        abort();
    }
    memcpy(head.e_ident, ELFMAG, SELFMAG);
    head.e_ident[EI_CLASS] = ELFCLASS64;
    head.e_ident[EI_DATA] = ELFDATA2LSB;
    head.e_ehsize = sizeof head;
    head.e_phentsize = sizeof where;
    memcpy(at, &head, sizeof head);
    memcpy(at += sizeof head, &where, sizeof where);
    memcpy(at += sizeof where, &title, sizeof title);
    memcpy(at += sizeof title, owner, sizeof owner);
    at += sizeof owner;
    if (note_size) {
        memcpy(at, note, note_size);
    }
    memcpy(at + padded, names, strlen(names) + 1);
    return blob;
}

kw_blob code_object_of(const unsigned counts[6]) {
    pack_text pack = {.size = 0};
    pack_byte(&pack, 0x81);
    pack_string(&pack, "amdhsa.kernels");
    pack_byte(&pack, 0x91);
    pack_kernel(&pack, "kw_stage0", counts);
    return code_object_make(pack.data, pack.size, "kw_stage0");
}

kw_blob code_object_sample(void) {
    static const unsigned counts[2][6] = {{120, 64, 40, 16384, 0, 0}, {64, 128, 44, 0, 80, 31}};
    pack_text pack = {.size = 0};
    pack_byte(&pack, 0x82);
    pack_string(&pack, "amdhsa.target");
    pack_string(&pack, "amdgcn-amd-amdhsa--gfx942:xnack-:sramecc+");
    pack_string(&pack, "amdhsa.kernels");
    pack_byte(&pack, 0x92);
    pack_kernel(&pack, "kw_stage0", counts[0]);
    pack_kernel(&pack, "kw_stage1", counts[1]);
    return code_object_make(pack.data, pack.size, "kw_stage0 kw_stage1");
}
