import { spawnSync } from 'node:child_process';

/** True if `promtool` is installed (Debian's package `prometheus`). Tests that need it are skipped otherwise. */
export const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
