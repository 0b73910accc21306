// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams. Streams that this library created are destroyed with their last handle; queued work still runs
// (cuStreamDestroy). The two default streams and streams of foreign code are borrowed. The box of a stream holds its
// context.
#ifndef CUDA_GRAPHS_CORE_RESOURCES_STREAM_HPP
#define CUDA_GRAPHS_CORE_RESOURCES_STREAM_HPP

#include <atomic>
#include <cstdint>

#include "context.hpp"

namespace cg {

struct CaptureBox;

struct StreamBox {
    CUstream raw = nullptr;
    bool owned = false;
    ContextHandle context;                      // empty for the default streams, which use the current context
    Opaque owner;                               // owner that destroys a borrowed stream
    std::atomic<CaptureBox*> capture{nullptr};  // capture that the stream takes part in (capture.hpp); set with the GIL
    // Last launch of this library on the stream, for messages: the name of a kernel (KernelBox::name), a CUgraphExec
    // plus 1, or 0.
    std::atomic<std::uintptr_t> last_launch{0};
    Counted<Kind::kStream> counted;
    bool finish() noexcept;
};

using StreamHandle = HandleTo<StreamBox>;

inline void note_launch(const StreamHandle& stream, CUgraphExec graph) noexcept {
    box_of<StreamBox>(stream)->last_launch.store(reinterpret_cast<std::uintptr_t>(graph) + 1,
                                                 std::memory_order_relaxed);
}

StreamHandle create_stream(const ContextHandle& context, unsigned flags, int priority);

// Returns the existing handle of a raw stream if there is one, else a borrowed stream. The raw values 0, 1 and 2 mean
// the default streams.
StreamHandle create_stream_ref(CUstream raw);

// Returns a stream borrowed from `owner`, which lives as long as the handle. It is not registered: several owners may
// wrap one raw value.
StreamHandle create_stream_with_owner(CUstream raw, Opaque owner);

// may_be_captured() returns true when the stream's work may be part of an active capture of this library, which is
// rare. `active_captures` is the number of these captures.
extern std::atomic<int> active_captures;
inline bool may_be_captured(const StreamHandle& stream) noexcept {
    return active_captures.load(std::memory_order_relaxed) != 0 || box_of<StreamBox>(stream)->capture != nullptr;
}

}  // namespace cg

#endif
