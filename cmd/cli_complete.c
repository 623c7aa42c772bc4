/* SPDX-License-Identifier: MIT
 *
 * cli_complete.c - the option table as completion scripts for bash, zsh and fish. The scripts are
 * committed under completions/; this is the only place that writes them.
 */
#include "cli.h"

#include <string.h>

/* The choices of an option by space, "" if it has none. */
static void put_choices(FILE *out, const struct cli_option *o)
{
    bool is_first = true;
    for (size_t i = 0; o->choice && o->choice(i); i++)
        if (*o->choice(i)) {
            fprintf(out, "%s%s", is_first ? "" : " ", o->choice(i));
            is_first = false;
        }
}

/* `text` with each character of `special` behind a backslash. */
static void put_escaped(FILE *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (strchr(special, *text))
            fputc('\\', out);
        fputc(*text, out);
    }
}

/* ---- bash --------------------------------------------------------------------------------------
 */

static void bash_option(FILE *out, const char *command, const struct cli_option *o)
{
    if (o->kind == CLI_FLAG)
        return;
    fprintf(out, "    '%s --%s'", command, o->name);
    if (o->letter)
        fprintf(out, " | '%s -%c'", command, o->letter);
    if (o->choice) {
        fputs(")\n        mapfile -t COMPREPLY < <(compgen -W '", out);
        put_choices(out, o);
        fputs("' -- \"$cur\")\n        return ;;\n", out);
    } else if (o->complete == CLI_COMPLETE_NONE) {
        fputs(")\n        return ;;\n", out);
    } else {
        fprintf(out,
                ")\n        compopt -o filenames\n        mapfile -t COMPREPLY < <(compgen -%c -- "
                "\"$cur\")\n"
                "        return ;;\n",
                o->complete == CLI_COMPLETE_DIR ? 'd' : 'f');
    }
}

static void bash_words(FILE *out, const struct cli_command *c)
{
    const struct cli_option *o = NULL;
    fprintf(out, "    %s) options='", c->name);
    for (size_t i = 0; (o = cli_shown_option(c, i)); i++)
        fprintf(out, "%s--%s", i ? " " : "", o->name);
    fprintf(out, "' kind=%c ;;\n", c->complete == CLI_COMPLETE_DIR ? 'd' : 'f');
}

static void bash_commands(FILE *out, const struct cli_program *program)
{
    fputs("    if [ \"$COMP_CWORD\" -le 1 ]; then\n        mapfile -t COMPREPLY < <(compgen -W '",
          out);
    for (size_t i = 0; i < program->n_commands; i++)
        fprintf(out, "%s ", program->commands[i]->name);
    fputs("help --help --version' -- \"$cur\")\n        return\n    fi\n", out);
}

void cli_bash(FILE *out, const struct cli_program *program)
{
    const struct cli_option *o = NULL;
    fputs("# bash completion for swt(1). Generated from the option table by `make gen`; do not "
          "edit.\n"
          "# shellcheck shell=bash\n"
          "_swt() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options kind\n"
          "    COMPREPLY=()\n"
          "    # --option=value comes as three words\n"
          "    if [ \"$cur\" = = ]; then\n"
          "        cur=''\n"
          "    elif [ \"$prev\" = = ]; then\n"
          "        prev=${COMP_WORDS[COMP_CWORD-2]}\n"
          "    fi\n",
          out);
    bash_commands(out, program);
    fputs("    case \"${COMP_WORDS[1]} $prev\" in\n", out);
    for (size_t c = 0; c < program->n_commands; c++)
        for (size_t i = 0; (o = cli_shown_option(program->commands[c], i)); i++)
            bash_option(out, program->commands[c]->name, o);
    fputs("    esac\n    case ${COMP_WORDS[1]} in\n", out);
    for (size_t c = 0; c < program->n_commands; c++)
        bash_words(out, program->commands[c]);
    fputs("    *) return ;;\n"
          "    esac\n"
          "    if [ \"${cur:0:1}\" = - ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -W \"$options\" -- \"$cur\")\n"
          "    else\n"
          "        compopt -o filenames\n"
          "        mapfile -t COMPREPLY < <(compgen \"-$kind\" -- \"$cur\")\n"
          "    fi\n"
          "}\n"
          "complete -F _swt swt\n",
          out);
}

