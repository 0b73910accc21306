// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The records of an event that processes share, in a memory page that all of them map. Records of all processes are
// numbered together, and the latest is the event's current record. For each of the last records the page stores the
// recording process and whether the record was reached. No process waits for a record of a process that has ended.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_SHARED_RECORDS_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_SHARED_RECORDS_HPP

#include <cuda.h>

#include <cstdint>
#include <memory>

#include "hostdriver/objects/memory/shared_file.hpp"

namespace cgh {

class SharedRecords {
  public:
    static CUresult make(std::shared_ptr<SharedRecords>* out);
    static CUresult open(const CUipcEventHandle& handle, std::shared_ptr<SharedRecords>* out);
    SharedRecords(const SharedRecords&) = delete;
    SharedRecords& operator=(const SharedRecords&) = delete;
    ~SharedRecords();

    CUipcEventHandle handle() const;
    bool is_opened() const { return opened_; }  // the event of another process

    std::uint64_t latest() const;  // number of the latest record; 0 without a record
    std::uint64_t begin();         // adds a record and returns its number
    void reach(std::uint64_t record);
    bool is_reached(std::uint64_t record) const;  // also true if its process has ended

  private:
    struct Page;
    SharedRecords(SharedFile file, Page* page, bool opened) : file_(std::move(file)), page_(page), opened_(opened) {}

    const SharedFile file_;
    Page* const page_;
    const bool opened_;
};

}  // namespace cgh

#endif
