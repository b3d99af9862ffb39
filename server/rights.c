/* rights.c -- gives up what a running server never needs.
 *
 * Whoever finds a way to run code of his own in here shall not be able to start programs, trace other
 * processes, load modules, mount, or open raw sockets. The filter names what is allowed, so that a system
 * call that is invented later is refused as well. It was put together from what libc, the threads,
 * libmicrohttpd, the outer caches and a software GL were seen and known to do; names that an architecture
 * doesn't have are skipped. What can be told harmless from harmful by a number is allowed only with that
 * number.
 *
 * "No new privileges" belongs to a thread; a filter that is set for all threads at once brings it to all. So
 * where there is no filter, one of a single instruction that allows everything does the same. It comes after
 * the drivers are loaded, because one vendor's starts a set-uid helper. Threads: main. */
#include "server/rights.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef WITH_libseccomp
#include <seccomp.h>
#endif

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Brings no_new_privs, which this thread has, to all others. 0 or an errno. */
static int threads_follow(void)
{
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {.len = 1, .filter = &allow};
    long failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                          SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program);
    return failed == 0 ? 0 : failed > 0 ? EBUSY : errno; /* > 0: a thread that has another filter */
}

static int no_new_privileges(void)
{
    if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return 0; /* since before we started: so all threads have it */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return errno;
    return threads_follow();
}

#ifdef WITH_libseccomp

/* Allowed with any arguments. */
static const char *const allowed[] = {
    /* files and sockets that are open */
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "lseek",
    "close",
    "dup",
    "dup3",
    "fcntl",
    "fstat",
    "fstatfs",
    "ftruncate",
    "fallocate",
    "fsync",
    "fdatasync",
    "flock",
    "fadvise64",
    "sendfile",
    "copy_file_range",
    "getdents64",
    "fchmod",
    "utimensat",
    /* waiting */
    "poll",
    "ppoll",
    "select",
    "pselect6",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "epoll_pwait",
    "eventfd2",
    "pipe2",
    "nanosleep",
    "clock_nanosleep",
    "restart_syscall",
    /* sockets; socket() itself is below. Nothing listens anew. */
    "accept",
    "accept4",
    "connect",
    "getsockname",
    "getpeername",
    "getsockopt",
    "setsockopt",
    "sendto",
    "sendmsg",
    "sendmmsg",
    "recvfrom",
    "recvmsg",
    "recvmmsg",
    "shutdown",
    /* the disk cache, what resolving a host name reads, a GL's cache of shaders */
    "open",
    "openat",
    "unlink",
    "unlinkat",
    "rename",
    "renameat",
    "renameat2",
    "mkdir",
    "mkdirat",
    "rmdir",
    "stat",
    "lstat",
    "newfstatat",
    "statx",
    "access",
    "faccessat",
    "faccessat2",
    "readlink",
    "readlinkat",
    "statfs",
    "umask",
    "getcwd",
    /* memory; a software GL compiles to machine code, so pages may become executable */
    "mmap",
    "munmap",
    "mprotect",
    "mremap",
    "madvise",
    "brk",
    "memfd_create",
    "membarrier",
    "msync",
    /* threads */
    "futex",
    "set_robust_list",
    "rseq",
    "sched_yield",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_setscheduler",
    "sched_get_priority_min",
    "sched_get_priority_max",
    "getcpu",
    "gettid",
    "exit",
    "exit_group",
    /* time */
    "clock_gettime",
    "clock_getres",
    "gettimeofday",
    "time",
    "alarm",
    "setitimer",
    /* signals; to whom is below */
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigtimedwait",
    "rt_sigpending",
    "rt_sigsuspend",
    "sigaltstack",
    /* what may be asked of the system */
    "getpid",
    "getppid",
    "getuid",
    "geteuid",
    "getgid",
    "getegid",
    "getrandom",
    "uname",
    "sysinfo",
    "getrusage",
    "getrlimit",
    "getpriority",
};

/* The C library tries these and has something older for ENOSYS, though not for EPERM. */
static const char *const unknown[] = {
    "clone3", "close_range", "openat2", "epoll_pwait2", "futex_waitv", "fchmodat2", "cachestat", "mseal",
};

/* One number that an argument may be, under a mask. */
struct condition {
    const char *name;
    unsigned argument;
    uint64_t mask, value;
};

