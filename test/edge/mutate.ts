import fc from 'fast-check';

/** One change to the bytes of a request. Positions are fractions of the length, so that shrinking keeps them valid. */
export interface Mutation {
  readonly kind: 'insert' | 'remove' | 'double' | 'replace' | 'splice' | 'swap lines' | 'change case' | 'double line';
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Texts that often expose parser bugs. */
const TEXTS = [
  ...['\r', '\n', '\r\n', '\r\n\r\n', '\0', '\t', ' ', '\v', '\x7f', '\x80', '\xff', '\r\n '],
  ...[
    '/',
    '//',
    '\\',
    '.',
    '..',
    '/../',
    '/./',
    '%',
    '%2e',
    '%2f',
    '%5c',
    '%00',
    '%25',
    '%73',
    '%c0%ae',
    ';',
    '%3b',
    '%3f',
    '%23',
    '#',
    '?',
    '%20',
  ],
  ...[':', ' :', ',', '=', '"', '-', '_', '+', '0', '5', 'x', 'A', '@', '*', '[', ']'],
  ...[
    'GET /admin/x HTTP/1.1\r\nHost: gateway.test\r\n\r\n',
    'HTTP/1.1',
    'HTTP/1.0',
    'http://gateway.test',
    'HEAD ',
    'POST ',
  ],
  ...[
    'Content-Length: 5\r\n',
    'Content-Length: 0\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Connection: close\r\n',
    'Connection: Upgrade\r\nUpgrade: h2c\r\n',
  ],
  ...[
    'Host: gateway.test\r\n',
    'Expect: 100-continue\r\n',
    'Authorization: Bearer x\r\n',
    '0\r\n\r\n',
    '2\r\nab\r\n',
    ';a=b',
  ],
  ...['/admin/x', '/files/secret', '/files/vault/', 'secret', 'SECRET', '/keys'],
];

export const MUTATIONS: fc.Arbitrary<Mutation[]> = fc.array(
  fc.record({
    kind: fc.constantFrom<Mutation['kind'][]>(
      'insert',
      'remove',
      'double',
      'replace',
      'splice',
      'swap lines',
      'change case',
      'double line',
    ),
    start: fc.double({ min: 0, max: 1, noNaN: true }),
    end: fc.double({ min: 0, max: 1, noNaN: true }),
    text: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...TEXTS) },
      fc.nat(255).map((code) => String.fromCharCode(code)),
    ),
  }),
  { minLength: 1, maxLength: 4 },
);

/** Applies mutations in order. `splice` takes its bytes from `other`. */
export function applyMutations(bytes: string, other: string, mutations: readonly Mutation[]): string {
  return mutations.reduce((text, mutation) => mutate(text, other, mutation), bytes);
}

function mutate(bytes: string, other: string, { kind, start: at, end: to, text }: Mutation): string {
  const start = Math.floor(at * bytes.length);
  const end = Math.min(bytes.length, start + 1 + Math.floor(to * 12));
  const [before, middle, after] = [bytes.slice(0, start), bytes.slice(start, end), bytes.slice(end)];
  switch (kind) {
    case 'insert':
      return before + text + middle + after;
    case 'remove':
      return before + after;
    case 'double':
      return before + middle + middle + after;
    case 'replace':
      return before + text + after;
    case 'splice':
      return before + other.slice(Math.floor(to * other.length));
    case 'change case':
      return before + (middle === middle.toUpperCase() ? middle.toLowerCase() : middle.toUpperCase()) + after;
    case 'swap lines':
    case 'double line': {
      const lines = bytes.split('\r\n');
      const [one, two] = [Math.floor(at * (lines.length - 1)), Math.floor(to * (lines.length - 1))];
      const [first = '', second = ''] = [lines[one], lines[two]];
      if (kind === 'double line') lines.splice(two, 0, first);
      else [lines[one], lines[two]] = [second, first];
      return lines.join('\r\n');
    }
  }
}
