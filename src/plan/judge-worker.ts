import { parentPort } from 'node:worker_threads';
import { judgeBytes } from './body-judge.ts';
import { type Answer, KEPT_ROOTS, type Question } from './judge-thread.ts';
import { createJudges, type Judges } from './judges.ts';

/** The other side of `judge-thread.ts`: answers one question after the other. */
const known = new Map<number, Judges>();

parentPort?.on('message', ({ rootId, root, checks, bytes }: Question) => {
  if (root !== undefined) known.set(rootId, createJudges(root));
  for (const id of known.keys()) if (known.size > KEPT_ROOTS) known.delete(id);
  const judges = known.get(rootId);
  if (judges === undefined) throw new Error('a question about schemas that never came');
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  let start = 0;
  const faults = checks.map(({ path, end }) => {
    const text = all.subarray(start, end);
    start = end;
    return judgeBytes(judges.judgeAt(path), text);
  });
  parentPort?.postMessage({ faults, bytes } satisfies Answer, [bytes.buffer]);
});
