/* How many processors this process may use. */
#pragma once

/* The CPU quota of the control groups this process is in and of all above them that can be seen, in
 * processors, rounded up (cgroup v2 cpu.max; v1 cpu.cfs_quota_us over cpu.cfs_period_us): the least of them,
 * or 0 when there is none. What is missing or can't be read limits nothing. `root` stands before every path
 * that is read ("" in earnest; a folder in tests). Threads: any. */
int processors_quota(const char *root);

/* The least of that quota and of the processors that the scheduler lets this process use; at least 1.
 * Threads: any. */
int processors_usable(const char *root);
