// SPDX-FileCopyrightText: 2026 The cuda_graphs authors
// SPDX-License-Identifier: Apache-2.0
#include "access.hpp"

#include <cstddef>
#include <cstring>
#include <utility>

#include "graph_memory.hpp"
#include "node_spec.hpp"

namespace cg {

namespace {

class Description {
  public:
    Description(const NodeSpec& spec, NodeAccesses& accesses) : spec_(spec), accesses_(accesses) {}

    // Memory of a place has the addresses of its stand-in in all accesses.
    void add(Span span, AccessMode mode, Accessed what = Accessed::kMemory) {
        if (what == Accessed::kMemory && span.parameter.empty()) span.start = stand_in_of(span.start);
        if (span.run != 0) accesses_.all.push_back({std::move(span), mode, what});
    }

    void add_handle(std::uint64_t handle, AccessMode mode, Accessed what) { add(Span(handle, 1), mode, what); }

    void add_event(CUevent event, AccessMode mode) {
        add_handle(reinterpret_cast<std::uintptr_t>(event), mode, Accessed::kEvent);
    }

    void add_declared(const DeclaredAccesses& declared) {
        for (const Span& span : declared.reads) add(span, AccessMode::kRead);
        for (const Span& span : declared.writes) add(span, AccessMode::kWrite);
    }

    void add_fill() {
        const CUDA_MEMSET_NODE_PARAMS_v2& fill = spec_.params.memset;
        Span span(fill.dst, fill.width * fill.elementSize);
        span.repeat(fill.height, fill.pitch);
        if (fill.height != 0) add_operand(std::move(span), Field::kDestination, AccessMode::kWrite);
    }

    void add_copy() {
        const CUDA_MEMCPY3D& copy = spec_.params.memcpy.copyParams;
        if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return;
        const auto side = [&](CUdeviceptr start, std::size_t pitch, std::size_t rows, std::size_t x, std::size_t y,
                              std::size_t z) {
            Span span(start + (z * rows + y) * pitch + x, copy.WidthInBytes);
            span.repeat(copy.Height, pitch);
            span.repeat(copy.Depth, pitch * rows);
            return span;
        };
        add_operand(side(destination_of(copy), copy.dstPitch, copy.dstHeight, copy.dstXInBytes, copy.dstY, copy.dstZ),
                    Field::kDestination, AccessMode::kWrite);
        add_operand(side(source_of(copy), copy.srcPitch, copy.srcHeight, copy.srcXInBytes, copy.srcY, copy.srcZ),
                    Field::kSource, AccessMode::kRead);
    }

    void add_freed() {
        CUdeviceptr start = 0, end = 0;
        note(find_memory_range(spec_.params.free.dptr, &start, &end));
        add(Span(spec_.params.free.dptr, end != 0 ? end - spec_.params.free.dptr : 1), AccessMode::kWrite);
    }

    // Adds the memory that the arguments of a kernel point into: each word of 8 bytes may be an address. Other code may
    // have packed the arguments (`extra` of cuda.h). The driver then reports no addresses of arguments.
    void add_reachable(const std::vector<Parameter>& parameters) {
        if (!parameters.empty() && spec_.params.kernel.kernelParams == nullptr) {
            accesses_.is_unknown = accesses_.is_barrier = true;
            return;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const AccessMode mode = parameters[i].type.is_read_only ? AccessMode::kMayRead : AccessMode::kUnknown;
            if (const ParameterUse* use = find_use(Field::kArgument, static_cast<unsigned>(i))) {
                if (use->word == 0 && use->parameter->type.is_memory()) add_possible(parameter_memory(*use), mode);
                continue;
            }
            const auto* bytes = static_cast<const char*>(spec_.params.kernel.kernelParams[i]);
            for (std::size_t at = 0; at + sizeof(CUdeviceptr) <= parameters[i].size; at += sizeof(CUdeviceptr)) {
                CUdeviceptr word = 0;
                std::memcpy(&word, bytes + at, sizeof word);
                add_allocation(word, mode);
            }
        }
    }

