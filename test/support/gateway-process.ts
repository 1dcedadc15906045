/** A gateway in a process of its own, for tests that measure one: `fork` it with the manifest's text as its argument. */
import { writeHeapSnapshot } from 'node:v8';
import { createGateway } from '../../src/gateway/gateway.ts';
import { load } from '../../src/load.ts';
import { createProcessLog } from '../../src/log/log.ts';
import { worldOf } from './gateway.ts';

const { plan, problems } = load({ path: 'gateway.yaml', text: process.argv[2] ?? '' }, worldOf());
if (plan === undefined) throw new Error(JSON.stringify(problems));
const gateway = createGateway(plan, createProcessLog('/dev/null'));
const { port } = await gateway.listen();
process.on('message', ({ snapshot }: Asked) => {
  if (snapshot !== undefined) writeHeapSnapshot(snapshot);
  process.send?.(usage());
});
process.send?.({ port });

function usage(): Usage {
  return {
    maxRssBytes: process.resourceUsage().maxRSS * 1024,
    heapBytes: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().length,
  };
}

/** A message of the test. */
export interface Asked {
  /** The file that a heap snapshot is written to. */
  readonly snapshot?: string;
}

export interface Usage {
  /** The most that the process ever had. */
  readonly maxRssBytes: number;
  readonly heapBytes: number;
  /** Sockets, servers and timers that keep it alive. */
  readonly handles: number;
}
