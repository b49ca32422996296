/* Calls to the file system that fail, or during which the process is killed: loaded with LD_PRELOAD by failing.py.
 *
 * 1. Only calls about files below one folder count; what stands in front of the C library here is told by the table below.
 * 2. The number of calls is kept in shared memory, so that who forked the process can read it after a kill.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT = 0, FAIL = 1, FULL = 2, KILL = 3 };
enum { READ = 1, WRITE = 2, SYNC = 4, MOVE = 8, MAKE = 16, REMOVE = 32 };

static char folder[PATH_MAX];
static int armed, mode, kinds;
static long nth;
static struct shared { long calls; } *shared;

void failing_prepare(void) {
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}
long failing_calls(void) { return shared->calls; }
void failing_arm(const char *below, long number, int what, int of) {
    strncpy(folder, below, sizeof folder - 1);
    nth = number, mode = what, kinds = of, shared->calls = 0, armed = 1;
}

static int below(const char *path) {
    return armed && path && strncmp(path, folder, strlen(folder)) == 0;
}
static int place(int directory, const char *path, char *out) {
    char link[64];
    if (!armed || !path) return 0;
    if (path[0] == '/') { snprintf(out, PATH_MAX, "%s", path); return 1; }
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t size = readlink(link, out, PATH_MAX - 1);
    if (size < 0) return 0;
    snprintf(out + size, PATH_MAX - size, "/%s", path);
    return 1;
}
static int of_file(int file) {
    char link[64], out[PATH_MAX];
    if (!armed) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, out, PATH_MAX - 1);
    if (size < 0) return 0;
    out[size] = 0;
    return below(out);
}
static int fails(int counts, int kind) {
    if (!counts || !(kinds & kind)) return 0;
    long now = __sync_add_and_fetch(&shared->calls, 1);
    if (mode == KILL && now == nth) { kill(getpid(), SIGKILL); for (;;) pause(); }
    int failing = mode == FAIL ? now == nth : mode == FULL && now >= nth && (kind & (WRITE | MAKE));
    if (failing) errno = kind & (WRITE | MAKE) ? ENOSPC : EIO;
    return failing;
}

#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, #name)
#define ON_FILE(type, name, kind, parameters, arguments, ...) \
    type name parameters { REAL(type, name, __VA_ARGS__); if (fails(of_file(file), kind)) { return -1; } return real arguments; }

ON_FILE(ssize_t, read, READ, (int file, void *to, size_t size), (file, to, size), int, void *, size_t)
ON_FILE(ssize_t, pread, READ, (int file, void *to, size_t size, off_t at), (file, to, size, at), int, void *, size_t, off_t)
ON_FILE(ssize_t, pread64, READ, (int file, void *to, size_t size, off64_t at), (file, to, size, at), int, void *, size_t, off64_t)
ON_FILE(ssize_t, write, WRITE, (int file, const void *from, size_t size), (file, from, size), int, const void *, size_t)
ON_FILE(ssize_t, pwrite, WRITE, (int file, const void *from, size_t size, off_t at), (file, from, size, at), int, const void *, size_t, off_t)
ON_FILE(ssize_t, pwrite64, WRITE, (int file, const void *from, size_t size, off64_t at), (file, from, size, at), int, const void *, size_t, off64_t)
ON_FILE(ssize_t, writev, WRITE, (int file, const struct iovec *from, int count), (file, from, count), int, const struct iovec *, int)
ON_FILE(int, ftruncate, WRITE, (int file, off_t size), (file, size), int, off_t)
ON_FILE(int, ftruncate64, WRITE, (int file, off64_t size), (file, size), int, off64_t)
ON_FILE(int, fsync, SYNC, (int file), (file), int)
ON_FILE(int, fdatasync, SYNC, (int file), (file), int)

#define ON_PATH(type, name, kind, parameters, arguments, directory, path, ...) \
    type name parameters { REAL(type, name, __VA_ARGS__); char full[PATH_MAX]; \
        if (fails(place(directory, path, full) && below(full), kind)) { return -1; } return real arguments; }

ON_PATH(int, rename, MOVE, (const char *a, const char *b), (a, b), AT_FDCWD, b, const char *, const char *)
ON_PATH(int, renameat, MOVE, (int in, const char *a, int to, const char *b), (in, a, to, b), to, b, int, const char *, int, const char *)
ON_PATH(int, renameat2, MOVE, (int in, const char *a, int to, const char *b, unsigned flags), (in, a, to, b, flags), to, b, int, const char *, int, const char *, unsigned)
ON_PATH(int, unlink, REMOVE, (const char *a), (a), AT_FDCWD, a, const char *)
ON_PATH(int, unlinkat, REMOVE, (int in, const char *a, int flags), (in, a, flags), in, a, int, const char *, int)
ON_PATH(int, rmdir, REMOVE, (const char *a), (a), AT_FDCWD, a, const char *)
ON_PATH(int, mkdir, MAKE, (const char *a, mode_t bits), (a, bits), AT_FDCWD, a, const char *, mode_t)
ON_PATH(int, mkdirat, MAKE, (int in, const char *a, mode_t bits), (in, a, bits), in, a, int, const char *, mode_t)

#define OPENS(name, parameters, arguments, directory, ...) \
    int name parameters { REAL(int, name, __VA_ARGS__); mode_t bits = 0; char full[PATH_MAX]; \
        if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); bits = va_arg(more, mode_t); va_end(more); } \
        int making = (flags & O_ACCMODE) != O_RDONLY; \
        if (fails(place(directory, path, full) && below(full), making ? MAKE : READ)) { return -1; } return real arguments; }

OPENS(open, (const char *path, int flags, ...), (path, flags, bits), AT_FDCWD, const char *, int, ...)
OPENS(open64, (const char *path, int flags, ...), (path, flags, bits), AT_FDCWD, const char *, int, ...)
OPENS(openat, (int in, const char *path, int flags, ...), (in, path, flags, bits), in, int, const char *, int, ...)
OPENS(openat64, (int in, const char *path, int flags, ...), (in, path, flags, bits), in, int, const char *, int, ...)
