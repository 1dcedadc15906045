import { compileInvariants, type Invariant } from '../engine/invariants/compile-invariants.ts';
import { type Proof, proveInvariants } from '../engine/invariants/prove.ts';
import type { PlannedManifest } from '../engine/load.ts';
import { type Document, parse } from '../engine/manifest/document.ts';
import { checkManifest } from '../engine/manifest/read-manifest.ts';
import type { Environment } from '../engine/manifest/source.ts';
import type { Finding } from '../engine/problem/finding.ts';
import { isMap } from '../engine/schema/schema-walk.ts';

/** A question is no valid invariant. The message says why. */
export class QuestionError extends Error {}

/** Proves one more invariant: `when CONDITION require REQUIREMENT`, with or without braces, or YAML. Throws a `QuestionError`. */
export function proveQuestion(
  planned: Pick<PlannedManifest, 'document' | 'manifest' | 'plan'>,
  text: string,
  env: Environment['env'],
): Proof {
  const { invariants, findings } = compileFurther(planned, [readQuestion(text)], env);
  const [proof] = findings.length > 0 ? [] : proveInvariants(invariants, planned.manifest, planned.plan);
  if (proof === undefined) throw new QuestionError(findings.map((finding) => describeFinding(finding)).join('; '));
  return proof;
}

/** Compiles invariants in place of those of a manifest, with the names that it has. */
export function compileFurther(
  { document }: Pick<PlannedManifest, 'document'>,
  entries: readonly Document['value'][],
  env: Environment['env'],
): { readonly invariants: readonly Invariant[]; readonly findings: readonly Finding[] } {
  const value = { ...(document.value as object), invariants: entries } as Document['value'];
  const checked = checkManifest({ document: { ...document, value }, findings: [] }, { env });
  const findings = [...(checked?.findings ?? [])];
  const invariants = checked === undefined || findings.length > 0 ? [] : compileInvariants(checked.manifest, findings);
  return { invariants, findings };
}

const WORDS = /^\s*(?:when\s+(?<when>\S.*?)\s+)?require\s+(?<require>\S.*?)\s*$/s;

function readQuestion(text: string) {
  const { when = '{}', require } = WORDS.exec(text)?.groups ?? {};
  const yaml = require === undefined ? text : `{ when: ${inBraces(when)}, require: ${inBraces(require)} }`;
  const { document, findings } = parse({ path: 'question', text: yaml });
  if (findings.length > 0 || !isMap(document.value))
    throw new QuestionError(
      `write it as 'when path: /internal/** require served: false'${/[{}]/.test(text) ? QUOTES : ''}`,
    );
  return { id: 'question', ...document.value };
}

/** YAML reads braces without quotes as a map. */
const QUOTES = `, with quotes around a path that has braces: "when path: '/accounts/{id}' require access: protected"`;

function inBraces(text: string): string {
  return text.startsWith('{') ? text : `{ ${text} }`;
}

/** Names the member of the question, then what is wrong with it. */
export function describeFinding({ location, message }: Pick<Finding, 'location' | 'message'>): string {
  const member = 'path' in location ? location.path.slice(2).join('.') : '';
  return member === '' ? message : `${member}: ${message}`;
}
