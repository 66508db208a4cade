/* Solutions of the C worker: compiled with the system's compiler, loaded, called. */
#include <dlfcn.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MAX_ARGS = 16, MAX_SOURCES = 256, LOG_TAIL = 8192 };

static char *sources[MAX_SOURCES];
static int source_count, want_cpp;

static int add_source(const char *path, const struct stat *st, int type, struct FTW *at) {
    const char *dot = strrchr(path, '.');
    (void)st, (void)at;
    if (type != FTW_F || !dot || source_count == MAX_SOURCES) return 0;
    int c = !strcmp(dot, ".c"), cpp = !strcmp(dot, ".cpp") || !strcmp(dot, ".cc") || !strcmp(dot, ".cxx");
    if (c || (cpp && want_cpp)) sources[source_count++] = strdup(path);
    return 0;
}

static void find_sources(const char *dir, int cpp) {
    while (source_count) free(sources[--source_count]);
    want_cpp = cpp;
    nftw(dir, add_source, 16, FTW_PHYS);
}

/* Runs a program and keeps the end of what it says; its exit status, or -1. */
static int run_program(char **argv, buffer *log) {
    int pipes[2], status = -1;
    pid_t pid;
    char chunk[4096];
    posix_spawn_file_actions_t actions;
    if (pipe(pipes)) return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 1);
    posix_spawn_file_actions_adddup2(&actions, pipes[1], 2);
    posix_spawn_file_actions_addclose(&actions, pipes[0]);
    posix_spawn_file_actions_addclose(&actions, pipes[1]);
    int failed = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(pipes[1]);
    for (ssize_t n; !failed && (n = read(pipes[0], chunk, sizeof chunk)) > 0;) {
        put(log, chunk, (size_t)n);
        if (log->len > 2 * LOG_TAIL) {
            memmove(log->text, log->text + log->len - LOG_TAIL, LOG_TAIL + 1);
            log->len = LOG_TAIL;
        }
    }
    close(pipes[0]);
    return failed || waitpid(pid, &status, 0) != pid ? -1 : status;
}

/* Compiles a folder into a library; 0 if that fails, with the compiler's words. */
static int compile(const char *dir, const char *include, const char *library, int cpp, buffer *log) {
    char own[PATH_MAX + 2], theirs[PATH_MAX + 2], *argv[MAX_SOURCES + 16];
    int n = 0;
    find_sources(dir, cpp);
    snprintf(own, sizeof own, "-I%s", dir);
    snprintf(theirs, sizeof theirs, "-I%s", include);
    argv[n++] = cpp ? (getenv("CXX") ? getenv("CXX") : "c++") : (getenv("CC") ? getenv("CC") : "cc");
    argv[n++] = "-shared", argv[n++] = "-fPIC", argv[n++] = "-O3";
#ifdef __x86_64__
    argv[n++] = "-march=native"; /* elsewhere not every compiler knows it */
#endif
    argv[n++] = own, argv[n++] = theirs, argv[n++] = "-o", argv[n++] = (char *)library;
    for (int i = 0; i < source_count; i++) argv[n++] = sources[i];
    argv[n++] = "-lm", argv[n] = NULL;
    if (!source_count) {
        putf(log, "there is no source of this language in the solution");
        return 0;
    }
    int status = run_program(argv, log);
    if (status == -1) putf(log, "%s cannot be run: install a compiler, or name it in %s", argv[0], cpp ? "CXX" : "CC");
    return status == 0;
}

/* Calls a function with n tensors: C has no call with a list of arguments. */
#define P DLTensor *
#define TYPE(...) (((int32_t(*)(__VA_ARGS__))f))
static int32_t call(void *f, P a, int n) {
    switch (n) {
    case 0: return TYPE(void)();
#define A1 a
#define A2 A1, a + 1
#define A3 A2, a + 2
#define A4 A3, a + 3
#define A5 A4, a + 4
#define A6 A5, a + 5
#define A7 A6, a + 6
#define A8 A7, a + 7
#define A9 A8, a + 8
#define A10 A9, a + 9
#define A11 A10, a + 10
#define A12 A11, a + 11
#define A13 A12, a + 12
#define A14 A13, a + 13
#define A15 A14, a + 14
#define A16 A15, a + 15
#define P4 P, P, P, P
#define P8 P4, P4
    case 1: return TYPE(P)(A1);
    case 2: return TYPE(P, P)(A2);
    case 3: return TYPE(P, P, P)(A3);
    case 4: return TYPE(P4)(A4);
    case 5: return TYPE(P4, P)(A5);
    case 6: return TYPE(P4, P, P)(A6);
    case 7: return TYPE(P4, P, P, P)(A7);
    case 8: return TYPE(P8)(A8);
    case 9: return TYPE(P8, P)(A9);
    case 10: return TYPE(P8, P, P)(A10);
    case 11: return TYPE(P8, P, P, P)(A11);
    case 12: return TYPE(P8, P4)(A12);
    case 13: return TYPE(P8, P4, P)(A13);
    case 14: return TYPE(P8, P4, P, P)(A14);
    case 15: return TYPE(P8, P4, P, P, P)(A15);
    case 16: return TYPE(P8, P8)(A16);
    }
    return INT32_MIN;
}
#undef P
#undef TYPE
