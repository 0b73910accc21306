// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The driver's log: what it has to say of errors in words, which so far is why an image is refused. The latest messages
// are kept, and told to whoever registered for them.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_LOG_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_LOG_HPP

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

    // The number of the next message, and the messages from a number on, one a line. `*from` moves to the next.
    unsigned next() const;
    std::vector<std::string> since(unsigned from, unsigned* next) const;

  private:
    mutable std::mutex mutex_;  // guards what is below; not held while callbacks run
    std::deque<std::string> lines_;
    unsigned first_ = 0;  // the number of the first that is kept
    std::vector<std::shared_ptr<Callback>> callbacks_;
};

}  // namespace cgh

#endif
