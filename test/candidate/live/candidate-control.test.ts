import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { load, type PlannedManifest } from '../../../src/engine/load.ts';
import { createSingleWorker, SharedMemory } from '../../../src/engine/shared-memory/worker-context.ts';
import { CandidateControl } from '../../../src/traffic/candidate/candidate-control.ts';
import { CandidateResults, type ResultBatch } from '../../../src/traffic/candidate/candidate-results.ts';
import type {
  ComparingWorkers,
  ComparisonDefinition,
  ComparisonListener,
} from '../../../src/traffic/candidate/comparing-workers.ts';
import { SharedComparison } from '../../../src/traffic/candidate/shared-comparison.ts';
import { manifest, PUBLIC_ALL, startGateway, type TestGateway, worldOf } from '../../support/gateway.ts';

let gateway: TestGateway;
let control: CandidateControl;
let listener: ComparisonListener;
let definitions: ComparisonDefinition[];
/** Lets the other worker start to compare. */
let start: () => void;

const text = manifest(PUBLIC_ALL, { up: 'http://127.0.0.1:9' });

beforeAll(async () => {
  gateway = await startGateway(text);
});
afterAll(() => gateway.close());

beforeEach(() => {
  definitions = [];
  const workers: ComparingWorkers = {
    context: { ...createSingleWorker(), count: 2 },
    listen: (value) => {
      listener = value;
    },
    prepare: async () => undefined,
    compare: (_, definition) => {
      definitions.push(definition);
      const started = Promise.withResolvers<void>();
      start = started.resolve;
      return started.promise;
    },
    stop: async () => undefined,
  };
  control = new CandidateControl(gateway.gateway, gateway.log.logger, workers);
  return () => control.remove();
});

function loadCandidate(): PlannedManifest {
  const loaded = load({ path: 'next.yaml', text }, worldOf(), gateway.gateway.plan);
  if (loaded.plan === undefined) throw new Error('the candidate has problems');
  return loaded;
}

/** Returns the results of some requests that are the same, and an error. */
function batchOf(same: number): ResultBatch {
  const results = new CandidateResults();
  for (let request = 0; request < same; request += 1) results.comparison.addSame();
  results.fail(new Error('broken'));
  return structuredClone(results.take()) as ResultBatch;
}

/** Lets worker 1 observe some requests of the last comparison. */
function observe(requests: number): void {
  const memory = new SharedMemory(definitions.at(-1)?.buffers);
  const shared = new SharedComparison({ index: 1, count: 2, memory }, 0);
  for (let request = 0; request < requests; request += 1) shared.countObserved();
}

describe('the results of another worker', () => {
  it('are added to those of the main thread, and their first error is logged once', async () => {
    void control.activate(loadCandidate(), 'request', 1);
    start();
    const logged = gateway.told.length;
    for (const same of [2, 3]) listener.addResults(1, definitions[0]?.id ?? 0, batchOf(same));
    expect([control.status?.counts.same, control.status?.errors]).toEqual([5, 2]);
    expect(gateway.told.slice(logged).map(({ msg, reason }) => [msg, reason])).toEqual([
      ['the candidate failed to compare a request', 'Error: broken'],
    ]);
  });

  it('are dropped if they are of an earlier comparison', async () => {
    void control.activate(loadCandidate(), 'request', 1);
    void control.rebase();
    start();
    const [earlier, current] = definitions;
    listener.addResults(1, earlier?.id ?? 0, batchOf(2));
    expect([earlier?.id === current?.id, control.status?.counts.requests]).toEqual([false, 0]);
    expect(current?.rules.salt).not.toBe(earlier?.rules.salt);
    await control.remove();
    listener.addResults(1, current?.id ?? 0, batchOf(2));
    expect(control.status).toBeUndefined();
  });

  it('are counted as skipped if the worker ends before it sends them', () => {
    void control.activate(loadCandidate(), 'request', 1);
    start();
    expect(control.status?.skipped).toEqual({ queue: 0, 'earlier-plan': 0, sample: 0 });
    observe(10);
    listener.addResults(1, definitions[0]?.id ?? 0, batchOf(5));
    listener.forgetWorker(1);
    expect(control.status?.skipped).toEqual({ queue: 0, 'earlier-plan': 0, sample: 0, worker: 4 });
    // The worker that replaces it has the same index.
    observe(6);
    listener.addResults(1, definitions[0]?.id ?? 0, batchOf(5));
    listener.forgetWorker(1);
    expect([control.status?.counts.same, control.status?.skipped.worker]).toEqual([10, 4]);
  });
});

it('an activation ends when all workers compare', async () => {
  let hasEnded = false;
  const activation = control.activate(loadCandidate(), 'request', 1).then(() => {
    hasEnded = true;
  });
  await new Promise(setImmediate);
  expect([hasEnded, control.status?.source]).toEqual([false, 'request']);
  start();
  await activation;
});
