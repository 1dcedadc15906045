import { parentPort, workerData } from 'node:worker_threads';
import { createGateway } from '../gateway/gateway.ts';
import { findRequestTracer } from '../gateway/telemetry/opentelemetry.ts';
import { type CompileInput, compileFromInput } from '../load.ts';
import { createForwardedLog } from '../log/log.ts';
import type { Plan } from '../plan/plan.ts';
import { runInSlices, runToEnd } from '../plan/sliced-work.ts';
import { SharedMemory } from '../shared-memory/shared-memory.ts';
import type { MainRequests, ServingRequests, WorkerSetup } from './messages.ts';
import { type ChannelPort, ThreadChannel } from './thread-channel.ts';
import { createWorkerBus } from './worker-bus.ts';
import { WorkerCandidate } from './worker-candidate.ts';

/** The longest time that compiling a plan delays a request. */
const SLICE_MS = 5;

/** The input of this thread, which `serving-worker.ts` starts. */
const { index, count, version, descriptorLimit, buffers, busName, input } = workerData as WorkerSetup;
const channel = new ThreadChannel<MainRequests, ServingRequests>(parentPort as ChannelPort);
const memory = new SharedMemory(buffers);
const bus = createWorkerBus(busName);
const log = createForwardedLog((line) => channel.notify('log', line));
const tracer = findRequestTracer(version);
const plan = runToEnd(compileFromInput(input, undefined));
const worker = { index, count, memory, bus };
const gateway = createGateway(plan, log, { tracer, descriptorLimit, worker });
const candidate = new WorkerCandidate({ channel, gateway, worker, compile });
/** The plan that the next activation makes active. */
let prepared: Plan | undefined;

channel.handle('listen', async (address) => {
  await gateway.listen(address);
});
channel.handle('prepare', async ({ input, buffers }) => {
  memory.add(buffers);
  const compiled = await compile(input);
  await gateway.prepare(compiled);
  prepared = compiled;
});
channel.handle('activate', (hash) => {
  if (prepared?.hash !== hash) throw new Error('another plan was prepared');
  gateway.activate(prepared);
  candidate.restart();
  prepared = undefined;
});
channel.handle('drain', () => gateway.drain());
channel.handle('close', async (graceMs) => {
  await gateway.close(graceMs);
  await tracer.flush();
});
channel.notify('ready', undefined);

function compile(input: CompileInput): Promise<Plan> {
  return runInSlices(compileFromInput(input, gateway.plan), SLICE_MS);
}
