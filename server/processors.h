/* How many processors this process may use. */
#pragma once

/* The least of the scheduler's affinity mask and the CPU quota of the control groups it is in and of all
 * above them (cgroup v2 cpu.max, v1 cpu.cfs_quota_us / cpu.cfs_period_us), rounded up; at least 1. `root`
 * stands before every path that is read ("" in earnest; a folder in tests). Threads: any. */
int processors_usable(const char *root);
