// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/base/log.hpp"

#include <algorithm>

namespace cgh {
namespace {

constexpr std::size_t kKept = 100;  // number of messages kept

}  // namespace

Log& Log::get() {
    static auto* const log = new Log;
    return *log;
}

void Log::error(const std::string& message) {
    std::vector<std::shared_ptr<Callback>> receivers;
    std::string line = message;
    std::replace(line.begin(), line.end(), '\n', ' ');
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        lines_.push_back(line);
        if (lines_.size() > kKept) {
            lines_.pop_front();
            ++first_;
        }
        receivers = callbacks_;
    }
    for (const auto& callback : receivers)
        callback->function(callback->data, CU_LOG_LEVEL_ERROR, line.data(), line.size());
}

Log::Callback* Log::add(CUlogsCallback function, void* data) {
    const std::lock_guard<std::mutex> lock(mutex_);
    callbacks_.push_back(std::make_shared<Callback>(Callback{function, data}));
    return callbacks_.back().get();
}

bool Log::remove(const Callback* callback) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = std::find_if(callbacks_.begin(), callbacks_.end(),
                                    [callback](const auto& one) { return one.get() == callback; });
    if (found == callbacks_.end()) return false;
    callbacks_.erase(found);
    return true;
}

unsigned Log::next() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return first_ + static_cast<unsigned>(lines_.size());
}

std::vector<std::string> Log::since(unsigned from, unsigned* next) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    *next = first_ + static_cast<unsigned>(lines_.size());
    std::vector<std::string> found;
    for (unsigned number = std::max(from, first_); number < *next; ++number) found.push_back(lines_[number - first_]);
    return found;
}

}  // namespace cgh
