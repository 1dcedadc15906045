/** Runs a gateway in its own process, for tests that measure it. Its argument is the text of the manifest. */
import { Session } from 'node:inspector/promises';
import { writeHeapSnapshot } from 'node:v8';
import { createGateway } from '../../src/engine/gateway/gateway.ts';
import type { LiveUpstream } from '../../src/engine/gateway/upstream/live-upstream.ts';
import { load } from '../../src/engine/load.ts';
import { createProcessLog } from '../../src/process/log/process-log.ts';
import { worldOf } from './gateway.ts';

const { plan, problems } = load({ path: 'gateway.yaml', text: process.argv[2] ?? '' }, worldOf());
if (plan === undefined) throw new Error(JSON.stringify(problems));
const gateway = createGateway(plan, createProcessLog('/dev/null'));
const { port } = await gateway.listen();
process.on('message', ({ snapshot, blockMs, countsCalls }: UsageRequest) => {
  if (countsCalls === true) {
    void takeCalls().then((calls) => process.send?.(calls));
    return;
  }
  if (snapshot !== undefined) writeHeapSnapshot(snapshot);
  if (blockMs === undefined) process.send?.(usage());
  // The test continues as soon as the thread is blocked.
  else process.send?.(usage(), () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, blockMs));
});
process.send?.({ port });

function usage(): Usage {
  return {
    maxRssBytes: process.resourceUsage().maxRSS * 1024,
    heapBytes: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().length,
    upstreams: gateway.upstreams,
    standstillMs: gateway.standstillMs,
  };
}

let session: Session | undefined;

/** Returns the functions of the sources that ran since the latest call of this one. The first call begins to count. */
async function takeCalls(): Promise<FunctionCalls[]> {
  if (session === undefined) {
    session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  }
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const sources = result.filter(({ url }) => url.includes('/src/') && !url.includes('/node_modules/'));
  return sources.flatMap(({ url, functions }) =>
    functions.map(({ functionName, ranges }) => {
      return { file: url.replace(/^.*\/src\//, ''), name: functionName, count: ranges[0]?.count ?? 0 };
    }),
  );
}

/** How often a function ran. */
export interface FunctionCalls {
  readonly file: string;
  /** Empty for a function without a name. */
  readonly name: string;
  readonly count: number;
}

/** A message of the test that requests the usage. */
export interface UsageRequest {
  /** Write a heap snapshot to this file first. */
  readonly snapshot?: string;
  /** Block the event loop for this time first. */
  readonly blockMs?: number;
  /** Request the calls of functions in place of the usage. */
  readonly countsCalls?: boolean;
}

export interface Usage {
  /** The peak of the process. */
  readonly maxRssBytes: number;
  readonly heapBytes: number;
  /** Sockets, servers and timers that keep the process alive. */
  readonly handles: number;
  readonly upstreams: readonly LiveUpstream['status'][];
  readonly standstillMs: number;
}
