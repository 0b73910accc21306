// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "hostdriver/objects/graphs/user_object.hpp"

#include "hostdriver/execution/thread_state.hpp"
#include "hostdriver/objects/base/arena.hpp"

namespace cgh {

bool UserObject::release(uint32_t count) {
    int64_t before = references_.load(std::memory_order_relaxed);
    do {
        if (before < static_cast<int64_t>(count)) return false;
    } while (!references_.compare_exchange_weak(before, before - count, std::memory_order_acq_rel));
    if (before != static_cast<int64_t>(count)) return true;

    void* const payload = payload_;
    CUhostFn const destructor = destructor_;
    arena<UserObject>.recycle(this);  // comes first, so the handle is dead before the destructor runs
    CallbackScope no_cuda_calls;
    destructor(payload);
    return true;
}

UserObjectRefs::UserObjectRefs(const UserObjectRefs& other) : entries_(other.entries_) {
    for (const Entry& entry : entries_) entry.object->retain(entry.count);
}

UserObjectRefs::~UserObjectRefs() {
    for (const Entry& entry : entries_) entry.object->release(entry.count);
}

void UserObjectRefs::release(UserObject* object, uint32_t count) {
    uint32_t left = count;
    for (size_t i = entries_.size(); i-- > 0 && left > 0;) {
        if (entries_[i].object != object) continue;
        const uint32_t taken = entries_[i].count < left ? entries_[i].count : left;
        left -= taken;
        entries_[i].count -= taken;
        if (entries_[i].count == 0) entries_.erase(entries_.begin() + static_cast<ptrdiff_t>(i));
    }
    if (count != left) object->release(count - left);
}

void UserObjectRefs::add(const UserObjectRefs& other) {
    for (const Entry& entry : other.entries_) {
        entry.object->retain(entry.count);
        entries_.push_back(entry);
    }
}

}  // namespace cgh
