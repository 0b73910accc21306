// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The services for generated code: faults, printf, conditional handles, scratch memory, clocks. A fault jumps out of
// the kernel, also from the separate stacks that threads of a block with barriers have. The checked longjmp of
// _FORTIFY_SOURCE rejects such a jump.
#undef _FORTIFY_SOURCE
#include "services.hpp"

#include <setjmp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include "hostdriver/entry.hpp"
#include "hostdriver/execution/block_runner.hpp"
#include "hostdriver/execution/clock.hpp"
#include "hostdriver/execution/thread_state.hpp"
#include "hostdriver/execution/thread_store.hpp"
#include "hostdriver/image_loader.h"
#include "hostdriver/objects/base/log.hpp"
#include "hostdriver/objects/devices/context.hpp"
#include "hostdriver/sanitizer/accesses.hpp"
#include "hostdriver/sanitizer/random_order.hpp"

namespace cgh {
namespace {

std::atomic<SetConditional> conditional_hook{nullptr};

void set_conditional(std::uint64_t handle, std::uint32_t value) {
    const SetConditional hook = conditional_hook.load(std::memory_order_acquire);
    if (hook == nullptr || !hook(handle, value)) raise_fault(CUDA_ERROR_ILLEGAL_ADDRESS);
}

// Formats like CUDA's device printf. Every argument has 4 or 8 bytes in the buffer and is aligned to its size. Floats
// are passed as doubles, strings as pointers.
class Formatter {
  public:
    Formatter(const char* format, const void* args) : at_(format), args_(static_cast<const std::byte*>(args)) {}

    // Returns the number of arguments, or -1 for an unknown conversion.
    std::int32_t run(std::string* out) {
        std::int32_t count = 0;
        while (*at_ != '\0') {
            if (*at_ != '%') {
                const std::size_t plain = std::strcspn(at_, "%");
                out->append(at_, plain);
                at_ += plain;
            } else if (at_[1] == '%') {
                out->push_back('%');
                at_ += 2;
            } else {
                if (!convert(out, &count)) return -1;
            }
        }
        return count;
    }

  private:
    template <class T>
    T take() {
        offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T value;
        std::memcpy(&value, args_ + offset_, sizeof value);
        offset_ += sizeof value;
        return value;
    }

    bool convert(std::string* out, std::int32_t* count) {
        const std::size_t flags = 1 + std::strspn(at_ + 1, "-+ #0123456789.*");
        std::string spec;
        for (const char* c = at_; c != at_ + flags; ++c) {
            if (*c == '*') {  // a width or precision from the arguments
                spec += std::to_string(take<std::int32_t>());
                ++*count;
            } else {
                spec += *c;
            }
        }
        at_ += flags;
        const std::size_t length = std::strspn(at_, "hlLqjzt");
        const bool wide = std::memchr(at_, 'l', length) != nullptr ||
                          std::strpbrk(std::string(at_, length).c_str(), "qjzt") != nullptr;
        at_ += length;
        const char kind = *at_;
        if (kind == '\0') return false;
        ++at_;
        ++*count;
        switch (kind) {
            case 'd':
            case 'i':
                return wide ? put(out, spec + PRId64, take<std::int64_t>())
                            : put(out, spec + "d", take<std::int32_t>());
            case 'u':
            case 'o':
            case 'x':
            case 'X':
                return wide ? put(out, spec + "l" + kind, static_cast<unsigned long>(take<std::uint64_t>()))
                            : put(out, spec + kind, take<std::uint32_t>());
            case 'c':
                return put(out, spec + "c", take<std::int32_t>());
            case 'e':
            case 'E':
            case 'f':
            case 'F':
            case 'g':
            case 'G':
            case 'a':
            case 'A':
                return put(out, spec + kind, take<double>());
            case 's': {
                const char* text = take<const char*>();
                return put(out, spec + "s", text != nullptr ? text : "(null)");
            }
            case 'p':
                return put(out, spec + "p", take<const void*>());
            default:
                return false;
        }
    }

