// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
//
// What becomes of the work that callers hand to a stream. Every stream has an intake at any time; an entry point
// looks up the stream and hands the work on, without asking whether the stream is in a capture:
//
//     run_intake      queues it                                        exec/run_intake.cpp
//     record_intake   a stream in a capture: makes graph nodes of it   objects/record_intake.cpp
//     barred_intake   the legacy default stream while a blocking stream of its context is in a capture: refuses it
//
// Intakes have no state, so that a call that comes while a capture begins or ends meets nothing that is gone.
#ifndef CUDA_GRAPHS_HOSTDRIVER_OBJECTS_INTAKE_HPP
#define CUDA_GRAPHS_HOSTDRIVER_OBJECTS_INTAKE_HPP

#include <cuda.h>

#include <cstddef>

#include "../exec/copy.hpp"

namespace cgh {

class Event;
class GraphExec;
class Kernel;
class MemoryPool;
class Stream;
struct LaunchShape;

struct KernelRequest {
    Kernel& kernel;
    const LaunchShape& shape;
    void** params;
    void** extra;
    const CUlaunchAttribute* attributes;  // already applied to the shape
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

    // The same as a copy between devices, each of which has access to its own side.
    CopyRequest between_devices() const {
        CopyRequest request = *this;
        request.between_devices_ = true;
        return request;
    }

    // `device`: of the stream.
    CUresult make(CUdevice device, Copy* out) const {
        if (between_devices_) device = kEveryDevice;
        if (solid_ != nullptr) return Copy::make(*solid_, device, out);
        if (plane_ != nullptr) return Copy::make(*plane_, device, out);
        return Copy::make(dst_type_, dst_, src_type_, src_, bytes_, device, out);
    }
    CUDA_MEMCPY3D described() const;
    bool is_peer() const { return peer_; }  // of cuMemcpyPeer

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

// Whether the call returns before the work is done, where the CUDA driver API's page "API synchronization behavior"
// leaves that to the form of the call.
enum class Wait : bool { kNo, kYes };

// Whether an event record or wait is meant for the world outside of the capture (CU_EVENT_RECORD_EXTERNAL,
// CU_EVENT_WAIT_EXTERNAL).
enum class External : bool { kNo, kYes };

// A question about a stream. Those that a stream in a capture may not be asked invalidate the capture.
enum class Inspection : bool { kAllowed, kForbidden };

class Intake {
  public:
    // What the call answers whose arguments were refused with `why` before any work was made of them.
    virtual CUresult refuse(Stream& stream, CUresult why) const = 0;
    virtual CUresult inspect(Stream& stream, Inspection inspection) const = 0;
    virtual CUresult kernel(Stream& stream, const KernelRequest& request) const = 0;
    virtual CUresult copy(Stream& stream, const CopyRequest& request, Wait wait) const = 0;
    virtual CUresult fill(Stream& stream, const FillRequest& request, Wait wait) const = 0;
    virtual CUresult memory_operations(Stream& stream, const BatchRequest& request) const = 0;
    virtual CUresult host_function(Stream& stream, CUhostFn function, void* data) const = 0;
    virtual CUresult record(Stream& stream, Event& event, External external) const = 0;
    virtual CUresult wait(Stream& stream, Event* event, External external) const = 0;  // null: of a dead handle
    virtual CUresult allocate(Stream& stream, MemoryPool& pool, std::size_t bytes, CUdeviceptr* out) const = 0;
    virtual CUresult free(Stream& stream, CUdeviceptr address) const = 0;
    virtual CUresult graph(Stream& stream, GraphExec* exec) const = 0;   // the same
    virtual CUresult upload(Stream& stream, GraphExec* exec) const = 0;  // the same
    virtual CUresult synchronize(Stream& stream) const = 0;
    virtual CUresult query(Stream& stream) const = 0;

  protected:
    ~Intake() = default;
};

// What a call answers whose arguments were refused before its stream was looked up.
CUresult refuse_work(CUstream stream, CUresult why);

const Intake& run_intake();
const Intake& record_intake();
const Intake& barred_intake();

}  // namespace cgh

#endif
