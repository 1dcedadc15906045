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

/** The longest time that compiling a plan delays a request. */
const SLICE_MS = 5;

/** The input of this thread, which `serving-worker.ts` starts. */
const { index, count, version, descriptorLimit, buffers, busName } = workerData as WorkerSetup;
const channel = new ThreadChannel<MainRequests, ServingRequests>(parentPort as ChannelPort);
const memory = new SharedMemory(buffers);
const bus = createWorkerBus(busName);
const log = createForwardedLog((line) => channel.notify('log', line));
const tracer = findRequestTracer(version);
const plan = runToEnd(compileFromInput(takeInput(), undefined));
const gateway = createGateway(plan, log, { tracer, descriptorLimit, worker: { index, count, memory, bus } });
/** The plan that the next activation makes active. */
let prepared: Plan | undefined;
/** Counts the plans to prepare. */
let preparations = 0;

channel.handle('listen', async (address) => {
  await gateway.listen(address);
});
channel.handle('prepare', async ({ input, buffers }) => {
  memory.add(buffers);
  preparations += 1;
  const own = preparations;
  const compiled = await prepare(input);
  // After a failure in another worker, the next plan may be prepared before this one.
  if (own === preparations) prepared = compiled;
});
channel.handle('activate', (hash) => {
  if (prepared?.hash !== hash) throw new Error('another plan was prepared');
  gateway.activate(prepared);
  prepared = undefined;
});
channel.handle('drain', () => gateway.drain());
channel.handle('close', async (graceMs) => {
  await gateway.close(graceMs);
  await tracer.flush();
});
channel.notify('ready', undefined);

async function prepare(input: CompileInput): Promise<Plan> {
  const compiled = await runInSlices(compileFromInput(input, gateway.plan), SLICE_MS);
  await gateway.prepare(compiled);
  return compiled;
}

/** Takes the input of the first plan, which `workerData` would otherwise keep in memory. */
function takeInput(): CompileInput {
  const { input } = workerData as WorkerSetup;
  Reflect.deleteProperty(workerData, 'input');
  return input;
}
