// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "object_code.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <optional>
#include <vector>

#include "formats/error.hpp"

namespace cgh {

namespace {

using cgf::FormatError;

constexpr std::size_t kMost = std::size_t{1} << 30;  // bytes of linked code in memory

template <class T>
T read_at(std::string_view bytes, std::uint64_t at) {
    if (at > bytes.size() || sizeof(T) > bytes.size() - at) throw FormatError("the object ends inside a table");
    T found;
    std::memcpy(&found, bytes.data() + at, sizeof found);
    return found;
}

// Libraries whose functions code may call: those of the process, libm, and GCC's library, which has conversions of f16
// for CPUs without F16C.
std::uintptr_t find_in_process(const std::string& name) {
    for (const char* const library : {static_cast<const char*>(nullptr), "libm.so.6", "libgcc_s.so.1"}) {
        void* const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);  // never closed: the code may call it at any time
        void* const found = opened == nullptr ? nullptr : dlsym(opened, name.c_str());
        if (found != nullptr) return reinterpret_cast<std::uintptr_t>(found);
    }
    throw FormatError("the object uses " + name + ", which is not defined in this process");
}

}  // namespace

class Linker {
  public:
    Linker(std::string_view object, const Addresses& imports, ObjectCode& out)
        : object_(object), imports_(imports), out_(out) {}

    void run() {
        read_sections();
        place_sections();
        map();
        copy();
        for (const Elf64_Shdr& section : sections_)
            if (section.sh_type == SHT_SYMTAB) read_symbols(section);
        for (const Elf64_Shdr& section : sections_)
            if (section.sh_type == SHT_RELA) relocate(section);
        protect();
    }

  private:
    struct Symbol {
        std::string name;
        bool is_local;
        std::optional<std::uintptr_t> value;  // none: no relocation can refer to it
    };
    struct Span {
        std::size_t begin, end;
        int protection;
    };
    static constexpr std::size_t kNowhere = ~std::size_t{0};

    void read_sections() {
        const auto head = read_at<Elf64_Ehdr>(object_, 0);
        const bool fits = std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
                          head.e_ident[EI_DATA] == ELFDATA2LSB && head.e_type == ET_REL && head.e_machine == EM_X86_64;
        if (!fits) throw FormatError("this is not an object for x86-64");
        if (head.e_shentsize != sizeof(Elf64_Shdr))
            throw FormatError("the object's section headers have an unknown size");
        for (std::size_t i = 0; i < head.e_shnum; ++i)
            sections_.push_back(read_at<Elf64_Shdr>(object_, sum(head.e_shoff, i * sizeof(Elf64_Shdr))));
        names_ = content(section_at(head.e_shstrndx));
    }

