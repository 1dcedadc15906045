import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Wire } from '../support/raw.ts';
import { IS_DEEP } from '../support/runs.ts';
import { startUpstream, type Upstream } from '../support/upstream.ts';
import { sendOn, startWorkerSite, type WorkerSite } from '../support/worker-site.ts';
import { type CandidateReport, readReportAfter } from './candidate-report.ts';

let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());

/** The candidates, with the kind of the change that they make to a request of each line. */
const CANDIDATES = {
  schema: { rule: ', query: { properties: { page: { type: integer } } }', kinds: ['same', 'newly-refused', 'same'] },
  header: { rule: ", requestHeaders: { set: { X-Added: '1' } }", kinds: ['other-message', 'other-message', 'same'] },
  equal: { rule: '', kinds: ['same', 'same', 'same'] },
} as const;
type CandidateName = keyof typeof CANDIDATES;

const LINES = ['GET /a?page=1 HTTP/1.1', 'GET /a?page=x HTTP/1.1', 'GET /b HTTP/1.1'];

function textOf(rule: string, version: number): string {
  const header = `responseHeaders: { set: { X-Version: '${version}' } }`;
  return `version: 1
listen: 127.0.0.1:0
admin: 127.0.0.1:0
upstreams: { up: { url: '${upstream.url}' } }
routes:
  - { id: a, method: GET, path: /a, upstream: up, access: public${rule} }
  - { id: b, method: GET, path: /b, upstream: up, access: public, ${header} }
`;
}

const lines = fc.array(fc.nat(LINES.length - 1), { minLength: 1, maxLength: 6 });
const anyOperation = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('send' as const), lines, main: fc.boolean() }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      name: fc.constantFrom(...(Object.keys(CANDIDATES) as CandidateName[])),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('rejected put' as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('reload' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reload and put' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('end a worker' as const) }) },
);
type Operation = typeof anyOperation extends fc.Arbitrary<infer Value> ? Value : never;

/** A third failure within a minute would end the process. */
const MAX_ENDS = 2;

/** The counts that a candidate must have, and the operations that lead to them. */
class Model {
  readonly #site: WorkerSite;
  #wires: readonly [Wire[], Wire[]];
  #candidate: CandidateName | undefined;
  #version = 1;
  #ends = 0;
  #expected = new Map<string, number>();
  /** True if some results may be lost. */
  #hasLost = false;

  private constructor(site: WorkerSite, wires: readonly [Wire[], Wire[]]) {
    this.#site = site;
    this.#wires = wires;
  }

  static async start(): Promise<Model> {
    const site = await startWorkerSite(textOf('', 1), 3);
    return new Model(site, await site.openWires(2));
  }

  close(): Promise<void> {
    return this.#site.close();
  }

  async run(operation: Operation): Promise<void> {
    if (operation.kind === 'send') await this.#send(operation.lines, operation.main);
    else if (operation.kind === 'put') await this.#put(operation.name);
    else if (operation.kind === 'rejected put') await this.#request('PUT', 'nonsense: 1', 422);
    else if (operation.kind === 'delete') await this.#delete();
    else if (operation.kind === 'reload') await this.#reload();
    else if (operation.kind === 'reload and put') await Promise.all([this.#reload(), this.#put('schema')]);
    else if (this.#ends < MAX_ENDS) await this.#endWorker();
  }

  /** Compares the report with the expected counts. */
  async check(): Promise<void> {
    const expected = [...this.#expected.values()].reduce((sum, count) => sum + count, 0);
    const report = await readReportAfter(this.#site, expected);
    expect(report.state).toBe(this.#candidate === undefined ? 'none' : 'active');
    const counts = countsOf(report);
    if (this.#hasLost) {
      for (const [kind, count] of counts) expect(count).toBeLessThanOrEqual(this.#expected.get(kind) ?? 0);
    } else expect([counts, report.skipped.total]).toEqual([this.#expected, 0]);
  }

  async #send(lines: readonly number[], isMain: boolean): Promise<void> {
    const wires = this.#wires[isMain ? 0 : 1];
    for (const [index, line] of lines.entries()) {
      const wire = wires[index % wires.length] as Wire;
      expect((await sendOn(wire, LINES[line] as string)).status).toBe(200);
      this.#expect(this.#candidate === undefined ? undefined : CANDIDATES[this.#candidate].kinds[line], 1);
    }
  }

  async #put(name: CandidateName): Promise<void> {
    await this.#request('PUT', textOf(CANDIDATES[name].rule, this.#version), 200);
    this.#candidate = name;
    this.#reset();
  }

  async #delete(): Promise<void> {
    await this.#request('DELETE', undefined, 200);
    this.#candidate = undefined;
    this.#reset();
  }

  async #reload(): Promise<void> {
    this.#version += 1;
    await this.#site.reload(textOf('', this.#version));
    this.#reset();
  }

  /** Ends a worker before it may have sent its last results, and connects to the others and the one that replaces it. */
  async #endWorker(): Promise<void> {
    await this.#site.threads[this.#ends]?.terminate();
    this.#ends += 1;
    this.#hasLost = true;
    await this.#site.complete();
    for (const wire of this.#wires.flat()) wire.end();
    const before = this.#site.probes;
    this.#wires = await this.#site.openWires(2);
    if (this.#candidate !== undefined) this.#expect('same', this.#site.probes - before);
  }

  async #request(method: string, body: string | undefined, status: number): Promise<void> {
    const init = body === undefined ? { method } : { method, body };
    const response = await fetch(`${this.#site.adminUrl}/-/candidate`, init);
    const text = await response.text();
    expect([response.status, response.status === status ? '' : text]).toEqual([status, '']);
  }

  #expect(kind: string | undefined, count: number): void {
    if (kind !== undefined && count > 0) this.#expected.set(kind, (this.#expected.get(kind) ?? 0) + count);
  }

  #reset(): void {
    this.#expected = new Map();
    this.#hasLost = false;
  }
}

function countsOf({ same, changed }: CandidateReport): Map<string, number> {
  return new Map([['same', same] as const, ...Object.entries(changed.kinds)].filter(([, count]) => count > 0));
}

it('a candidate has the counts of all workers after any operations', async () => {
  const anyOperations = fc.array(anyOperation, { minLength: 10, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(anyOperations, async (operations) => {
      const model = await Model.start();
      try {
        for (const operation of operations) {
          await model.run(operation);
          await model.check();
        }
      } finally {
        await model.close();
      }
    }),
    { numRuns: IS_DEEP ? 25 : 2, endOnFailure: true },
  );
});
