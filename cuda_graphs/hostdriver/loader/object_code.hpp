// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Links an ELF object for x86-64 into this process (System V ABI, AMD64 supplement, 4.4). Objects of the compiler have
// the large code model and no position independence, so their only relocations are 64-bit addresses. Linking copies
// sections and adds addresses. Unwind tables are left out: nothing unwinds through generated code. native/linker.py does
// the same for code that is translated from PTX in Python.
//
// Everything that the object says is checked before use. All failures are FormatErrors.
#ifndef CUDA_GRAPHS_HOSTDRIVER_LOADER_OBJECT_CODE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_LOADER_OBJECT_CODE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cgh {

using Addresses = std::unordered_map<std::string, std::uintptr_t>;

// Linked code. Its memory is unmapped with this object.
class ObjectCode {
  public:
    // `imports` has addresses for names that the object does not define. Other names are looked up in the process.
    ObjectCode(std::string_view object, const Addresses& imports);
    ~ObjectCode() { close(); }
    ObjectCode(const ObjectCode&) = delete;
    ObjectCode& operator=(const ObjectCode&) = delete;

    // Returns the address of a symbol that the object defines for others; null if it does not, if its section has fewer
    // than `size` bytes there, and if `writes` is true and the section is read only.
    void* find(const std::string& name, std::size_t size, bool writes) const noexcept;

  private:
    friend class Linker;
    void close() noexcept;

    struct Export {
        std::uintptr_t address;
        std::size_t room;  // bytes from there to the end of its section
        bool is_writable;
    };

    std::byte* memory_ = nullptr;
    std::size_t size_ = 0;
    std::unordered_map<std::string, Export> exports_;
};

}  // namespace cgh

#endif
