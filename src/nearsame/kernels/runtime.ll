; What arrays and lists in a kernel need of Numba's runtime, in a few functions of our own; see building.py.
declare ptr @malloc(i64)
declare void @free(ptr)
; counted memory: how often it is held, what to call at its end, with what, where it lies, how much it is, and by whom
%memory = type { i64, ptr, ptr, ptr, i64, ptr }

define ptr @NRT_Allocate(i64 %size) {
  %found = call ptr @malloc(i64 %size)
  ret ptr %found
}
define void @NRT_Free(ptr %what) {
  call void @free(ptr %what)
  ret void
}
define internal void @nearsame_fill(ptr %of, ptr %end, ptr %with, ptr %data, i64 %size) {
  %1 = getelementptr %memory, ptr %of, i64 0, i32 1
  %2 = getelementptr %memory, ptr %of, i64 0, i32 2
  %3 = getelementptr %memory, ptr %of, i64 0, i32 3
  %4 = getelementptr %memory, ptr %of, i64 0, i32 4
  %5 = getelementptr %memory, ptr %of, i64 0, i32 5
  store i64 1, ptr %of
  store ptr %end, ptr %1
  store ptr %with, ptr %2
  store ptr %data, ptr %3
  store i64 %size, ptr %4
  store ptr null, ptr %5
  ret void
}
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %most = add i64 %wide, 48
  %all = add i64 %most, %size
  %is_large = icmp ult i64 %all, %size
  br i1 %is_large, label %none, label %ask
ask:
  %of = call ptr @malloc(i64 %all)
  %is_none = icmp eq ptr %of, null
  br i1 %is_none, label %none, label %some
some:
  %start = ptrtoint ptr %of to i64
  %behind = add i64 %start, %most
  %over = urem i64 %behind, %wide
  %at = sub i64 %behind, %over
  %data = inttoptr i64 %at to ptr
  call void @nearsame_fill(ptr %of, ptr null, ptr null, ptr %data, i64 %size)
  ret ptr %of
none:
  ret ptr null
}
define ptr @NRT_MemInfo_alloc(i64 %size) {
  %of = call ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 32)
  ret ptr %of
}
define internal void @nearsame_end_list(ptr %data, i64 %size, ptr %end) {
  %is_none = icmp eq ptr %end, null
  br i1 %is_none, label %last, label %first
first:
  call void %end(ptr %data)
  br label %last
last:
  call void @free(ptr %data)
  ret void
}
define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %end) {
  %data = call ptr @malloc(i64 %size)
  %is_none = icmp eq ptr %data, null
  br i1 %is_none, label %none, label %next
next:
  %of = call ptr @malloc(i64 48)
  %is_lost = icmp eq ptr %of, null
  br i1 %is_lost, label %lost, label %some
some:
  call void @nearsame_fill(ptr %of, ptr @nearsame_end_list, ptr %end, ptr %data, i64 %size)
  ret ptr %of
lost:
  call void @free(ptr %data)
  br label %none
none:
  ret ptr null
}
define ptr @NRT_MemInfo_varsize_realloc(ptr %of, i64 %size) {
  %place = getelementptr %memory, ptr %of, i64 0, i32 3
  %extent = getelementptr %memory, ptr %of, i64 0, i32 4
  %before = load ptr, ptr %place
  %data = call ptr @realloc(ptr %before, i64 %size)
  %is_none = icmp eq ptr %data, null
  br i1 %is_none, label %none, label %some
some:
  store ptr %data, ptr %place
  store i64 %size, ptr %extent
  ret ptr %data
none:
  ret ptr null
}
declare ptr @realloc(ptr, i64)
define void @NRT_MemInfo_call_dtor(ptr %of) {
  %place = getelementptr %memory, ptr %of, i64 0, i32 1
  %end = load ptr, ptr %place
  %is_none = icmp eq ptr %end, null
  br i1 %is_none, label %last, label %first
first:
  %1 = getelementptr %memory, ptr %of, i64 0, i32 2
  %2 = getelementptr %memory, ptr %of, i64 0, i32 3
  %3 = getelementptr %memory, ptr %of, i64 0, i32 4
  %with = load ptr, ptr %1
  %data = load ptr, ptr %2
  %size = load i64, ptr %3
  call void %end(ptr %data, i64 %size, ptr %with)
  br label %last
last:
  call void @free(ptr %of)
  ret void
}
define void @nearsame_release(ptr %of) {
  %before = atomicrmw sub ptr %of, i64 1 acq_rel
  %is_last = icmp eq i64 %before, 1
  br i1 %is_last, label %end, label %out
end:
  call void @NRT_MemInfo_call_dtor(ptr %of)
  br label %out
out:
  ret void
}
; what only the reporting of errors calls, which ends here with a status in place of a Python exception
define void @PyErr_SetString(ptr %kind, ptr %text) {
  ret void
}
define ptr @PyUnicode_FromKindAndData(i32 %kind, ptr %data, i64 %size) {
  ret ptr null
}
define i64 @PyObject_Hash(ptr %what) {
  ret i64 -1
}
define ptr @PyTuple_Pack(i64 %size, ...) {
  ret ptr null
}
@PyExc_RuntimeError = global ptr null