    template <class T>
    static bool put(std::string* out, const std::string& spec, T value) {
        const int length = std::snprintf(nullptr, 0, spec.c_str(), value);
        if (length < 0) return false;
        std::string text(static_cast<std::size_t>(length) + 1, '\0');
        std::snprintf(text.data(), text.size(), spec.c_str(), value);
        out->append(text.data(), static_cast<std::size_t>(length));
        return true;
    }

    const char* at_;
    const std::byte* args_;
    std::size_t offset_ = 0;
};

std::int32_t print(const char* format, const void* args) {
    if (format == nullptr) return -1;
    std::string text;
    const std::int32_t count = Formatter(format, args).run(&text);
    // A single write keeps lines of parallel blocks from mixing.
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
    return count;
}

void assert_fail(const char* message, const char* file, std::uint32_t line, const char* function,
                 const std::uint32_t block[3], const std::uint32_t thread[3]) {
    std::fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n", file, line,
                 function, block[0], block[1], block[2], thread[0], thread[1], thread[2], message);
    raise_fault(CUDA_ERROR_ASSERT);
}

void trap() {
    raise_fault(CUDA_ERROR_LAUNCH_FAILED);
}

void* scratch(std::size_t bytes) {
    ThreadStore& store = thread_store();
    if (bytes > store.scratch_bytes) {
        store.scratch.reset();
        store.scratch_bytes = 0;
        store.scratch = allocate_aligned(bytes);
        store.scratch_bytes = bytes;
    }
    return store.scratch.get();
}

std::uint64_t clock64() {
    return ticks();
}
std::uint64_t globaltimer() {
    return static_cast<std::uint64_t>(steady_nanoseconds());
}

void* allocate(std::uint64_t bytes) {
    return thread_state.kernel_context->allocate_in_kernel(bytes);
}

void note_bad_free(const void* address) {
    char text[96];
    std::snprintf(text, sizeof text, "a kernel called free(%p), but malloc in a kernel did not return this address",
                  address);
    Log::get().error(text);
}

void release(void* address) {
    if (address == nullptr || thread_state.kernel_context->heap().release(address)) return;
    note_bad_free(address);
    raise_fault(CUDA_ERROR_LAUNCH_FAILED);
}

// The system wakes a thread about 60 us late, so the last 100 us are spent yielding instead of sleeping. PTX ISA,
// nanosleep: "The maximum sleep duration is 1 millisecond."
void sleep_until(std::uint64_t nanoseconds) {
    constexpr std::int64_t kMost = 1'000'000, kLate = 100'000;
    const std::int64_t now = steady_nanoseconds();
    const std::int64_t end = std::min(static_cast<std::int64_t>(nanoseconds), now + kMost);
    if (end - now > kLate) std::this_thread::sleep_for(std::chrono::nanoseconds(end - now - kLate));
    while (steady_nanoseconds() < end) std::this_thread::yield();
}

}  // namespace

void set_conditional_hook(SetConditional hook) {
    conditional_hook.store(hook, std::memory_order_release);
}

void raise_fault(CUresult code) {
    thread_state.fault->code = code;
    _longjmp(thread_state.fault->target, 1);
}

}  // namespace cgh

CGH_API const cgh_services* cghGetServices(void) {
    const std::uint64_t wants = (cgh::settings.any() ? std::uint64_t{CGH_WANTS_ACCESSES} : 0) |
                                (cgh::settings.random_order ? std::uint64_t{CGH_WANTS_ORDER} : 0) |
                                (cgh::settings.fast_math ? std::uint64_t{CGH_WANTS_FAST} : 0);
    static const cgh_services services{cgh::set_conditional,
                                       cgh::print,
                                       cgh::assert_fail,
                                       cgh::trap,
                                       cgh::scratch,
                                       cgh::clock64,
                                       cgh::globaltimer,
                                       cgh::check_access,
                                       cgh::draw_thread_order,
                                       cgh::allocate,
                                       cgh::release,
                                       cgh::sleep_until,
                                       cgh::share_loop,
                                       cgh::collect,
                                       wants};
    return &services;
}
