/* lifeline.c: see lifeline.h. */
#include "base/os/process/lifeline.h"

#include "base/os/file.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

bool kw_lifeline_open(kw_lifeline *line) {
    int ends[2] = {-1, -1};
    *line = (kw_lifeline){-1, -1};
    if (pipe2(ends, O_CLOEXEC)) {
        return false;
    }
    line->given = kw_descriptor_move_up(ends[0]);
    line->held = kw_descriptor_move_up(ends[1]);
    if (line->given < 0 || line->held < 0) {
        kw_lifeline_close(line);
        return false;
    }
    return true;
}

void kw_lifeline_tie(const kw_lifeline *line, int group) {
    /* Where a kernel knows none of this, the group lives on to its own end, as it would without. */
    (void)(fcntl(line->given, F_SETOWN, -group) || fcntl(line->given, F_SETSIG, SIGKILL) || fcntl(line->given, F_SETFL, O_ASYNC));
}

void kw_lifeline_close(kw_lifeline *line) {
    if (line->held >= 0) {
        close(line->held);
    }
    if (line->given >= 0) {
        close(line->given);
    }
    *line = (kw_lifeline){-1, -1};
}
