import { spawnSync } from 'node:child_process';

/** Prometheus' own checker, of Debian's package `prometheus`: tests that need it are skipped where there is none. */
export const hasPromtool = spawnSync('promtool', ['--version']).error === undefined;
