# SPDX-FileCopyrightText: 2026 The cuda_graphs authors
# SPDX-License-Identifier: Apache-2.0
"""The block record (abi.BLOCK), and the loop over a range of blocks.

A function that runs blocks consists of these parts: begin, IR that fills the record, blocks_begin, IR that runs the
threads, blocks_end.

    blocks(run, entry arguments)      for every block: run(launch, params, shared, block, ctaid.x .. ctaid.z)
"""

from cuda_graphs.hostdriver.ptx.abi import BLOCK, BLOCK_BYTES, INVARIANT, LAUNCH

ARGUMENTS = "ptr %launch, ptr %params, ptr %shared, i64 %first, i64 %end"
RUN_ARGUMENTS = "ptr %block, i32 %ctaid.x, i32 %ctaid.y, i32 %ctaid.z"


def set_field(name: str, value: str) -> str:
    offset, kind = BLOCK[name]
    return (
        f"  %set.{name} = getelementptr i8, ptr %block, i64 {offset}\n  store {kind} {value}, ptr %set.{name}"
    )


def get_field(name: str) -> str:
    offset, kind = BLOCK[name]
    return (
        f"  %at.{name} = getelementptr i8, ptr %block, i64 {offset}\n  %{name} = load {kind}, ptr %at.{name}"
    )


def launch_fields() -> str:
    lines = []
    for name, offset in LAUNCH.items():
        if name != "dynamic_smem_size":
            lines.append(f"  %at.{name} = getelementptr i8, ptr %launch, i64 {offset}")
            lines.append(f"  %{name} = load i32, ptr %at.{name}, {INVARIANT}")
    return "\n".join(lines)


def begin() -> str:
    return f"""entry:
  %block = alloca [{BLOCK_BYTES} x i8], align 16
  %frame = call ptr @llvm.frameaddress.p0(i32 0)
{set_field("frame", "%frame")}
{launch_fields()}
  %nothing = icmp uge i64 %first, %end
  br i1 %nothing, label %done, label %start
start:"""


def blocks_begin() -> str:
    return """  %from.zero = icmp eq i64 %first, 0
  br i1 %from.zero, label %block.begin, label %divide
divide:
  %gx = zext i32 %nctaid.x to i64
  %gy = zext i32 %nctaid.y to i64
  %fx = urem i64 %first, %gx
  %q = udiv i64 %first, %gx
  %fy = urem i64 %q, %gy
  %fz = udiv i64 %q, %gy
  %fx32 = trunc i64 %fx to i32
  %fy32 = trunc i64 %fy to i32
  %fz32 = trunc i64 %fz to i32
  br label %block.begin
block.begin:
  %index = phi i64 [ %first, %start ], [ %first, %divide ], [ %next.index, %block.next ]
  %ctaid.x = phi i32 [ 0, %start ], [ %fx32, %divide ], [ %new.x, %block.next ]
  %ctaid.y = phi i32 [ 0, %start ], [ %fy32, %divide ], [ %new.y, %block.next ]
  %ctaid.z = phi i32 [ 0, %start ], [ %fz32, %divide ], [ %new.z, %block.next ]"""


def blocks_end() -> str:
    return """block.end:
  %next.index = add nuw i64 %index, 1
  %last = icmp uge i64 %next.index, %end
  br i1 %last, label %done, label %block.next
block.next:
  %plus.x = add i32 %ctaid.x, 1
  %wrap.x = icmp eq i32 %plus.x, %nctaid.x
  %new.x = select i1 %wrap.x, i32 0, i32 %plus.x
  %carry.y = zext i1 %wrap.x to i32
  %plus.y = add i32 %ctaid.y, %carry.y
  %wrap.y = icmp eq i32 %plus.y, %nctaid.y
  %new.y = select i1 %wrap.y, i32 0, i32 %plus.y
  %carry.z = zext i1 %wrap.y to i32
  %new.z = add i32 %ctaid.z, %carry.z
  br label %block.begin
done:
  ret void
}"""


def text() -> str:
    return f"""
define internal void @blocks(ptr %run, {ARGUMENTS}) noinline nounwind {{
{begin()}
{set_field("arena", "null")}
{set_field("stride", "0")}
{blocks_begin()}
  call void %run(ptr %launch, ptr %params, ptr %shared, {RUN_ARGUMENTS})
  br label %block.end
{blocks_end()}
"""