/* ---- zsh ---------------------------------------------------------------------------------------
 */

static void zsh_action(FILE *out, const struct cli_option *o)
{
    char arg[80];
    if (o->kind == CLI_FLAG)
        return;
    fputc(':', out);
    put_escaped(out, o->arg ? o->arg : cli_arg_text(o, arg, sizeof arg), ":[]\\");
    fputc(':', out);
    if (o->choice) {
        fputc('(', out);
        put_choices(out, o);
        fputc(')', out);
    } else if (o->complete != CLI_COMPLETE_NONE) {
        fputs(o->complete == CLI_COMPLETE_DIR ? "_files -/" : "_files", out);
    }
}

static void zsh_option(FILE *out, const struct cli_option *o)
{
    const char *equals = o->kind == CLI_FLAG ? "" : "=";
    fputs("            ", out);
    if (o->letter)
        fprintf(out, "'(-%c --%s)'{-%c%s,--%s%s}", o->letter, o->name, o->letter,
                *equals ? "+" : "", o->name, equals);
    else
        fprintf(out, "--%s%s", o->name, equals);
    fputs("'[", out);
    for (const char *s = o->help; *s; s++)
        if (*s == '\'')
            fputs("'\\''", out);
        else
            put_escaped(out, (const char[]){*s, 0}, ":[]\\");
    fputc(']', out);
    zsh_action(out, o);
    fputs("' \\\n", out);
}

void cli_zsh(FILE *out, const struct cli_program *program)
{
    const struct cli_option *o = NULL;
    fputs("#compdef swt\n# zsh completion for swt(1). Generated from the option table by `make "
          "gen`; do not edit.\n\n"
          "_swt() {\n"
          "    local state line\n"
          "    typeset -A opt_args\n"
          "    _arguments -C '1:command:->command' '*::argument:->argument'\n"
          "    case $state in\n"
          "    command)\n"
          "        local -a commands=(\n",
          out);
    for (size_t c = 0; c < program->n_commands; c++)
        fprintf(out, "            '%s:%s'\n", program->commands[c]->name,
                program->commands[c]->summary);
    fputs("        )\n        _describe command commands ;;\n    argument)\n        case $words[1] "
          "in\n",
          out);
    for (size_t c = 0; c < program->n_commands; c++) {
        const struct cli_command *command = program->commands[c];
        fprintf(out, "        %s) _arguments -s -S \\\n", command->name);
        for (size_t i = 0; (o = cli_shown_option(command, i)); i++)
            zsh_option(out, o);
        fprintf(out, "            '*:%s:%s' ;;\n", command->word,
                command->complete == CLI_COMPLETE_DIR ? "_files -/" : "_files");
    }
    fputs("        esac ;;\n    esac\n}\n\n_swt \"$@\"\n", out);
}

/* ---- fish --------------------------------------------------------------------------------------
 */

static void fish_option(FILE *out, const char *command, const struct cli_option *o)
{
    fprintf(out, "complete -c swt -n '__fish_seen_subcommand_from %s'", command);
    if (o->letter)
        fprintf(out, " -s %c", o->letter);
    fprintf(out, " -l %s", o->name);
    if (o->choice) {
        fputs(" -x -a '", out);
        put_choices(out, o);
        fputc('\'', out);
    } else if (o->kind != CLI_FLAG) {
        fputs(o->complete == CLI_COMPLETE_FILE  ? " -r -F"
              : o->complete == CLI_COMPLETE_DIR ? " -x -a '(__fish_complete_directories)'"
                                                : " -x",
              out);
    }
    fputs(" -d '", out);
    put_escaped(out, o->help, "'\\");
    fputs("'\n", out);
}

void cli_fish(FILE *out, const struct cli_program *program)
{
    const struct cli_option *o = NULL;
    fputs("# fish completion for swt(1). Generated from the option table by `make gen`; do not "
          "edit.\n"
          "complete -c swt -n __fish_use_subcommand -f\n",
          out);
    for (size_t c = 0; c < program->n_commands; c++) {
        const struct cli_command *command = program->commands[c];
        fprintf(out, "complete -c swt -n __fish_use_subcommand -a %s -d '%s'\n", command->name,
                command->summary);
        for (size_t i = 0; (o = cli_shown_option(command, i)); i++)
            fish_option(out, command->name, o);
    }
}
