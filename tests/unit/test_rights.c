/* test_rights.c -- what a process can't do any more once it dropped its rights, and what it still can.
 *
 * Each case runs in a child of its own, because there is no way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "renderer/bodies.h"
#include "renderer/renderer.h"
#include "server/rights.h"

#define UNFILTERED 99 /* exit status of a child: there is no filter here */
#define NO_GL      98

/* In a child: says what is not as it should be. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, strerror(errno));                    \
            return 1;                                                                                        \
        }                                                                                                    \
    } while (0)

#define REFUSED(call)                                                                                        \
    do {                                                                                                     \
        errno = 0;                                                                                           \
        CHECK((long)(call) == -1 && errno == EPERM);                                                         \
    } while (0)

/* Runs `body` in a child; returns waitpid()'s status. Skips when no filter can be had. */
static int child_status(int (*body)(void))
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(body());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == UNFILTERED) {
        print_message("no filter of system calls here (the line above says why)\n");
        skip();
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == NO_GL) {
        print_message("no software GL on this machine\n");
        skip();
    }
    return status;
}

static void child_succeeds(int (*body)(void))
{
    assert_int_equal(child_status(body), 0);
}

static bool filtered(void)
{
    const char *reason = NULL;
    enum rights_outcome outcome = rights_drop(false, &reason);
    if (outcome != RIGHTS_FILTERED)
        printf("%s\n", reason);
    fflush(stdout);
    return outcome == RIGHTS_FILTERED;
}

/* ---- What it can't do ---- */

static int starts_nothing(void)
{
    char *const words[] = {(char[]){"true"}, NULL}, *const none[] = {NULL};
    if (!filtered())
        return UNFILTERED;
    REFUSED(execve("/bin/true", words, none));
    REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", words, none, 0));
    REFUSED(fork());
#ifdef SYS_vfork
    REFUSED(syscall(SYS_vfork));
#endif
    REFUSED(syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
    REFUSED(syscall(SYS_clone, CLONE_VM | SIGCHLD, NULL, NULL, NULL, NULL));
    CHECK(syscall(SYS_clone3, NULL, 0) == -1 && errno == ENOSYS);
    return 0;
}

static int touches_no_other_process_nor_the_system(void)
{
    char byte;
    pid_t parent = getppid();
    if (!filtered())
        return UNFILTERED;
    REFUSED(ptrace(PTRACE_TRACEME, 0, NULL, NULL));
    REFUSED(syscall(SYS_process_vm_readv, parent, NULL, 0, NULL, 0, 0));
    REFUSED(kill(parent, 0));
    REFUSED(syscall(SYS_tgkill, parent, parent, 0));
    REFUSED(prctl(PR_SET_DUMPABLE, 0));
    REFUSED(prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY));
    struct rlimit limit;
    REFUSED(prlimit(parent, RLIMIT_NOFILE, NULL, &limit));
    REFUSED(mount("none", "/mnt", "tmpfs", 0, NULL));
    REFUSED(syscall(SYS_bpf, 0, NULL, 0));
    REFUSED(syscall(SYS_unshare, 0));
    REFUSED(syscall(SYS_setns, 0, 0));
    REFUSED(syscall(SYS_init_module, NULL, 0, ""));
    REFUSED(syscall(SYS_keyctl, 0, 0));
    REFUSED(syscall(SYS_perf_event_open, NULL, 0, 0, 0, 0));
    REFUSED(syscall(SYS_userfaultfd, 0));
    REFUSED(syscall(SYS_io_uring_setup, 1, NULL));
    REFUSED(syscall(SYS_setuid, 0));
    REFUSED(chroot("/"));
    REFUSED(chmod("/tmp", 01777));
    REFUSED(chown("/tmp", 0, 0));
    REFUSED(symlink("/etc/passwd", "/tmp/test_rights.link"));
    REFUSED(ioctl(0, TIOCSTI, (byte = 'x', &byte)));
    return 0;
}

static int opens_no_raw_and_no_listening_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (!filtered())
        return UNFILTERED;
    REFUSED(socket(AF_INET, SOCK_RAW, IPPROTO_ICMP));
    REFUSED(socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6));
    REFUSED(socket(AF_PACKET, SOCK_DGRAM, 0));
    REFUSED(socket(AF_NETLINK, SOCK_RAW, 0));
    REFUSED(socket(AF_ALG, SOCK_SEQPACKET, 0));
    REFUSED(socket(AF_VSOCK, SOCK_STREAM, 0));
    struct sockaddr_in any = {.sin_family = AF_INET};
    REFUSED(bind(fd, (struct sockaddr *)&any, sizeof(any)));
    REFUSED(listen(fd, 1));
    return 0;
}

static sem_t go;
static int thread_got;

static void *thread_tries(void *arg)
{
    (void)arg;
    sem_wait(&go);
    thread_got = socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) == -1 ? errno : 0;
    return NULL;
}