#define LOW32 0xffffffffu /* the kernel looks at an int */

/* Allowed when one of the rows of that name fits. */
static const struct condition conditions[] = {
    {"clone", 0, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM}, /* a thread, not a process */
    {"prctl", 0, LOW32, PR_SET_NAME},
    {"ioctl", 1, LOW32, FIONREAD},
    {"ioctl", 1, LOW32, FIONBIO},
    {"ioctl", 1, LOW32, TCGETS},             /* isatty() */
    {"setpriority", 0, LOW32, PRIO_PROCESS}, /* threads that shall be nicer than others */
    {"prlimit64", 0, LOW32, 0},              /* of this process */
};

static const int families[] = {AF_UNIX, AF_INET, AF_INET6};
static const int types[] = {SOCK_STREAM, SOCK_DGRAM}; /* the resolver asks with the latter */

#define TYPE_MASK 0xf /* the rest are SOCK_CLOEXEC and the like */

/* 0, also when there is no such system call here. */
static int rule_add(scmp_filter_ctx filter, uint32_t action, const char *name, unsigned count,
                    const struct scmp_arg_cmp *arguments)
{
    int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR)
        return 0;
    int err = seccomp_rule_add_array(filter, action, number, count, arguments);
    return err == -EDOM || err == -EEXIST ? 0 : err;
}

static int rules_add(scmp_filter_ctx filter)
{
    int err = 0;
    for (size_t i = 0; i < ARRAY_LEN(allowed) && !err; i++)
        err = rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(unknown) && !err; i++)
        err = rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), unknown[i], 0, NULL);
    for (size_t i = 0; i < ARRAY_LEN(conditions) && !err; i++) {
        const struct condition *c = &conditions[i];
        const struct scmp_arg_cmp fits = SCMP_CMP(c->argument, SCMP_CMP_MASKED_EQ, c->mask, c->value);
        err = rule_add(filter, SCMP_ACT_ALLOW, c->name, 1, &fits);
    }
    for (size_t i = 0; i < ARRAY_LEN(families) * ARRAY_LEN(types) && !err; i++) {
        const struct scmp_arg_cmp fits[] = {
            SCMP_A0(SCMP_CMP_MASKED_EQ, LOW32, (scmp_datum_t)families[i / ARRAY_LEN(types)]),
            SCMP_A1(SCMP_CMP_MASKED_EQ, TYPE_MASK, (scmp_datum_t)types[i % ARRAY_LEN(types)]),
        };
        err = rule_add(filter, SCMP_ACT_ALLOW, "socket", 2, fits);
    }
    const struct scmp_arg_cmp own =
        SCMP_A0(SCMP_CMP_MASKED_EQ, LOW32, (scmp_datum_t)getpid()); /* abort(), raise() */
    if (!err)
        err = rule_add(filter, SCMP_ACT_ALLOW, "tgkill", 1, &own);
    return err ? err : rule_add(filter, SCMP_ACT_ALLOW, "kill", 1, &own);
}

/* 0 or an errno. */
static int filter_load(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return ENOMEM;
    int err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
    if (!err) /* other architectures' calls on the same processor */
        err = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM));
    if (!err)
        err = rules_add(filter);
    if (!err) {
        /* Older kernels would slow all code down against attacks from code that runs in here in a sandbox of
         * its own, of which there is none; and a tree of comparisons is shorter than a list. Older libraries
         * know neither, which is no harm. */
        (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
        (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
        err = seccomp_load(filter);
    }
    seccomp_release(filter);
    return -err;
}

static const char *filter_set(void)
{
    int why = filter_load();
    return why ? strerror(why) : NULL;
}

#else

static const char *filter_set(void)
{
    return "built without libseccomp";
}

#endif

enum rights_outcome rights_drop(bool gpu, const char **ret_reason)
{
    const char *flaw = gpu         ? "a GPU's driver is loaded, whose system calls are its own"
                       : SANITIZED ? "built with a sanitizer, which traces this process"
                                   : filter_set();
    *ret_reason = flaw ? flaw : "";
    if (!flaw)
        return RIGHTS_FILTERED; /* which took the privileges on the way */
    int why = no_new_privileges();
    if (!why)
        return RIGHTS_NO_FILTER;
    *ret_reason = strerror(why);
    return RIGHTS_FAILED;
}
