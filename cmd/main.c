/* SPDX-License-Identifier: MIT
 *
 * main.c - the table of commands, what holds for the whole process (descriptors, signals), and the
 * exit status. A new command is its name in COMMANDS.
 */
#include "cli.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMANDS(X) X(record) X(window) X(info) X(verify)

#define DECLARE(name) extern const struct cli_command cmd_##name;
#define ENTRY(name)   &cmd_##name,
COMMANDS(DECLARE)
static const struct cli_command *const commands[] = {COMMANDS(ENTRY)};
static const struct cli_program program = {commands, CLI_N(commands)};

static const char *command_name(const void *unused, size_t i)
{
    (void)unused;
    return i < CLI_N(commands) ? commands[i]->name : NULL;
}

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; i < CLI_N(commands); i++)
        if (strcmp(commands[i]->name, name) == 0)
            return commands[i];
    return NULL;
}

static int unknown(const char *name)
{
    const char *nearest = cli_nearest(name, command_name, NULL);
    return cli_usage(NULL, "unknown command '%s'%s%s%s", name,
                     nearest ? "; did you mean " : "; try 'swt --help'", nearest ? nearest : "",
                     nearest ? "?" : "");
}

static void show_version(void)
{
    printf("swt %s\n", swt_version());
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
    struct cli_common *args = calloc(1, command->args_size);
    if (!args) {
        cli_error(command->name, "out of memory");
        return CLI_FAILED;
    }
    int status = cli_parse(command, argc, argv, args);
    if (!status && args->wants_help)
        cli_help(stdout, command);
    else if (!status && args->wants_version)
        show_version();
    else if (!status)
        status = command->run(args);
    cli_args_done(args);
    free(args);
    return status;
}

static int help_on(const char *name)
{
    const struct cli_command *command = name ? find_command(name) : NULL;
    if (name && !command)
        return unknown(name);
    if (command)
        cli_help(stdout, command);
    else
        cli_help_program(stdout, &program);
    return 0;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2)
        return cli_usage(NULL, "no command given; try 'swt --help'");
    const char *name = argv[1];
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0)
        return help_on(argc > 2 ? argv[2] : NULL);
    if (strcmp(name, "--version") == 0) {
        show_version();
        return 0;
    }
    if (strcmp(name, "cli-dump") == 0 && argc > 2)
        return cli_dump(stdout, &program, argv[2], argc > 3 ? argv[3] : NULL);
    const struct cli_command *command = find_command(name);
    return command ? run_command(command, argc - 2, argv + 2) : unknown(name);
}

/* A process started with 0, 1 or 2 closed would get a segment file as its stdout. */
static void fill_standard_fds(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 2 ? O_WRONLY : O_RDONLY) < 0)
            _exit(CLI_FAILED);
}

/* A mapped segment that somebody cut short, or a disk that cannot be read (swt.h). */
static void on_sigbus(int sig)
{
    static const char text[] =
        "swt: a segment file was truncated or cannot be read while it was mapped\n";
    (void)sig;
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n; /* there is nobody left to tell */
    _exit(CLI_FAILED);
}

int main(int argc, char **argv)
{
    struct sigaction bus = {.sa_handler = on_sigbus};
    fill_standard_fds();
    signal(SIGPIPE,
           SIG_IGN); /* EPIPE is handled where it comes back, so that files are left in order */
    sigaction(SIGBUS, &bus, NULL);
    int status = dispatch(argc, argv);
    int closing = cli_close_stdout(argc > 1 && find_command(argv[1]) ? argv[1] : NULL);
    return status ? status : closing;
}