/* Whether every thread's status has this line. */
static bool every_thread_has(const char *wanted)
{
    DIR *d = opendir("/proc/self/task");
    int threads = 0, with = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        char path[300], line[256];
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", e->d_name);
        FILE *f = e->d_name[0] == '.' ? NULL : fopen(path, "r");
        threads += f != NULL;
        while (f && fgets(line, sizeof(line), f))
            with += strcmp(line, wanted) == 0;
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return threads >= 2 && threads == with;
}

static int binds_threads_that_were_there_before(void)
{
    pthread_t thread;
    sem_init(&go, 0, 0);
    CHECK(pthread_create(&thread, NULL, thread_tries, NULL) == 0);
    if (!filtered())
        return UNFILTERED;
    CHECK(every_thread_has("NoNewPrivs:\t1\n"));
    CHECK(every_thread_has("Seccomp:\t2\n"));
    sem_post(&go);
    CHECK(pthread_join(thread, NULL) == 0);
    CHECK(thread_got == EPERM);
    return 0;
}

static int with_a_gpu_drops_privileges_alone(void)
{
    pthread_t thread;
    const char *reason = NULL;
    char *const words[] = {(char[]){"true"}, NULL}, *const none[] = {NULL};
    sem_init(&go, 0, 0);
    CHECK(pthread_create(&thread, NULL, thread_tries, NULL) == 0);
    CHECK(rights_drop(true, &reason) == RIGHTS_NO_FILTER);
    CHECK(strstr(reason, "GPU"));
    CHECK(every_thread_has("NoNewPrivs:\t1\n"));
    sem_post(&go);
    CHECK(pthread_join(thread, NULL) == 0);
    execve("/bin/true", words, none); /* its status is the child's */
    return 1;
}

/* ---- What it can do ---- */

static void *thread_counts(void *arg)
{
    prctl(PR_SET_NAME, "counts");
    ++*(int *)arg;
    return NULL;
}

static int has_threads_memory_time_and_signals(void)
{
    if (!filtered())
        return UNFILTERED;
    int count = 0;
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        CHECK(pthread_create(&thread, NULL, thread_counts, &count) == 0);
        CHECK(pthread_join(thread, NULL) == 0);
    }
    CHECK(count == 20);
    for (size_t bytes = 1; bytes < (size_t)1 << 28; bytes *= 16) {
        char *p = malloc(bytes);
        CHECK(p);
        p[bytes - 1] = 1;
        char *more = realloc(p, bytes * 2);
        CHECK(more);
        free(more);
    }
    int *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0);
    CHECK(nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL) == 0);
    struct rlimit limit;
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    CHECK(raise(SIGUSR1) == 0 && sigwaitinfo(&set, NULL) == SIGUSR1);
    CHECK(kill(getpid(), SIGUSR1) == 0 && sigwaitinfo(&set, NULL) == SIGUSR1);
    alarm(1);
    CHECK(sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = 30}) == SIGALRM);
    return 0;
}

static int keeps_files(void)
{
    char folder[] = "/tmp/test_rights.XXXXXX", a[64], b[64];
    if (!filtered())
        return UNFILTERED;
    CHECK(mkdtemp(folder));
    snprintf(a, sizeof(a), "%s/a", folder);
    snprintf(b, sizeof(b), "%s/b", folder);
    int fd = open(a, O_CREAT | O_RDWR | O_CLOEXEC, 0600);
    CHECK(fd >= 0 && pwrite(fd, "abc", 3, 0) == 3 && fsync(fd) == 0 && ftruncate(fd, 2) == 0);
    CHECK(flock(fd, LOCK_EX | LOCK_NB) == 0);
    struct stat s;
    CHECK(fstat(fd, &s) == 0 && s.st_size == 2 && close(fd) == 0);
    CHECK(rename(a, b) == 0 && stat(b, &s) == 0 && access(a, F_OK) == -1 && errno == ENOENT);
    int count = 0;
    DIR *d = opendir(folder);
    CHECK(d);
    while (readdir(d))
        count++;
    CHECK(count == 3 && closedir(d) == 0);
    CHECK(unlink(b) == 0 && rmdir(folder) == 0);
    return 0;
}

static int listener;

