import { parentPort, workerData } from 'node:worker_threads';
import { createGateway } from '../../engine/gateway/gateway.ts';
import { type CompileInput, compileFromInput } from '../../engine/load.ts';
import type { Plan } from '../../engine/plan/plan.ts';
import { runToEnd } from '../../engine/plan/sliced-work.ts';
import { SharedMemory } from '../../engine/shared-memory/worker-context.ts';
import { createForwardedLog } from '../log/forwarded-log.ts';
import { runInSlices } from '../run-in-slices.ts';
import { findRequestTracer } from '../telemetry/opentelemetry.ts';
import { createWorkerBus } from './main-context.ts';
import type { MainRequests, ServingRequests, WorkerSetup } from './messages.ts';
import { createRequestEventBatches } from './request-event-batches.ts';
import { createMainThreadVerifier } from './shared-verifiers.ts';
import { type ChannelPort, ThreadChannel } from './thread-channel.ts';
import { readFigures } from './thread-figures.ts';
import { createWorkerCandidate } from './worker-candidate.ts';

/** The longest time that compiling a plan delays a request. */
const SLICE_MS = 5;
const FIGURES_INTERVAL_MS = 1_000;
const HEARTBEAT_INTERVAL_MS = 250;

/** The input of this thread, which `serving-worker.ts` starts. */
const { index, count, version, descriptorLimit, buffers, busName, heartbeat } = workerData as WorkerSetup;
const channel = new ThreadChannel<MainRequests, ServingRequests>(parentPort as ChannelPort);
const memory = new SharedMemory(buffers);
const bus = createWorkerBus(busName);
const log = createForwardedLog({ index, count }, (block) => channel.notify('log', block, [block.bytes.buffer]));
const tracer = findRequestTracer(version);
const worker = { index, count, memory, bus };
const networkVerifier = (key: string) => createMainThreadVerifier(channel, key);
const plan = runToEnd(compileFromInput(takeInput(), undefined, networkVerifier));
for (const method of plan.auth?.verifier.methods ?? []) method.share(worker);
const gateway = createGateway(plan, log, { tracer, descriptorLimit, worker });
const batches = createRequestEventBatches(gateway, (batch) => channel.notify('events', batch));
const candidate = createWorkerCandidate({ channel, gateway, worker, compile });
/** The plan that the next activation makes active. */
let prepared: Promise<Plan> | undefined;

channel.handle('listen', async (address) => {
  await gateway.listen(address);
});
channel.handle('prepare', async ({ input, buffers }) => {
  memory.add(buffers);
  // After a failure in another worker, the next plan may be prepared before this one. The latest one counts.
  prepared = compile(input).then((plan) => gateway.prepare(plan).then(() => plan));
  await prepared;
});
channel.handle('activate', async (hash) => {
  const next = await prepared;
  if (next?.hash !== hash) throw new Error('another plan was prepared');
  gateway.activate(next);
  candidate.restart();
  prepared = undefined;
});
channel.handle('warmUp', async (traffic) => {
  const { warmUp } = await import('../../prove/offline/warm-up.ts');
  await warmUp(traffic);
});
channel.handle('logWritten', (bytes) => log.release(bytes));
channel.handle('sendEvents', (isListening) => (isListening ? batches.start() : batches.stop()));
channel.handle('drain', () => gateway.drain());
channel.handle('close', async (graceMs) => {
  await gateway.close(graceMs);
  await tracer?.flush();
  batches.flush();
  sendFigures();
  log.flush();
});
sendFigures();
setInterval(sendFigures, FIGURES_INTERVAL_MS).unref();
Atomics.add(heartbeat, 0, 1);
setInterval(() => Atomics.add(heartbeat, 0, 1), HEARTBEAT_INTERVAL_MS).unref();
channel.notify('ready', undefined);

function sendFigures(): void {
  channel.notify('figures', readFigures(gateway));
}

/** Compiles a plan that uses the parts of the active one that are equal. */
async function compile(input: CompileInput): Promise<Plan> {
  const compiled = await runInSlices(compileFromInput(input, gateway.plan, networkVerifier), SLICE_MS);
  for (const method of compiled.auth?.verifier.methods ?? []) method.share(worker);
  return compiled;
}

/** Takes the input of the first plan, which `workerData` would otherwise keep in memory. */
function takeInput(): CompileInput {
  const { input } = workerData as WorkerSetup;
  Reflect.deleteProperty(workerData, 'input');
  return input;
}
