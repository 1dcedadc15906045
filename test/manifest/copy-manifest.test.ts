import { expect, test } from 'vitest';
import { checkManifest, readManifest } from '../../src/engine/manifest/read-manifest.ts';

/** Keys of the manifest inside of JSON Schemas, and names that an assignment would lose. */
const TEXT = `{"version": 1, "upstreams": {"schema": {"url": "http://127.0.0.1:7002"}, "properties": {"url": "http://127.0.0.1:7003"}},
"schemas": {"routes": {"properties": {"upstreams": {"type": "object"}, "__proto__": {"type": "string"}}}, "body": {}},
"routes": [{"id": "a", "method": "POST", "path": "/a/{id}", "upstream": "schema", "access": "public",
  "params": {"properties": {"id": {"properties": {"body": {}}}}}, "query": {"properties": {"__proto__": {}, "schema": {}}},
  "requestHeaders": {"set": {"__proto__": "a", "properties": "b"}},
  "body": {"schema": {"properties": {"body": {"schema": {}}}}}}]}`;

function readValues() {
  const read = readManifest({ path: 'gateway.yaml', text: TEXT }, ENVIRONMENT);
  return { read, value: read.document.value as Record<string, Record<string, unknown>> };
}

const ENVIRONMENT = { env: {}, readFile: () => expect.unreachable(), expandGlob: () => [] };

test('defaults are written into the checked manifest, and never into the values of the document', () => {
  const { read, value } = readValues();
  const before = JSON.stringify(value);
  const checked = checkManifest(read, ENVIRONMENT);
  expect(checked?.findings).toEqual([]);
  expect(JSON.stringify(value)).toBe(before);
  expect(checked?.manifest.upstreams['schema']).toHaveProperty('timeouts');
  expect(checked?.manifest.routes[0]?.body).toHaveProperty('maxBytes');
});

test('the JSON Schemas of a checked manifest are those of the document, with every name', () => {
  const { read, value } = readValues();
  const { manifest } = checkManifest(read, ENVIRONMENT) ?? expect.unreachable();
  expect(JSON.stringify(manifest.schemas)).toBe(JSON.stringify(value['schemas']));
  const [route] = manifest.routes;
  expect(JSON.stringify(route?.query?.properties)).toBe('{"__proto__":{},"schema":{}}');
  expect(JSON.stringify(route?.requestHeaders?.set)).toBe('{"__proto__":"a","properties":"b"}');
});
