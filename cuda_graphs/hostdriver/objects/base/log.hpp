// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's log of error messages: why an image was rejected, and invalid free calls of kernels. It keeps the latest
// messages and passes each message to the registered callbacks.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_LOG_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_BASE_LOG_HPP

#include <cuda.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cgh {

class Log {
  public:
    static Log& get();

    void error(const std::string& message);

    struct Callback {
        CUlogsCallback function;
        void* data;
    };
    Callback* add(CUlogsCallback function, void* data);
    bool remove(const Callback* callback);

    // next() returns the number of the next message. since() returns the messages from number `from` on and writes the
    // number of the next message to `next`.
    unsigned next() const;
    std::vector<std::string> since(unsigned from, unsigned* next) const;

  private:
    mutable std::mutex mutex_;  // guards the fields below; not held while callbacks run
    std::deque<std::string> lines_;
    unsigned first_ = 0;  // number of the oldest message in lines_
    std::vector<std::shared_ptr<Callback>> callbacks_;
};

}  // namespace cgh

#endif
