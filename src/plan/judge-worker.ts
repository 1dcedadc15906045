import { parentPort } from 'node:worker_threads';
import { judgeBytes } from './body-judge.ts';
import { type Answer, KEPT_ROOTS, type Question, type ResponseSearch } from './judge-thread.ts';
import { createJudges, type Judges } from './judges.ts';
import type { TokenSearch } from './plan.ts';
import { findTokens } from './token-search.ts';

/** The other side of `judge-thread.ts`: answers one question after the other. */
const known = new Map<number, Judges>();

parentPort?.on('message', (question: Question) => {
  const { bytes, search } = question;
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const found = search === undefined ? undefined : searchIn(all, search);
  parentPort?.postMessage({ faults: validate(all, question), found, bytes } satisfies Answer, [bytes.buffer]);
});

function validate(all: Buffer, { rootId, root, checks }: Question): Answer['faults'] {
  if (rootId === undefined) return [];
  if (root !== undefined) known.set(rootId, createJudges(root));
  for (const id of known.keys()) if (known.size > KEPT_ROOTS) known.delete(id);
  const judges = known.get(rootId);
  if (judges === undefined) throw new Error('a question about schemas that never came');
  let start = 0;
  return checks.map(({ path, end }) => {
    const text = all.subarray(start, end);
    start = end;
    return judgeBytes(judges.judgeAt(path), text);
  });
}

function searchIn(all: Buffer, { places, bodyEnd, ...head }: ResponseSearch): TokenSearch['found'] {
  const body = all.subarray(0, bodyEnd);
  const encoded = bodyEnd === all.length ? body : all.subarray(bodyEnd);
  return findTokens(places, { ...head, body, encoded });
}
