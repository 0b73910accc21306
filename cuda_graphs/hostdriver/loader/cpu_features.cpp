// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The bits are those of the instruction CPUID (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2;
// AMD64 Architecture Programmer's Manual, volume 3, appendix E). The names are LLVM's.
#include "cpu_features.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#ifdef __x86_64__
#include <cpuid.h>

namespace cgh {
namespace {

enum Register : std::uint8_t { kEax, kEbx, kEcx, kEdx };

// Registers that the system must save besides those of SSE (bits of XCR0, SDM volume 1, 13.3).
enum Saved : std::uint32_t { kNone = 0, kAvx = 0x6, kAvx512 = 0xe6, kTiles = 0x60000 };

struct Feature {
    std::string_view name;
    std::uint32_t leaf, subleaf;
    Register in;
    std::uint8_t bit;
    Saved saved;
};

constexpr std::uint32_t kExtended = 0x80000001, kSizes = 0x80000008;

constexpr Feature kFeatures[] = {
    {"cx8", 1, 0, kEdx, 8, kNone},
    {"cmov", 1, 0, kEdx, 15, kNone},
    {"mmx", 1, 0, kEdx, 23, kNone},
    {"fxsr", 1, 0, kEdx, 24, kNone},
    {"sse", 1, 0, kEdx, 25, kNone},
    {"sse2", 1, 0, kEdx, 26, kNone},
    {"sse3", 1, 0, kEcx, 0, kNone},
    {"pclmul", 1, 0, kEcx, 1, kNone},
    {"ssse3", 1, 0, kEcx, 9, kNone},
    {"fma", 1, 0, kEcx, 12, kAvx},
    {"cx16", 1, 0, kEcx, 13, kNone},
    {"sse4.1", 1, 0, kEcx, 19, kNone},
    {"sse4.2", 1, 0, kEcx, 20, kNone},
    {"crc32", 1, 0, kEcx, 20, kNone},
    {"movbe", 1, 0, kEcx, 22, kNone},
    {"popcnt", 1, 0, kEcx, 23, kNone},
    {"aes", 1, 0, kEcx, 25, kNone},
    {"xsave", 1, 0, kEcx, 26, kAvx},
    {"avx", 1, 0, kEcx, 28, kAvx},
    {"f16c", 1, 0, kEcx, 29, kAvx},
    {"rdrnd", 1, 0, kEcx, 30, kNone},
    {"fsgsbase", 7, 0, kEbx, 0, kNone},
    {"sgx", 7, 0, kEbx, 2, kNone},
    {"bmi", 7, 0, kEbx, 3, kNone},
    {"avx2", 7, 0, kEbx, 5, kAvx},
    {"bmi2", 7, 0, kEbx, 8, kNone},
    {"invpcid", 7, 0, kEbx, 10, kNone},
    {"rtm", 7, 0, kEbx, 11, kNone},
    {"avx512f", 7, 0, kEbx, 16, kAvx512},
    {"evex512", 7, 0, kEbx, 16, kAvx512},
    {"avx512dq", 7, 0, kEbx, 17, kAvx512},
    {"rdseed", 7, 0, kEbx, 18, kNone},
    {"adx", 7, 0, kEbx, 19, kNone},
    {"avx512ifma", 7, 0, kEbx, 21, kAvx512},
    {"clflushopt", 7, 0, kEbx, 23, kNone},
    {"clwb", 7, 0, kEbx, 24, kNone},
    {"avx512cd", 7, 0, kEbx, 28, kAvx512},
    {"sha", 7, 0, kEbx, 29, kNone},
    {"avx512bw", 7, 0, kEbx, 30, kAvx512},
    {"avx512vl", 7, 0, kEbx, 31, kAvx512},
    {"avx512vbmi", 7, 0, kEcx, 1, kAvx512},
    {"pku", 7, 0, kEcx, 4, kNone},
    {"waitpkg", 7, 0, kEcx, 5, kNone},
    {"avx512vbmi2", 7, 0, kEcx, 6, kAvx512},
    {"shstk", 7, 0, kEcx, 7, kNone},
    {"gfni", 7, 0, kEcx, 8, kNone},
    {"vaes", 7, 0, kEcx, 9, kAvx},
    {"vpclmulqdq", 7, 0, kEcx, 10, kAvx},
    {"avx512vnni", 7, 0, kEcx, 11, kAvx512},
    {"avx512bitalg", 7, 0, kEcx, 12, kAvx512},
    {"avx512vpopcntdq", 7, 0, kEcx, 14, kAvx512},
    {"rdpid", 7, 0, kEcx, 22, kNone},
    {"kl", 7, 0, kEcx, 23, kNone},
    {"cldemote", 7, 0, kEcx, 25, kNone},
    {"movdiri", 7, 0, kEcx, 27, kNone},
    {"movdir64b", 7, 0, kEcx, 28, kNone},
    {"enqcmd", 7, 0, kEcx, 29, kNone},
    {"uintr", 7, 0, kEdx, 5, kNone},
    {"avx512vp2intersect", 7, 0, kEdx, 8, kAvx512},
    {"serialize", 7, 0, kEdx, 14, kNone},
    {"tsxldtrk", 7, 0, kEdx, 16, kNone},
    {"pconfig", 7, 0, kEdx, 18, kNone},
    {"amx-bf16", 7, 0, kEdx, 22, kTiles},
    {"avx512fp16", 7, 0, kEdx, 23, kAvx512},
    {"amx-tile", 7, 0, kEdx, 24, kTiles},
    {"amx-int8", 7, 0, kEdx, 25, kTiles},
    {"sha512", 7, 1, kEax, 0, kAvx},
    {"sm3", 7, 1, kEax, 1, kAvx},
    {"sm4", 7, 1, kEax, 2, kAvx},
    {"raoint", 7, 1, kEax, 3, kNone},
    {"avxvnni", 7, 1, kEax, 4, kAvx},
    {"avx512bf16", 7, 1, kEax, 5, kAvx512},
    {"cmpccxadd", 7, 1, kEax, 7, kNone},
    {"amx-fp16", 7, 1, kEax, 21, kTiles},
    {"hreset", 7, 1, kEax, 22, kNone},
    {"avxifma", 7, 1, kEax, 23, kAvx},
    {"avxvnniint8", 7, 1, kEdx, 4, kAvx},
    {"avxneconvert", 7, 1, kEdx, 5, kAvx},
    {"amx-complex", 7, 1, kEdx, 8, kTiles},
    {"avxvnniint16", 7, 1, kEdx, 10, kAvx},
    {"prefetchi", 7, 1, kEdx, 14, kNone},
    {"usermsr", 7, 1, kEdx, 15, kNone},
    {"xsaveopt", 0xd, 1, kEax, 0, kAvx},
    {"xsavec", 0xd, 1, kEax, 1, kAvx},
    {"xsaves", 0xd, 1, kEax, 3, kAvx},
    {"ptwrite", 0x14, 0, kEbx, 4, kNone},
    {"widekl", 0x19, 0, kEbx, 2, kNone},
    {"sahf", kExtended, 0, kEcx, 0, kNone},
    {"lzcnt", kExtended, 0, kEcx, 5, kNone},
    {"sse4a", kExtended, 0, kEcx, 6, kNone},
    {"prfchw", kExtended, 0, kEcx, 8, kNone},
    {"xop", kExtended, 0, kEcx, 11, kAvx},
    {"lwp", kExtended, 0, kEcx, 15, kNone},
    {"fma4", kExtended, 0, kEcx, 16, kAvx},
    {"tbm", kExtended, 0, kEcx, 21, kNone},
    {"mwaitx", kExtended, 0, kEcx, 29, kNone},
    {"64bit", kExtended, 0, kEdx, 29, kNone},
    {"clzero", kSizes, 0, kEbx, 0, kNone},
    {"rdpru", kSizes, 0, kEbx, 4, kNone},
    {"wbnoinvd", kSizes, 0, kEbx, 9, kNone},
};

// Returns the registers that the system saves when it switches threads; 0 if it cannot tell.
std::uint32_t saved_registers() {
    std::uint32_t eax = 0, ebx = 0, ecx = 0, edx = 0;
    constexpr std::uint32_t kOsxsave = 1U << 27;
    if (__get_cpuid(1, &eax, &ebx, &ecx, &edx) == 0 || (ecx & kOsxsave) == 0) return 0;
    std::uint32_t low = 0, high = 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

// Returns for each row of kFeatures whether this CPU has the feature. In a virtual machine each CPUID takes several
// microseconds, so rows of the same leaf share one.
std::array<bool, std::size(kFeatures)> find_features() {
    std::array<bool, std::size(kFeatures)> has{};
    const std::uint32_t saved = saved_registers();
    std::array<std::uint32_t, 4> registers{};
    const Feature* last = nullptr;
    for (std::size_t i = 0; i < has.size(); ++i) {
        const Feature& each = kFeatures[i];
        if (last == nullptr || last->leaf != each.leaf || last->subleaf != each.subleaf) {
            registers = {};  // which stay if the CPU has no such leaf
            auto& [eax, ebx, ecx, edx] = registers;
            __get_cpuid_count(each.leaf, each.subleaf, &eax, &ebx, &ecx, &edx);
        }
        last = &each;
        has[i] = (registers[each.in] >> each.bit & 1) != 0 && (saved & each.saved) == each.saved;
    }
    return has;
}

}  // namespace

bool cpu_has(std::string_view name) {
    static const std::array<bool, std::size(kFeatures)> has = find_features();
    const auto* const found = std::find_if(std::begin(kFeatures), std::end(kFeatures),
                                           [&](const Feature& each) { return each.name == name; });
    return found != std::end(kFeatures) && has[static_cast<std::size_t>(found - std::begin(kFeatures))];
}

}  // namespace cgh

#else

namespace cgh {

bool cpu_has(std::string_view) {
    return false;
}

}  // namespace cgh

#endif