static int talks_to_clients_and_to_other_servers(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(at);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(bind(listener, (struct sockaddr *)&at, len) == 0 && listen(listener, 5) == 0);
    CHECK(getsockname(listener, (struct sockaddr *)&at, &len) == 0);
    if (!filtered())
        return UNFILTERED;
    int epoll = epoll_create1(EPOLL_CLOEXEC), wake = eventfd(0, EFD_CLOEXEC), one = 1;
    struct epoll_event event = {.events = EPOLLIN};
    CHECK(epoll >= 0 && wake >= 0 && epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event) == 0);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    CHECK(client >= 0 && (connect(client, (struct sockaddr *)&at, len) == 0 || errno == EINPROGRESS));
    CHECK(epoll_wait(epoll, &event, 1, 30000) == 1);
    int server = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    CHECK(server >= 0 && setsockopt(server, IPPROTO_TCP, 1, &one, sizeof(one)) == 0);
    CHECK(send(server, "x", 1, MSG_NOSIGNAL) == 1 && shutdown(server, SHUT_RDWR) == 0);
    CHECK(ioctl(client, FIONREAD, &one) == 0);
    CHECK(socket(AF_UNIX, SOCK_STREAM, 0) >= 0 && socket(AF_INET, SOCK_DGRAM, 0) >= 0);
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *info = NULL;
    CHECK(getaddrinfo("localhost", "80", &hints, &info) == 0 && info);
    freeaddrinfo(info);
    int failure = getaddrinfo("no.such.host.invalid", "80", &hints, &info);
    CHECK(failure == EAI_NONAME || failure == EAI_AGAIN || failure == EAI_NODATA);
    return 0;
}

static int aborts(void)
{
    struct rlimit none = {0};
    setrlimit(RLIMIT_CORE, &none);
    if (!filtered())
        return UNFILTERED;
    abort();
}

static int draws(const char *backend)
{
    struct renderer_desc rd = renderer_desc_default;
    struct renderer *r = NULL;
    rd.backend = backend;
    if (!filtered())
        return UNFILTERED;
    /* Opened behind the filter, which is more than a context that was lost and is made again. */
    CHECK(renderer_open(&rd, &r) == ERR_NONE);
    for (int body = 0; body < BODY_COUNT; body++) {
        struct frame_set frames;
        struct planet_desc d = {.seed = 1, .body = body, .pixels = 200, .frames = 3, .turns = 1};
        d.shade_steps = 3;
        d.scale_centi = 200;
        d.cloud_stretch_centi = 170;
        d.ring_open_milli = 300;
        d.atmosphere = COLOR_AUTO;
        d.background = COLOR_NONE;
        d.outline = COLOR_NONE;
        CHECK(renderer_draw(r, &d, NULL, &frames) == ERR_NONE);
        frame_set_finish(&frames);
    }
    renderer_close(r);
    return 0;
}

static int draws_on_cpu(void)
{
    return draws("cpu");
}

static int draws_on_software_gl(void)
{
    return draws("gl-software");
}

static int has_software_gl(void)
{
    struct renderer_desc rd = renderer_desc_default;
    struct renderer *r = NULL;
    rd.backend = "gl-software";
    return renderer_open(&rd, &r) ? NO_GL : 0;
}

/* ---- ---- */

#define CASE(name, body)                                                                                     \
    static void name(void **state)                                                                           \
    {                                                                                                        \
        (void)state;                                                                                         \
        child_succeeds(body);                                                                                \
    }

CASE(no_program_and_no_process_can_be_started, starts_nothing)
CASE(no_other_process_and_no_part_of_the_system_can_be_touched, touches_no_other_process_nor_the_system)
CASE(neither_raw_nor_listening_sockets_can_be_had, opens_no_raw_and_no_listening_socket)
CASE(threads_that_were_there_before_are_bound_too, binds_threads_that_were_there_before)
CASE(a_gpu_s_driver_is_left_unfiltered_without_new_privileges, with_a_gpu_drops_privileges_alone)
CASE(threads_memory_time_and_signals_go_on, has_threads_memory_time_and_signals)
CASE(files_can_be_kept, keeps_files)
CASE(clients_are_served_and_other_servers_are_asked, talks_to_clients_and_to_other_servers)
CASE(planets_are_drawn_on_the_cpu, draws_on_cpu)

static void planets_are_drawn_by_a_software_gl(void **state)
{
    (void)state;
    child_succeeds(has_software_gl); /* else it is skipped */
    child_succeeds(draws_on_software_gl);
}

static void a_failed_assertion_still_ends_the_process(void **state)
{
    (void)state;
    int status = child_status(aborts);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_program_and_no_process_can_be_started),
        cmocka_unit_test(no_other_process_and_no_part_of_the_system_can_be_touched),
        cmocka_unit_test(neither_raw_nor_listening_sockets_can_be_had),
        cmocka_unit_test(threads_that_were_there_before_are_bound_too),
        cmocka_unit_test(a_gpu_s_driver_is_left_unfiltered_without_new_privileges),
        cmocka_unit_test(threads_memory_time_and_signals_go_on),
        cmocka_unit_test(files_can_be_kept),
        cmocka_unit_test(clients_are_served_and_other_servers_are_asked),
        cmocka_unit_test(planets_are_drawn_on_the_cpu),
        cmocka_unit_test(planets_are_drawn_by_a_software_gl),
        cmocka_unit_test(a_failed_assertion_still_ends_the_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
