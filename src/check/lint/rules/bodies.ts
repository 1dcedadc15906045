import { sizeBytes } from '../../../engine/manifest/units.ts';
import { referencePath } from '../../../engine/schema/schema-walk.ts';
import { hasWriteMethod } from '../lint-context.ts';
import { findingAt, findingAtKey, rulesOf } from '../rule.ts';

/** The gateway buffers these bodies: each request may use this much memory. */
const BUFFERED_BYTES = 32 * 1024 ** 2;
const STREAMED_BYTES = 1024 ** 3;

export const BODY_RULES = rulesOf('validation', {
  'body-large': {
    level: ['warning', 'recommended'],
    rationale:
      'The gateway buffers a body before it validates it, so a few large bodies at the same time can exhaust the memory.',
    *find({ routes }) {
      for (const { entry, route, path } of routes) {
        const { body, login } = entry;
        const isBuffered = body?.schema !== undefined;
        const action = isBuffered ? 'buffers' : 'forwards';
        if (body !== undefined && sizeBytes(body.maxBytes) > (isBuffered ? BUFFERED_BYTES : STREAMED_BYTES))
          yield findingAt([...path, 'body', 'maxBytes'], sizeMessage(body.maxBytes, action));
        if (login !== undefined && (route.login?.limitBytes ?? 0) > BUFFERED_BYTES)
          yield findingAt([...path, 'login', 'maxBytes'], sizeMessage(login.maxBytes, 'buffers'));
      }
    },
  },
  'body-without-rule': {
    level: ['warning', 'recommended'],
    rationale:
      'Without "body" the gateway forwards bodies of any content and length, and the upstream has to handle all of them.',
    atKey: ['method'],
    route: ({ entry }) =>
      entry.access === 'protected' &&
      entry.body === undefined &&
      hasWriteMethod(entry, false) &&
      'this route forwards bodies of any content and length; add body: with a schema, or at least with maxBytes',
  },
  'schema-anything': {
    level: ['info', 'recommended'],
    rationale:
      'The gateway buffers and parses the body but accepts any content: this costs time and memory, and rejects only malformed JSON.',
    at: ['body', 'schema'],
    route: ({ entry: { body: { schema } = {} } }) => {
      const isEmpty = schema === true || (typeof schema === 'object' && Object.keys(schema).length === 0);
      return isEmpty && 'this schema accepts any JSON; describe the body, or remove "schema"';
    },
  },
  'schema-unused': {
    level: ['warning', 'recommended'],
    rationale:
      'A schema without references validates nothing: either a body that should be validated is not, or the schema is obsolete.',
    *find({ manifest, schemas }) {
      const used = new Set<string>();
      const usedBy = new Map<string, string[]>();
      for (const { schema, path } of schemas) {
        const [section, name] = (typeof schema['$ref'] === 'string' && referencePath(schema['$ref'])) || [];
        if (section !== 'schemas' || name === undefined) continue;
        const user = String(path[1]);
        if (path[0] === 'schemas') usedBy.set(user, [...(usedBy.get(user) ?? []), name]);
        else used.add(name);
      }
      // The loop also visits names that it adds: a schema that a used schema refers to is used.
      for (const name of used) for (const other of usedBy.get(name) ?? []) used.add(other);
      for (const name of Object.keys(manifest.schemas))
        if (!used.has(name))
          yield findingAtKey(['schemas', name], `nothing refers to "${name}"; refer to it, or remove it`);
    },
  },
  'validation-report': {
    level: ['info', 'recommended'],
    rationale: 'The gateway still forwards invalid requests; this is meant for a transition and is easily forgotten.',
    at: ['validation'],
    route: ({ entry }) =>
      entry.validation === 'report' &&
      'the gateway logs invalid requests but forwards them; write enforce when the log shows no more violations',
  },
});

function sizeMessage(size: string, action: 'buffers' | 'forwards'): string {
  return `the gateway ${action} up to ${size} for each request; write ${action === 'forwards' ? '1GB' : '32MB'} or less`;
}