    CUresult status() const noexcept { return status_; }

  private:
    const ParameterUse* find_use(Field field, unsigned argument = 0) const noexcept {
        for (const ParameterUse& use : spec_.uses)
            if (use.field == field && use.argument == argument) return &use;
        return nullptr;
    }

    static Span parameter_memory(const ParameterUse& use) {
        Span span(0, kWhole);
        span.parameter = use.parameter->name;
        return span;
    }

    void add_operand(Span span, Field field, AccessMode mode) {
        const bool is_sized_at_launch = find_use(Field::kExtent) != nullptr || find_use(Field::kBytes) != nullptr;
        if (const ParameterUse* use = find_use(field)) {
            span.start = 0;
            span.parameter = use->parameter->name;
            if (is_sized_at_launch) span.run = kWhole;
        } else if (is_sized_at_launch) {
            CUdeviceptr start = 0, end = 0;
            note(find_memory_range(span.start, &start, &end));
            if (end != 0) span.run = end - span.start;
        }
        add(std::move(span), mode);
    }

    void add_possible(Span span, AccessMode mode) {
        add(std::move(span), mode);
        accesses_.is_unknown = true;
    }

    void add_allocation(CUdeviceptr address, AccessMode mode) {
        CUdeviceptr start = 0, end = 0;
        if (address != 0) note(find_memory_range(address, &start, &end));
        if (end != 0) add_possible(Span(start, end - start), mode);
    }

    void note(CUresult status) noexcept {
        if (status_ == CUDA_SUCCESS) status_ = status;
    }

    const NodeSpec& spec_;
    NodeAccesses& accesses_;
    CUresult status_ = CUDA_SUCCESS;
};

}  // namespace

CUresult add_accesses(const NodeSpec& spec, const DeclaredAccesses* declared, const std::vector<Parameter>* parameters,
                      NodeAccesses& accesses) {
    Description found(spec, accesses);
    const bool is_declared = declared != nullptr && declared->is_known;
    if (is_declared) found.add_declared(*declared);
    if (declared != nullptr)
        for (const CUgraphConditionalHandle condition : declared->conditions)
            found.add_handle(condition, AccessMode::kWrite, Accessed::kCondition);
    switch (spec.kind) {
        case NodeKind::kKernel:
            if (!is_declared) found.add_reachable(*parameters);
            break;
        case NodeKind::kHost:
            accesses.is_unknown |= !is_declared;
            accesses.is_barrier |= !is_declared;
            break;
        case NodeKind::kMemset:
            found.add_fill();
            break;
        case NodeKind::kMemcpy:
            found.add_copy();
            break;
        case NodeKind::kAlloc:
            found.add(Span(spec.params.alloc.dptr, spec.params.alloc.bytesize), AccessMode::kWrite);
            break;
        case NodeKind::kFree:
            found.add_freed();
            break;
        case NodeKind::kEventRecord:
            found.add_event(spec.params.eventRecord.event, AccessMode::kWrite);
            accesses.is_barrier = true;
            break;
        case NodeKind::kEventWait:
            found.add_event(spec.params.eventWait.event, AccessMode::kRead);
            accesses.is_barrier = true;
            break;
        case NodeKind::kIf:
        case NodeKind::kIfElse:
        case NodeKind::kWhile:
        case NodeKind::kSwitch:
            found.add_handle(spec.params.conditional.handle, AccessMode::kRead, Accessed::kCondition);
            break;
        case NodeKind::kConditional:
        case NodeKind::kOther:
            accesses.is_unknown = accesses.is_barrier = true;
            break;
        case NodeKind::kEntry:
        case NodeKind::kEmpty:
        case NodeKind::kChild:
            break;
    }
    return found.status();
}

}  // namespace cg
