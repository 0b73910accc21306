// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The records of an event that processes share: a page of memory that all of them see. Records are numbered, whoever
// makes them; the latest is the event's. For each of the last ones it says whether it was reached and by which process,
// so that nobody waits for a process that has ended.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_SHARED_RECORDS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_SHARED_RECORDS_HPP

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "shared_file.hpp"

namespace cgh {

class SharedRecords {
  public:
    static CUresult make(std::shared_ptr<SharedRecords>* out);
    static CUresult open(const CUipcEventHandle& handle, std::shared_ptr<SharedRecords>* out);
    SharedRecords(const SharedRecords&) = delete;
    SharedRecords& operator=(const SharedRecords&) = delete;
    ~SharedRecords();

    CUipcEventHandle handle() const;
    bool is_opened() const { return opened_; }  // it is another process's

    std::uint64_t latest() const;  // 0: there is none
    std::uint64_t begin();         // a further one
    void reach(std::uint64_t record);
    bool is_reached(std::uint64_t record) const;  // or will never be, for its process has ended

  private:
    struct Page;
    SharedRecords(SharedFile file, Page* page, bool opened) : file_(std::move(file)), page_(page), opened_(opened) {}

    const SharedFile file_;
    Page* const page_;
    const bool opened_;
};

}  // namespace cgh

#endif