    static std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
        std::uint64_t found = 0;
        if (__builtin_add_overflow(a, b, &found)) throw FormatError("the object has an impossible offset");
        return found;
    }

    const Elf64_Shdr& section_at(std::size_t number) const {
        if (number >= sections_.size()) throw FormatError("the object has no section of a number");
        return sections_[number];
    }

    std::string_view content(const Elf64_Shdr& section) const {
        if (section.sh_offset > object_.size() || section.sh_size > object_.size() - section.sh_offset)
            throw FormatError("the object ends inside a section");
        return object_.substr(section.sh_offset, section.sh_size);
    }

    static std::string name_at(std::string_view names, std::size_t at) {
        if (at >= names.size()) return {};
        const std::size_t end = names.find('\0', at);
        if (end == std::string_view::npos) throw FormatError("a name in the object does not end");
        return std::string(names.substr(at, end - at));
    }

    // Each page has one protection.
    void place_sections() {
        struct Kind {
            std::uint64_t flags;
            int protection;
        };
        constexpr Kind kKinds[] = {
            {SHF_EXECINSTR, PROT_READ | PROT_EXEC}, {0, PROT_READ}, {SHF_WRITE, PROT_READ | PROT_WRITE}};
        const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
        offsets_.assign(sections_.size(), kNowhere);
        std::size_t end = 0;
        for (const auto& [flags, protection] : kKinds) {
            const std::size_t begin = end;
            for (std::size_t i = 0; i < sections_.size(); ++i)
                if (is_placed(sections_[i], flags)) end = place(i, end, page);
            end = (end + page - 1) / page * page;
            if (end > begin) spans_.push_back({begin, end, protection});
        }
        out_.size_ = end;
    }

    bool is_placed(const Elf64_Shdr& section, std::uint64_t flags) const {
        return (section.sh_flags & SHF_ALLOC) != 0 && (section.sh_flags & (SHF_WRITE | SHF_EXECINSTR)) == flags &&
               name_at(names_, section.sh_name) != ".eh_frame";
    }

    std::size_t place(std::size_t number, std::size_t end, std::size_t page) {
        const Elf64_Shdr& section = sections_[number];
        const std::size_t align = section.sh_addralign == 0 ? 1 : section.sh_addralign;
        if ((align & (align - 1)) != 0 || align > page || section.sh_size > kMost)
            throw FormatError("section " + name_at(names_, section.sh_name) + " has an unsupported alignment or size");
        offsets_[number] = (end + align - 1) / align * align;
        const std::size_t next = offsets_[number] + section.sh_size;
        if (next > kMost) throw FormatError("the object is too large");
        return next;
    }

    void map() {
        void* const found = mmap(nullptr, out_.size_ == 0 ? 1 : out_.size_, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (found == MAP_FAILED) throw FormatError("the system does not map memory for the object");
        out_.memory_ = static_cast<std::byte*>(found);
    }

    void copy() const {
        for (std::size_t i = 0; i < sections_.size(); ++i) {
            if (offsets_[i] == kNowhere || sections_[i].sh_type == SHT_NOBITS) continue;
            const std::string_view bytes = content(sections_[i]);
            if (!bytes.empty()) std::memcpy(out_.memory_ + offsets_[i], bytes.data(), bytes.size());
        }
    }

    void read_symbols(const Elf64_Shdr& table) {
        const std::string_view all = content(table), names = content(section_at(table.sh_link));
        for (std::uint64_t at = 0; at < all.size(); at += sizeof(Elf64_Sym)) {
            const auto read = read_at<Elf64_Sym>(all, at);
            Symbol symbol{name_at(names, read.st_name), ELF64_ST_BIND(read.st_info) == STB_LOCAL, {}};
            symbol.value = value_of(read, symbol.name);
            if (!symbol.is_local && symbol.value && is_placed(read.st_shndx))
                out_.exports_[symbol.name] = {*symbol.value, sections_[read.st_shndx].sh_size - read.st_value,
                                              (sections_[read.st_shndx].sh_flags & SHF_WRITE) != 0};
            symbols_.push_back(std::move(symbol));
        }
    }

    bool is_placed(std::size_t section) const noexcept {
        return section < offsets_.size() && offsets_[section] != kNowhere;
    }

    std::optional<std::uintptr_t> value_of(const Elf64_Sym& symbol, const std::string& name) const {
        if (is_placed(symbol.st_shndx)) {
            if (symbol.st_value > sections_[symbol.st_shndx].sh_size) throw FormatError("a symbol is outside of its section");
            return reinterpret_cast<std::uintptr_t>(out_.memory_) + offsets_[symbol.st_shndx] + symbol.st_value;
        }
        if (symbol.st_shndx == SHN_ABS) return symbol.st_value;
        if (symbol.st_shndx != SHN_UNDEF || name.empty()) return {};
        const auto import = imports_.find(name);
        return import != imports_.end() ? import->second : find_in_process(name);
    }

    void relocate(const Elf64_Shdr& table) const {
        if (table.sh_info >= offsets_.size() || offsets_[table.sh_info] == kNowhere) return;
        const std::string_view all = content(table);
        const std::size_t size = sections_[table.sh_info].sh_size;
        for (std::uint64_t at = 0; at < all.size(); at += sizeof(Elf64_Rela)) {
            const auto read = read_at<Elf64_Rela>(all, at);
            const std::size_t number = ELF64_R_SYM(read.r_info);
            const bool is_inside = size >= sizeof(std::uint64_t) && read.r_offset <= size - sizeof(std::uint64_t);
            if (ELF64_R_TYPE(read.r_info) != R_X86_64_64 || number >= symbols_.size() || !symbols_[number].value || !is_inside)
                throw FormatError("relocation type " + std::to_string(ELF64_R_TYPE(read.r_info)) + " at offset " +
                                  std::to_string(read.r_offset) + " is not supported");
            const std::uint64_t word = *symbols_[number].value + static_cast<std::uint64_t>(read.r_addend);
            std::memcpy(out_.memory_ + offsets_[table.sh_info] + read.r_offset, &word, sizeof word);
        }
    }

    void protect() const {
        for (const Span& span : spans_)
            if (mprotect(out_.memory_ + span.begin, span.end - span.begin, span.protection) != 0)
                throw FormatError("the system does not protect memory for the object");
    }

    std::string_view object_;
    const Addresses& imports_;
    ObjectCode& out_;
    std::vector<Elf64_Shdr> sections_;
    std::string_view names_;
    std::vector<std::size_t> offsets_;  // of sections in the memory
    std::vector<Span> spans_;
    std::vector<Symbol> symbols_;
};

ObjectCode::ObjectCode(std::string_view object, const Addresses& imports) {
    try {
        Linker(object, imports, *this).run();
    } catch (...) {
        close();
        throw;
    }
}

void* ObjectCode::find(const std::string& name, std::size_t size, bool writes) const noexcept {
    const auto found = exports_.find(name);
    if (found == exports_.end() || found->second.room < size) return nullptr;
    if (writes && !found->second.is_writable) return nullptr;
    return reinterpret_cast<void*>(found->second.address);
}

void ObjectCode::close() noexcept {
    if (memory_ != nullptr) munmap(memory_, size_ == 0 ? 1 : size_);
    memory_ = nullptr;
}

}  // namespace cgh
