import { createRequire } from 'node:module';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The phases of a gateway: it reads and compiles the manifest, it listens and warms up, it serves. */
type Phase = keyof typeof FLAGS;

/** V8 flags from the start of each phase on. */
const FLAGS = {
  loading: [
    // The start would otherwise make the space for young objects 11 MB larger, and V8 keeps its size.
    '--semi-space-growth-factor=1',
    // One thread compiles: the C library keeps the memory that each further one has used.
    '--concurrent-maglev-max-threads=1',
    // Most functions of a start run a few times, and do not need a record of the types that they see.
    '--invocation-count-for-feedback-allocation=30',
  ],
  starting: [
    // V8 otherwise learns that some objects of a request are long-lived and allocates all later ones in the old generation.
    // There they keep a quarter of all requests in memory until the next full collection, which costs 12 µs per request.
    '--no-allocation-site-pretenuring',
    // V8 otherwise frees the memory of its compiler on other threads, and the C library keeps 10 MB of it there.
    '--no-maglev-destroy-on-background',
    '--invocation-count-for-feedback-allocation=8',
    // V8 collects garbage before its heap grows, and threads begin with half the space for young objects.
    '--optimize-for-size',
  ],
  serving: ['--semi-space-growth-factor=2', '--no-optimize-for-size'],
} as const;

/** Modules of Node that a gateway uses. Node contains their compiled code, which V8 reads only as long as it has its default flags. */
const NODE_MODULES = ['cluster', 'crypto', 'fs/promises', 'net', 'perf_hooks', 'timers/promises', 'worker_threads'];

/** The compilers of V8. The code that loads a manifest runs too short for them, and what they need takes 9 MB. */
const COMPILERS = ['sparkplug', 'maglev', 'opt'];
let pausedCompilers: readonly string[] = [];

/** More than the young objects of all requests in flight. By default their space grows to 32 MB, and buffers that they hold stay longer. */
const YOUNG_BYTES = 6 * 1024 * 1024;
const CHECK_INTERVAL_MS = 250;
/** False if somebody started Node with a size of its own. */
let isYoungLimited = true;

/**
 * Call it after `flushCompileCache`, if that follows: Node reads compiled code only with the flags that it was written with.
 *
 * @param nodeOptions the options that somebody started Node with. A process without one of the compilers stays so
 */
export function setV8Flags(phase: Phase, nodeOptions = ''): void {
  if (phase === 'loading' && !/jitless|no[-_]?(?:sparkplug|maglev|opt|turbofan)/.test(nodeOptions))
    pausedCompilers = COMPILERS;
  isYoungLimited &&= !/semi[-_]space/.test(nodeOptions);
  if (phase === 'loading') NODE_MODULES.forEach(createRequire(import.meta.url));
  const prefix = phase === 'loading' ? '--no-' : '--';
  for (const flag of [...FLAGS[phase], ...pausedCompilers.map((name) => prefix + name)]) setFlagsFromString(flag);
}

/**
 * Limits the space for young objects; a burst may exceed it. V8 reads its own limit before it runs any code. Call it only with one
 * worker: the flag is that of all threads.
 */
export function limitYoungSpace(): void {
  if (!isYoungLimited) return;
  setInterval(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    setFlagsFromString(`--semi-space-growth-factor=${(young?.space_size ?? 0) < YOUNG_BYTES ? 2 : 1}`);
  }, CHECK_INTERVAL_MS).unref();
}
