# From the lead: a working proof that LLVM 22 coroutines lower through llvmlite's O3 new-PM pipeline (2.3 ns a switch). Note: coro.end returns void in LLVM 22. Not to be committed.
import llvmlite.binding as llvm, ctypes, time
llvm.initialize_native_target(); llvm.initialize_native_asmprinter()
ir = r'''
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare void @llvm.coro.end(ptr, i1, token)
declare void @llvm.coro.resume(ptr)
declare i1 @llvm.coro.done(ptr)

define internal ptr @thread(ptr %out, ptr %shared, i32 %tid, i32 %n, ptr %bump) presplitcoroutine {
entry:
  %id = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  %cur = load ptr, ptr %bump
  %al = add i64 %size, 63
  %al2 = and i64 %al, -64
  %next = getelementptr i8, ptr %cur, i64 %al2
  store ptr %next, ptr %bump
  %h = call ptr @llvm.coro.begin(token %id, ptr %cur)
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%i1, %resumed]
  %p = getelementptr i32, ptr %shared, i32 %tid
  %v0 = add i32 %i, %tid
  store i32 %v0, ptr %p
  %s = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %s, label %suspend [i8 0, label %resumed i8 1, label %cleanup]
resumed:
  %t1 = add i32 %tid, 1
  %t2 = and i32 %t1, 255
  %q = getelementptr i32, ptr %shared, i32 %t2
  %v = load i32, ptr %q
  %o = getelementptr i32, ptr %out, i32 %tid
  %ov = load i32, ptr %o
  %nv = add i32 %ov, %v
  store i32 %nv, ptr %o
  %i1 = add i32 %i, 1
  %c = icmp slt i32 %i1, %n
  br i1 %c, label %loop, label %final
final:
  %s2 = call i8 @llvm.coro.suspend(token none, i1 true)
  switch i8 %s2, label %suspend [i8 0, label %trap i8 1, label %cleanup]
trap:
  unreachable
cleanup:
  br label %suspend
suspend:
  call void @llvm.coro.end(ptr %h, i1 false, token none)
  ret ptr %h
}

define void @block(ptr %out, ptr %shared, i32 %n, ptr %frames, ptr %handles) {
entry:
  %bump = alloca ptr
  store ptr %frames, ptr %bump
  br label %start
start:
  %t = phi i32 [0, %entry], [%t1, %start]
  %h = call ptr @thread(ptr %out, ptr %shared, i32 %t, i32 %n, ptr %bump)
  %hp = getelementptr ptr, ptr %handles, i32 %t
  store ptr %h, ptr %hp
  %t1 = add i32 %t, 1
  %c = icmp slt i32 %t1, 256
  br i1 %c, label %start, label %round
round:
  br label %each
each:
  %k = phi i32 [0, %round], [%k1, %next]
  %live = phi i32 [0, %round], [%live2, %next]
  %kp = getelementptr ptr, ptr %handles, i32 %k
  %kh = load ptr, ptr %kp
  %done = call i1 @llvm.coro.done(ptr %kh)
  br i1 %done, label %next, label %run
run:
  call void @llvm.coro.resume(ptr %kh)
  br label %next
next:
  %inc = phi i32 [0, %each], [1, %run]
  %live2 = add i32 %live, %inc
  %k1 = add i32 %k, 1
  %c2 = icmp slt i32 %k1, 256
  br i1 %c2, label %each, label %endround
endround:
  %again = icmp sgt i32 %live2, 0
  br i1 %again, label %round, label %exit
exit:
  ret void
}
'''
mod = llvm.parse_assembly(ir); mod.verify()
tm = llvm.Target.from_default_triple().create_target_machine(cpu=llvm.get_host_cpu_name(), opt=3, features=llvm.get_host_cpu_features().flatten(), jit=True)
pto = llvm.create_pipeline_tuning_options(speed_level=3)
pb = llvm.create_pass_builder(tm, pto)
t=time.time(); pm = pb.getModulePassManager(); pm.run(mod, pb); print('opt', time.time()-t)
s=str(mod); print('coro left:', s.count('llvm.coro'), len(s))
lj = llvm.create_lljit_compiler(tm)
rt = llvm.JITLibraryBuilder().add_ir(mod).export_symbol('block').add_current_process().link(lj,'k')
f = ctypes.CFUNCTYPE(None,ctypes.c_void_p,ctypes.c_void_p,ctypes.c_int,ctypes.c_void_p,ctypes.c_void_p)(rt['block'])
import numpy as np
out=np.zeros(256,np.int32); sh=np.zeros(256,np.int32); fr=np.zeros(256*256,np.uint8); hs=np.zeros(256,np.uint64)
for n in (10,1000):
    out[:]=0
    t=time.perf_counter(); f(out.ctypes.data,sh.ctypes.data,n,fr.ctypes.data,hs.ctypes.data); e=time.perf_counter()-t
    print(n, e/n/256*1e9,'ns/switch', out[:4], )
