import { parentPort } from 'node:worker_threads';
import { createSchemaValidators, type SchemaValidators } from '../schema/value-validator.ts';
import { findTokens } from '../tokens/find-tokens.ts';
import type { TokenSearchResult } from '../tokens/token-search.ts';
import { validateJson } from './body-validator.ts';
import {
  MAX_CACHED_ROOTS,
  type ResponseSearch,
  type ValidationWorkerRequest,
  type ValidationWorkerResponse,
} from './validation-thread.ts';

/** The other side of `judge-thread.ts`: answers one question after the other. */
const known = new Map<number, SchemaValidators>();

parentPort?.on('message', (question: ValidationWorkerRequest) => {
  const { bytes, search } = question;
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const searchResult = search === undefined ? undefined : searchIn(all, search);
  parentPort?.postMessage(
    { violations: validate(all, question), searchResult, bytes } satisfies ValidationWorkerResponse,
    [bytes.buffer],
  );
});

function validate(
  all: Buffer,
  { rootId, root, checks }: ValidationWorkerRequest,
): ValidationWorkerResponse['violations'] {
  if (rootId === undefined) return [];
  if (root !== undefined) known.set(rootId, createSchemaValidators(root));
  for (const id of known.keys()) if (known.size > MAX_CACHED_ROOTS) known.delete(id);
  const judges = known.get(rootId);
  if (judges === undefined) throw new Error('a question about schemas that never came');
  let start = 0;
  return checks.map(({ path, end }) => {
    const text = all.subarray(start, end);
    start = end;
    return validateJson(judges.validatorAt(path), text);
  });
}

function searchIn(all: Buffer, { locations, bodyEnd, ...head }: ResponseSearch): TokenSearchResult['result'] {
  const body = all.subarray(0, bodyEnd);
  const encodedBody = bodyEnd === all.length ? body : all.subarray(bodyEnd);
  return findTokens(locations, { ...head, body, encodedBody });
}
