// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// The handling of work that callers push to a stream. Every stream has an intake at any time. An entry point looks up
// the stream and passes the work to its intake, without checking for a capture:
//
//     run_intake        pushes the work to the stream's queue (hostdriver/execution/run_intake.cpp)
//     record_intake     adds the work to the graph of the stream's capture
//     (hostdriver/objects/streams/record_intake.cpp) rejecting_intake  rejects the work: for the legacy default stream
//     while a blocking stream of its context is in a
//                       capture (hostdriver/objects/streams/record_intake.cpp)
//
// Intakes have no state, so a call may run while a capture begins or ends in another thread.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_INTAKE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_STREAMS_INTAKE_HPP

#include <cuda.h>

#include <cstddef>

#include "hostdriver/execution/copy.hpp"

namespace cgh {

class Event;
class GraphExec;
class Kernel;
class MemoryPool;
class Stream;
class WaitLimit;
struct LaunchShape;

struct KernelRequest {
    Kernel& kernel;
    const LaunchShape& shape;
    void** params;
    void** extra;
    const CUlaunchAttribute* attributes;  // already included in `shape`
    unsigned attribute_count;
};

// A copy as the caller described it.
class CopyRequest {
  public:
    CopyRequest(CUmemorytype dst_type, void* dst, CUmemorytype src_type, const void* src, std::size_t bytes)
        : dst_type_(dst_type), src_type_(src_type), dst_(dst), src_(src), bytes_(bytes) {}
    CopyRequest(CUdeviceptr dst, CUcontext dst_context, CUdeviceptr src, CUcontext src_context, std::size_t bytes);
    explicit CopyRequest(const CUDA_MEMCPY2D& plane) : plane_(&plane) {}
    explicit CopyRequest(const CUDA_MEMCPY3D& solid) : solid_(&solid) {}

    // Returns the same copy as a copy between devices, each of which has access to its own side.
    CopyRequest between_devices() const {
        CopyRequest request = *this;
        request.between_devices_ = true;
        return request;
    }

    // Makes the copy. `device` is the stream's device.
    CUresult make(CUdevice device, Copy* out) const {
        if (between_devices_) device = kEveryDevice;
        if (solid_ != nullptr) return Copy::make(*solid_, device, out);
        if (plane_ != nullptr) return Copy::make(*plane_, device, out);
        return Copy::make(dst_type_, dst_, src_type_, src_, bytes_, device, out);
    }
    CUDA_MEMCPY3D described() const;
    bool is_peer() const { return peer_; }  // true for cuMemcpyPeer

  private:
    const CUDA_MEMCPY2D* plane_ = nullptr;
    const CUDA_MEMCPY3D* solid_ = nullptr;
    CUmemorytype dst_type_ = CU_MEMORYTYPE_UNIFIED, src_type_ = CU_MEMORYTYPE_UNIFIED;
    void* dst_ = nullptr;
    const void* src_ = nullptr;
    std::size_t bytes_ = 0;
    bool peer_ = false;
    bool between_devices_ = false;
};

struct FillRequest {
    CUdeviceptr dst;
    std::size_t pitch;
    unsigned value;
    unsigned element_size;
    std::size_t width;
    std::size_t height;
};

struct BatchRequest {
    const CUstreamBatchMemOpParams* operations;
    unsigned count;
    unsigned flags;
};

// kYes if the call waits until the work is done. The CUDA driver API's page "API synchronization behavior" lists the
// calls for which the form of the call decides.
enum class Wait : bool { kNo, kYes };

// kYes if an event record or wait refers to work outside the capture (CU_EVENT_RECORD_EXTERNAL,
// CU_EVENT_WAIT_EXTERNAL).
enum class External : bool { kNo, kYes };

// The kind of a query of a stream. A query that is forbidden during a capture invalidates the capture.
enum class Inspection : bool { kAllowed, kForbidden };

class Intake {
  public:
    // Returns the error of a call whose arguments were rejected with `why` before any work was created.
    virtual CUresult refuse(Stream& stream, CUresult why) const = 0;
    virtual CUresult inspect(Stream& stream, Inspection inspection) const = 0;
    virtual CUresult kernel(Stream& stream, const KernelRequest& request) const = 0;
    virtual CUresult copy(Stream& stream, const CopyRequest& request, Wait wait) const = 0;
    virtual CUresult fill(Stream& stream, const FillRequest& request, Wait wait) const = 0;
    virtual CUresult memory_operations(Stream& stream, const BatchRequest& request) const = 0;
    virtual CUresult host_function(Stream& stream, CUhostFn function, void* data) const = 0;
    virtual CUresult record(Stream& stream, Event& event, External external) const = 0;
    virtual CUresult wait(Stream& stream, Event* event, External external) const = 0;  // null for a dead handle
    virtual CUresult allocate(Stream& stream, MemoryPool& pool, std::size_t bytes, CUdeviceptr* out) const = 0;
    virtual CUresult free(Stream& stream, CUdeviceptr address) const = 0;
    virtual CUresult graph(Stream& stream, GraphExec* exec) const = 0;         // null for a dead handle
    virtual CUresult upload(Stream& stream, GraphExec* exec) const = 0;        // null for a dead handle
    virtual CUresult synchronize(Stream& stream, WaitLimit* limit) const = 0;  // limit: null for none
    virtual CUresult query(Stream& stream) const = 0;

  protected:
    ~Intake() = default;
};

// Returns the error of a call whose arguments were rejected with `why` before its stream was looked up.
CUresult refuse_work(CUstream stream, CUresult why);

const Intake& run_intake();
const Intake& record_intake();
const Intake& rejecting_intake();

}  // namespace cgh

#endif
