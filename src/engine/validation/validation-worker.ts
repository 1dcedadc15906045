import { parentPort } from 'node:worker_threads';
import { createSchemaValidators, type SchemaValidators } from '../schema/value-validator.ts';
import { findTokens } from '../tokens/find-tokens.ts';
import { validateJson } from './body-rule.ts';
import {
  MAX_CACHED_ROOTS,
  type ResponseSearch,
  type ValidationWorkerRequest,
  type ValidationWorkerResponse,
} from './validation-thread.ts';

/** The schemas of recent manifests, by the ids of their roots. This worker handles one request of `ValidationThread` at a time. */
const validatorsByRoot = new Map<number, SchemaValidators>();

parentPort?.on('message', (request: ValidationWorkerRequest) => {
  const { bytes, search } = request;
  const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const searchResult = search === undefined ? undefined : findTokensIn(all, search);
  parentPort?.postMessage(
    { violations: validate(all, request), searchResult, bytes } satisfies ValidationWorkerResponse,
    [bytes.buffer],
  );
});

function validate(all: Buffer, { rootId, root, checks }: ValidationWorkerRequest) {
  if (rootId === undefined) return [];
  if (root !== undefined) validatorsByRoot.set(rootId, createSchemaValidators(root));
  for (const id of validatorsByRoot.keys()) if (validatorsByRoot.size > MAX_CACHED_ROOTS) validatorsByRoot.delete(id);
  const validators = validatorsByRoot.get(rootId);
  if (validators === undefined) throw new Error('the request names schemas that were never sent');
  let start = 0;
  return checks.map(({ path, end }) => {
    const text = all.subarray(start, end);
    start = end;
    return validateJson(validators.validatorAt(path), text);
  });
}

function findTokensIn(all: Buffer, { locations, bodyEnd, ...head }: ResponseSearch) {
  const body = all.subarray(0, bodyEnd);
  const encodedBody = bodyEnd === all.length ? body : all.subarray(bodyEnd);
  return findTokens(locations, { ...head, body, encodedBody });
}
