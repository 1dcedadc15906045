import { findNamedSecrets, findSecretFormats, isJsonPointer, type SecretRange } from '../check/lint/secret-text.ts';
import type { ParsedText } from '../engine/manifest/document.ts';
import type { Path } from '../engine/problem/finding.ts';

/** A key that is named like a secret: its value is one. */
const SECRET_NAME =
  /(?:tokens?|secrets?|passw(?:or)?ds?|passphrase|credentials?|authorization|cookie|[_-]key|(?:api|access|private|secret|signing)key)$/i;
/** Keys whose value belongs to the key above: `password: { default: … }`. */
const LITERAL_KEYS: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples', 'value']);
/** The parts of a value that stay readable: references to variables, and the start of one with a default. */
const REFERENCE = /\$\{(?:\w+(?:\}|:-)|file:[^{}]*\})/g;
const SCHEME = /^\W*(?:Basic|Bearer)\W*$/i;

/** Finds the values of keys that are named like secrets, and secrets of a known format. References to variables have no values. */
export function findSecretRanges(text: string, parsed: ParsedText): SecretRange[] {
  const formats = findSecretFormats(text);
  // After a syntax error there are no values, and the positions are a guess.
  if (parsed.findings.length > 0) {
    const ranges = parsed.positions.scalarsNamed(SECRET_NAME).flatMap(({ start, end }) => {
      const written = text.slice(start, end);
      // In `{ token: ${NAME} }` the value is the dollar sign.
      return written === '$' || isJsonPointer(written) ? [] : literalRanges(written, start);
    });
    return [...formats, ...findNamedSecrets(text), ...ranges];
  }
  const comments = parsed
    .comments()
    .flatMap((comment) => findNamedSecrets(comment.text).map((range) => shift(range, comment.start)));
  return [...formats, ...comments, ...findSecretValues(text, parsed)];
}

function findSecretValues(text: string, { value, positions }: ParsedText): SecretRange[] {
  const found: SecretRange[] = [];
  for (const { scalar, path } of scalarsOf(value)) {
    const { row } = positions.find(path, 'follow');
    const { start, end } = positions.valueOf(positions.targetOf(row));
    const written = text.slice(start, end);
    if (hasSecretName(path) && !isJsonPointer(scalar)) found.push(...literalRanges(written, start));
    // Escapes and line breaks hide the format of a secret from a search in the text.
    else if (!written.includes(scalar) && findSecretFormats(scalar).length > 0) found.push({ start, end });
  }
  return found;
}

function hasSecretName(path: Path): boolean {
  const names = path.filter((step) => typeof step === 'string');
  const isLiteral = LITERAL_KEYS.has(names.at(-1) ?? '');
  return SECRET_NAME.test(names.at(isLiteral ? -2 : -1) ?? '');
}

/** Returns the parts of a value that are neither references nor the scheme of an `Authorization` header. */
function literalRanges(written: string, start: number): SecretRange[] {
  const ranges: SecretRange[] = [];
  let at = 0;
  const add = (end: number) => {
    const part = written.slice(at, end);
    if (SCHEME.test(part)) return;
    for (const { index, 0: word } of part.matchAll(/[^\s}"']+/g))
      ranges.push({ start: start + at + index, end: start + at + index + word.length });
  };
  for (const { index, 0: reference } of written.matchAll(REFERENCE)) {
    add(index);
    at = index + reference.length;
  }
  add(written.length);
  return ranges;
}

/** Yields the texts and numbers of a manifest. The path is valid only until the next one: there may be hundreds of thousands. */
function* scalarsOf(
  value: ParsedText['value'],
  path: (string | number)[] = [],
): Generator<{ readonly scalar: string; readonly path: Path }> {
  if (typeof value === 'string' || typeof value === 'number') yield { scalar: String(value), path };
  if (value === null || typeof value !== 'object') return;
  for (const [key, member] of Object.entries(value)) {
    path.push(Array.isArray(value) ? Number(key) : key);
    yield* scalarsOf(member, path);
    path.pop();
  }
}

function shift({ start, end }: SecretRange, by: number): SecretRange {
  return { start: start + by, end: end + by };
}
