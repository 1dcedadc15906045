import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createNullLog } from '../../src/engine/log/log.ts';
import {
  createForwardedLog,
  type ForwardedLog,
  type LogBlock,
  writeForwardedBlock,
} from '../../src/process/log/forwarded-log.ts';
import { createProcessLog, linesOf } from '../../src/process/log/process-log.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import '../support/seed.ts';

/** The share of one of 64 workers: 256 KB. */
const COUNT = 64;
const LIMIT = (16 * 1024 * 1024) / COUNT;

/** The log of a worker, and the blocks that the main thread has not written yet. */
function startLog(): { log: ForwardedLog; waiting: LogBlock[] } {
  const waiting: LogBlock[] = [];
  // A transferred block does not share memory with the next one.
  const send = (block: LogBlock) => void waiting.push(structuredClone(block, { transfer: [block.bytes.buffer] }));
  return { log: createForwardedLog({ index: 7, count: COUNT }, send), waiting };
}

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      length: fc.constantFrom(1, 200, 5_000, 30_000, 90_000),
      text: fc.constantFrom('x', 'ü', '€', '😀'),
    }),
  },
  { weight: 1, arbitrary: fc.constant('flush' as const) },
  { weight: 2, arbitrary: fc.constant('write' as const) },
);

describe('the log of a worker', () => {
  it('sends each line once, complete and in order, or counts it as lost, and waits for at most its share of the limit', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { log, waiting } = startLog();
        const written: string[] = [];
        let lost = 0;
        let lines = 0;
        const writeOne = () => {
          const block = waiting.shift();
          if (block === undefined) return;
          written.push(...linesOf(block.bytes));
          lost += block.droppedLines;
          log.release(block.bytes.length);
        };
        for (const action of steps) {
          if (action === 'flush') log.flush();
          else if (action === 'write') writeOne();
          else {
            lines += 1;
            log.writeLine(`${lines} ${action.text.repeat(action.length)}`);
          }
          expect(waiting.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThanOrEqual(LIMIT);
        }
        log.flush();
        while (waiting.length > 0) writeOne();
        const numbers = written.map((line) => Number.parseInt(line, 10));
        expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => one - other));
        expect(written.length + lost).toBe(lines);
        for (const line of written) expect(new Set(line.replace(/^\d+ /, '')).size).toBe(1);
      }),
      { numRuns: runs(300) },
    );
  });

  it('adds the number of the worker to the lines of the logger', () => {
    const { log, waiting } = startLog();
    log.logger.warn({ reason: 'because' }, 'message');
    log.flush();
    const [line = ''] = linesOf(waiting[0]?.bytes ?? new Uint8Array());
    expect(JSON.parse(line)).toMatchObject({ level: 40, worker: 7, reason: 'because', msg: 'message' });
  });

  it('reports lost lines also while no further line is sent', () => {
    const { log, waiting } = startLog();
    for (let count = 0; count < 40; count += 1) log.writeLine('x'.repeat(10_000));
    log.flush();
    const sent = waiting.flatMap(({ bytes }) => linesOf(bytes)).length;
    expect(sent).toBeLessThan(40);
    expect(waiting.reduce((sum, { droppedLines }) => sum + droppedLines, 0)).toBe(40 - sent);
    const total = waiting.length;
    log.flush();
    expect(waiting.length).toBe(total);
  });

  it('has room again for the bytes that were written', () => {
    const { log, waiting } = startLog();
    for (let count = 0; count < 100; count += 1) {
      log.writeLine('x'.repeat(60_000));
      log.flush();
      for (const { bytes, droppedLines } of waiting.splice(0)) {
        expect(droppedLines).toBe(0);
        log.release(bytes.length);
      }
    }
  });

  it.each([
    ['as it is', undefined, '{"a":1}\n{"b":"ü"}\n'],
    ['formatted for a terminal', (json: string) => `line ${json}`, 'line {"a":1}\nline {"b":"ü"}\n'],
  ])('is written to the log of the process %s', async (_how, format, expected) => {
    const file = join(temporaryFolder('log'), 'log');
    const process = createProcessLog(file, format);
    const { log, waiting } = startLog();
    log.writeLine('{"a":1}');
    log.writeLine('{"b":"ü"}');
    log.flush();
    await new Promise<void>((resolve) => writeForwardedBlock(process, waiting[0] as LogBlock, resolve));
    writeForwardedBlock(process, { bytes: new Uint8Array(), droppedLines: 3 }, () => undefined);
    expect(process.status().droppedLines).toBe(3);
    await process.end();
    expect(readFileSync(file, 'utf8')).toBe(expected);
  });

  it('is written line by line to a log that takes no blocks', () => {
    const { log, waiting } = startLog();
    log.writeLine('{"a":1}');
    log.writeLine('{"b":"ü"}');
    log.flush();
    const lines: string[] = [];
    let written = 0;
    const block = waiting[0] as LogBlock;
    writeForwardedBlock({ ...createNullLog(), writeLine: (line) => void lines.push(line) }, block, () => {
      written += 1;
    });
    expect([lines, written]).toEqual([['{"a":1}', '{"b":"ü"}'], 1]);
  });
});
