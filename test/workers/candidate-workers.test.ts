import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { CompileInput } from '../../src/engine/load.ts';
import type { Plan } from '../../src/engine/plan/plan.ts';
import { createSingleWorker } from '../../src/engine/shared-memory/worker-context.ts';
import { CandidateWorkers } from '../../src/process/workers/candidate-workers.ts';
import type { ServingRequest } from '../../src/process/workers/messages.ts';
import type { ServingWorker } from '../../src/process/workers/serving-worker.ts';
import type { ComparisonDefinition } from '../../src/traffic/candidate/comparing-workers.ts';
import { runs } from '../support/runs.ts';

/** A worker as its thread is: it compares with the candidate that it has compiled last. */
class FakeWorker {
  readonly index: number;
  /** Waits before and after each request. */
  readonly #wait: () => Promise<void>;
  hasJoined = true;
  compiled: CompileInput | undefined;
  compared: { readonly input: CompileInput | undefined; readonly definition: ComparisonDefinition } | undefined;

  /** Comparisons that the worker made already. To start again loses results. */
  repeated = 0;

  constructor(index: number, wait: () => Promise<void>) {
    this.index = index;
    this.#wait = wait;
  }

  async request(...request: ServingRequest): Promise<void> {
    await this.#wait();
    this.#handle(request);
    await this.#wait();
  }

  #handle([name, value]: ServingRequest): void {
    if (!this.hasJoined) throw new Error('the thread ended');
    if (name === 'prepareCandidate') this.compiled = value.input;
    else if (name === 'compare') {
      if (value !== undefined && value === this.compared?.definition) this.repeated += 1;
      this.compared = value && { input: this.compiled, definition: value };
      if (value === undefined) this.compiled = undefined;
    }
  }
}

const anyStep = fc.record({
  operation: fc.constantFrom('prepare', 'compare', 'compare', 'stop', 'join', 'end', 'wait', 'wait', 'wait'),
  input: fc.nat(1),
  /** The turns of the event loop that the next requests take. */
  turns: fc.nat(3),
});

const INPUTS = [0, 1].map((name) => ({ name }) as unknown as CompileInput);

it('every worker makes the comparison that was wanted last, with its candidate, after any operations', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 25 }), async (steps) => {
      let turns = 0;
      let lastId = 0;
      let wanted: FakeWorker['compared'];
      const wait = async () => {
        for (let turn = turns; turn > 0; turn -= 1) await new Promise(setImmediate);
      };
      const workers = [new FakeWorker(1, wait), new FakeWorker(2, wait)];
      const joined = () => workers.filter(({ hasJoined }) => hasJoined);
      const candidates = new CandidateWorkers({
        context: createSingleWorker(),
        logger: pino({ level: 'silent' }),
        workers: () => joined() as unknown as ServingWorker[],
        addVerifier: () => undefined,
      });
      const pending: Promise<unknown>[] = [];
      for (const step of steps) {
        turns = step.turns;
        const input = INPUTS[step.input] as CompileInput;
        if (step.operation === 'prepare') pending.push(candidates.prepare({ plan: {} as Plan, compileInput: input }));
        else if (step.operation === 'compare') {
          lastId += 1;
          wanted = { input, definition: { id: lastId } as ComparisonDefinition };
          pending.push(candidates.compare(input, wanted.definition));
        } else if (step.operation === 'stop') {
          wanted = undefined;
          pending.push(candidates.stop());
        } else if (step.operation === 'join') {
          const worker = new FakeWorker(workers.length + 1, wait);
          workers.push(worker);
          pending.push(candidates.update(worker as unknown as ServingWorker));
        } else if (step.operation === 'end') {
          const [first] = joined();
          if (first !== undefined) first.hasJoined = false;
        } else await Promise.all(pending);
      }
      await Promise.all(pending);
      for (const { compared, repeated } of joined()) expect([compared, repeated]).toEqual([wanted, 0]);
    }),
    { numRuns: runs(1_000) },
  );
});
