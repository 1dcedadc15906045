/** What the parts of a signed JWT and the dots between them are made of. */
const RUN = /[A-Za-z0-9_.-]+/g;
/** The base64url of what begins with a brace, or with the white space that may stand before one. */
const HEADER = /^[eICD][A-Za-z0-9_-]{11,}$/;

/**
 * Every text in a JSON value that a verifier of signed JWTs could take for one (RFC 7515 section 7.1), wherever it stands:
 * in a member's name, behind a scheme, in a URL.
 */
export function findJwts(value: unknown): string[] {
  const found: string[] = [];
  for (const text of textsIn(value, [])) {
    for (const [run] of text.matchAll(RUN)) {
      const parts = run.split('.');
      for (const [index, part] of parts.entries()) {
        const [payload = '', signature = ''] = [parts[index + 1], parts[index + 2]];
        if (payload !== '' && signature !== '' && isHeader(part)) found.push(`${part}.${payload}.${signature}`);
      }
    }
  }
  return found;
}

function textsIn(value: unknown, texts: string[]): string[] {
  if (typeof value === 'string') texts.push(value);
  if (value === null || typeof value !== 'object') return texts;
  for (const [name, inside] of Object.entries(value)) {
    texts.push(name);
    textsIn(inside, texts);
  }
  return texts;
}

function isHeader(part: string): boolean {
  if (!HEADER.test(part)) return false;
  try {
    const header: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return header !== null && typeof header === 'object' && 'alg' in header;
  } catch {
    return false;
  }
}
