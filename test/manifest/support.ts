import { type LoadResult, load } from '../../src/engine/load.ts';
import type { Problem } from '../../src/engine/problem/problem.ts';
import type { Violation } from '../../src/engine/schema/schema-violation.ts';

const NO_FILES = (path: string): never => {
  throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' });
};

export function loadText(text: string, env: Record<string, string | undefined> = {}): LoadResult {
  return load({ path: 'gateway.yaml', text }, { env, readFile: NO_FILES });
}

/** Returns the only problem of a text, as `line:column message`. */
export function problemOf(text: string, env: Record<string, string> = {}): string {
  const { plan, problems } = loadText(text, env);
  if (plan !== undefined || problems.length !== 1)
    throw new Error(`${problems.length} problems: ${problems.slice(0, 5).map(formatProblem).join('\n')}`);
  return problems.map(formatProblem).join('\n');
}

export function formatProblem({ range, message }: Problem): string {
  return `${range.line}:${range.column} ${message}`;
}

/** Returns a small manifest with other keys above its routes. */
export function manifestOf(above = '', routes = ROUTE): string {
  return `version: 1
upstreams:
  contacts: { url: http://127.0.0.1:7002 }
${above}routes:
${routes}`;
}

export const ROUTE = `  - { id: contacts, method: POST, path: /api/contacts, upstream: contacts, access: public }
`;

/** Returns a route with a body schema. */
export function bodyRoute(schema: string): string {
  return ROUTE.replace(' }', () => `, body: { schema: ${schema} } }`);
}

/** Returns the violations of a short body of the first route; `undefined` if the route has no schema. */
export function violationsOf({ plan, problems }: LoadResult, body: string): readonly Violation[] | undefined {
  if (plan === undefined) throw new Error(problems.map(formatProblem).join('\n'));
  const result = plan.routes[0]?.body?.validate?.(Buffer.from(body));
  if (result instanceof Promise) throw new Error('the body is validated in another thread');
  return result?.violations;
}

export const AUTH = `auth:
  tokens:
    jwt: { jwks: http://127.0.0.1:9/jwks.json, algorithms: [ES256], issuer: https://identity.example, audience: signing-gateway }
  role: { claim: /company_role, allow: [admin, user], message: admins and users only }
`;

export function repeat(count: number, write: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => write(index)).join('');
}

/** Adds the parts that an example of the documentation lacks. */
export function completeManifest(example: string): string {
  const parts = ['version: 1', example.trimEnd()];
  if (!/^upstreams:/m.test(example)) parts.push('upstreams: { contacts: { url: http://127.0.0.1:7002 } }');
  if (!/^auth:/m.test(example) && /protected|login:/.test(example)) parts.push(AUTH.trimEnd());
  if (!/^routes:/m.test(example)) parts.push(`routes:\n${ROUTE.trimEnd()}`);
  return `${parts.join('\n')}\n`;
}
