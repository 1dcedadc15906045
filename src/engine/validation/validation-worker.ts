import { parentPort } from 'node:worker_threads';
import { getOrCreate } from '../get-or-create.ts';
import { readPattern } from '../routing/pattern.ts';
import { type SchemaRoot, typesAt } from '../schema/schema-walk.ts';
import { createSchemaValidators } from '../schema/value-validator.ts';
import { findTokens } from '../tokens/find-tokens.ts';
import { compileParameters } from './parameters.ts';
import { type ParametersCheck, validateJson } from './request-rules.ts';
import type { ResponseSearch, ValidationWorkerRequest, ValidationWorkerResponse } from './validation-thread.ts';

/** The schemas of recent manifests, by their slots. This worker handles one request of `ValidationThread` at a time. */
const schemasBySlot = new Map<number, ReturnType<typeof createThreadSchemas>>();

parentPort?.on('message', (request: ValidationWorkerRequest) => {
  const { bytes } = request;
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  parentPort?.postMessage({ ...run(request, body), bytes } satisfies ValidationWorkerResponse, [bytes.buffer]);
});

function run({ slot, root, work }: ValidationWorkerRequest, body: Buffer) {
  if (work.kind === 'search') return { violations: [], searchResult: findTokensIn(body, work) };
  if (root !== undefined) schemasBySlot.set(slot, createThreadSchemas(root));
  const schemas = schemasBySlot.get(slot);
  if (schemas === undefined) throw new Error('the request names schemas that were never sent');
  if (work.kind === 'body') return { violations: validateJson(schemas.validatorAt(work.path), body) };
  return { violations: schemas.parametersOf(work.routeIndex)(...work.request) };
}

/** The serving thread has compiled the same schemas and routes, so the findings are known. */
function createThreadSchemas(root: SchemaRoot) {
  const { validatorAt } = createSchemaValidators(root);
  const schemas = {
    root,
    compile: validatorAt,
    typesAt: typesAt.bind(undefined, root),
    listedValuesAt: () => new Set<string>(),
  };
  const checks = new Map<number, ParametersCheck>();
  const parametersOf = (index: number) =>
    getOrCreate(checks, index, () => {
      const entry = root.routes[index];
      const pattern = entry && readPattern(entry.path, () => undefined);
      if (entry === undefined || pattern === undefined)
        throw new Error('the request names a route that was never sent');
      return compileParameters(entry, pattern, ['routes', index], schemas, []).validate;
    });
  return { validatorAt, parametersOf };
}

function findTokensIn(all: Buffer, { locations, bodyEnd, ...head }: ResponseSearch) {
  const body = all.subarray(0, bodyEnd);
  const encodedBody = bodyEnd === all.length ? body : all.subarray(bodyEnd);
  return findTokens(locations, { ...head, body, encodedBody });
}
