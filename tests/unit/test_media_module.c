/* SPDX-License-Identifier: MIT
 *
 * test_media_module.c - where the loader looks for a media module and what it says when there is none that can
 * be used. The program runs copies of itself in folders of their own.
 */
#include <limits.h>

#include "media/media.h"
#include "t.h"
#include "tool.h"

static char self[PATH_MAX];

/* What the copy found: "0" or the code and the text. Run alone, with its name as filter: no other case has that in its name. */
TEST(looks)
{
    const struct media_source_ops *ops = NULL, *again = NULL;
    struct swt_diag d = {0};
    int rc = media_sources(&ops, &d);
    printf("found %d %s\n", rc, rc < 0 ? d.text : "");
    if (rc < 0) {
        CHECK(!ops);
        CHECK_INT(d.code, SWT_E_NO_MEDIA);
        return;
    }
    CHECK(ops && ops->open);
    CHECK_INT(media_sources(&again, NULL), 0);
    CHECK(again == ops);
}

/* Run a copy of this program as `path`, and give the line that it says. */
static const char *found_by(const char *path)
{
    if (!self[0] && !realpath("/proc/self/exe", self))
        abort();
    return tool_run("cp '%s' '%s' && '%s' looks | sed -n 's/^found //p'", self, path, path);
}

static const char *module(void)
{
    static char path[PATH_MAX + 32];
    if (!self[0] && !realpath("/proc/self/exe", self))
        abort();
    snprintf(path, sizeof path, "%.*s/swt-demux.so", (int)(strrchr(self, '/') - self), self);
    return path;
}

TEST(module__missing_names_every_place)
{
    tool_enter();
    CHECK_STR(tool_run("mkdir -p none/bin"), "");
    const char *said = found_by("none/bin/x");
    CHECK(strncmp(said, "-20010 ", 7) == 0);
    CHECK(strstr(said, "swt-demux.so not found"));
    CHECK(strstr(said, "none/bin/swt-demux.so, "));
    CHECK(strstr(said, "none/bin/../lib/swt/swt-demux.so"));
}

TEST(module__is_found_beside_the_binary_and_where_it_is_installed)
{
    tool_enter();
    CHECK_STR(
        tool_run(
            "mkdir -p beside there/bin there/lib/swt && cp '%s' beside && cp '%s' there/lib/swt",
            module(), module()),
        "");
    CHECK_STR(found_by("beside/x"), "0 ");
    CHECK_STR(found_by("there/bin/x"), "0 ");
}

TEST(module__that_is_none_is_told_from_a_missing_one)
{
    tool_enter();
    CHECK_STR(tool_run("mkdir -p bad && echo nonsense > bad/swt-demux.so"), "");
    const char *said = found_by("bad/x");
    CHECK(strncmp(said, "-20010 ", 7) == 0);
    CHECK(strstr(said, "bad/swt-demux.so cannot be used"));
}

TEST(module__of_another_version_is_refused)
{
    tool_enter();
    CHECK_STR(tool_run("mkdir -p old && sed 's/\\x00" SWT_VERSION
                       "\\x00/\\x009.9.9\\x00/' '%s' > old/swt-demux.so",
                       module()),
              "");
    const char *said = found_by("old/x");
    CHECK(strncmp(said, "-20010 ", 7) == 0);
    CHECK(strstr(said, "version 9.9.9"));
    CHECK(strstr(said, SWT_VERSION));
}

T_MAIN(RUN(looks) RUN(module__missing_names_every_place)
           RUN(module__is_found_beside_the_binary_and_where_it_is_installed)
               RUN(module__that_is_none_is_told_from_a_missing_one)
                   RUN(module__of_another_version_is_refused))
