// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// Streams. Ours are destroyed with their last handle (work that was queued still runs, cuStreamDestroy); the two
// default streams and streams of others are borrowed. A stream's box holds its context.
#ifndef CUDA_GRAPHS_HANDLES_STREAM_HPP
#define CUDA_GRAPHS_HANDLES_STREAM_HPP

#include <atomic>

#include "context.hpp"

namespace cg {

struct CaptureBox;

struct StreamBox {
    CUstream raw = nullptr;
    bool owned = false;
    ContextHandle context;                      // empty for the default streams, which mean the context that is current
    Opaque owner;                               // whoever else destroys the stream
    std::atomic<CaptureBox*> capture{nullptr};  // that a builder has it take part in (capture.hpp); set with the GIL
    Counted<Kind::kStream> counted;
    bool finish() noexcept;
};

using StreamHandle = HandleTo<StreamBox>;

StreamHandle create_stream(const ContextHandle& context, unsigned flags, int priority);

// Ours if the raw value is one of ours, else borrowed. The raw values 0, 1 and 2 mean the default streams.
StreamHandle create_stream_ref(CUstream raw);

// Borrowed from `owner`, which lives as long. Not registered: several owners may wrap one raw value.
StreamHandle create_stream_with_owner(CUstream raw, Opaque owner);

}  // namespace cg

#endif
