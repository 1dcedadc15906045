import type { Path } from '../problem/finding.ts';
import { judgeInThread } from './judge-thread.ts';
import type { Judge } from './judges.ts';
import type { BodyRule, Fault } from './plan.ts';
import { shortPointer } from './pointer.ts';
import type { SchemaRoot } from './schema-files.ts';
import { parseStrictJson } from './strict-json.ts';

/** What is read and judged on the event loop; a longer body could hold it for longer than 50 ms. */
const MAX_LOOP_BYTES = 65_536;

/** Reads and judges bodies by the schema at a path; long ones in another thread. */
export function createBodyJudge(judge: Judge, root: SchemaRoot, path: Path): NonNullable<BodyRule['judge']> {
  return (body) =>
    body.length > MAX_LOOP_BYTES ? judgeInThread(root, path, body) : { faults: judgeBytes(judge, body), body };
}

/** What is wrong with a body, as JSON and by a schema. */
export function judgeBytes(judge: Judge, bytes: Buffer): readonly Fault[] {
  const parsed = parseStrictJson(bytes);
  if (!('fault' in parsed)) return judge(parsed.value, bytes.length);
  return [{ ...parsed.fault, pointer: shortPointer(parsed.fault.pointer) }];
}
