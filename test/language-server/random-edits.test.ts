import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Diagnostic } from 'vscode-languageserver';
import { runCli } from '../support/cli.ts';
import { Editor } from '../support/editor.ts';
import { runs } from '../support/runs.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { PROJECT } from './project.ts';

const SOURCES = ['gateway.yaml', 'routes/contacts.yaml', '../security/invariants.yaml'];
const EDITS_PER_PROJECT = 40;

/** Texts to type or paste: names, unfinished syntax, and lines of the gateway and of YAML. */
const TYPED = [
  ...[
    '',
    ' ',
    '\n',
    '\n  ',
    '\r\n',
    '\t',
    '- ',
    ': ',
    ', ',
    '#',
    '"',
    "'",
    '{',
    '}',
    '[',
    ']',
    '|',
    '>',
    '%',
    '\uFEFF',
    '🔑',
  ],
  ...[
    'contacts',
    'identity',
    'archive',
    'Contact',
    'caller',
    'admin',
    'public',
    'protected',
    'GET',
    'POST',
    '/contacts',
    '{id}',
  ],
  ...[
    'upstream: identity',
    'access: public',
    'roles: [user]',
    'rateLimits: [address]',
    '&a ',
    '*a',
    '<<: *a',
    '${HOME}',
    '${HOME:-x}',
  ],
  ...[
    "$ref: '#/schemas/Contact'",
    '\n# lint-disable-next-line\n',
    ' # lint-disable-line route-order\n',
    '\ninclude: other/*.yaml\n',
  ],
  ...['\nroutes:\n', '\nupstreams: {}\n', '\ninvariants: []\n', '\n---\n', '1e400', '0x1F', 'null', '!!binary x', '! '],
];

/** One edit: `at` and `length` choose a part of the text by its share of it, or a line. */
const anyEdit = fc.record({
  name: fc.constantFrom(...SOURCES),
  kind: fc.constantFrom('span', 'word', 'line', 'twice', 'undo'),
  at: fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
  length: fc.nat({ max: 12 }),
  text: fc.constantFrom(...TYPED),
});
type AnyEdit = typeof anyEdit extends fc.Arbitrary<infer Value> ? Value : never;

describe('after random edits of unsaved texts', () => {
  let folder: string;
  let onDisk: string;
  beforeAll(() => {
    const root = temporaryFolder('lsp-edits');
    folder = join(root, 'editor/gateway');
    onDisk = join(root, 'disk/gateway');
    for (const [name, text] of Object.entries(PROJECT)) for (const copy of [folder, onDisk]) write(copy, name, text);
  });
  afterAll(() => rmSync(dirname(dirname(folder)), { recursive: true }));

  it.each([
    { label: 'all files are open', open: SOURCES },
    { label: 'only the manifest is open', open: ['gateway.yaml'] },
    { label: 'only the included file is open', open: ['routes/contacts.yaml'] },
  ])('the diagnostics are the problems of lint when $label', async ({ open }) => {
    const anyEdits = fc.array(anyEdit, { minLength: EDITS_PER_PROJECT, maxLength: EDITS_PER_PROJECT });
    await fc.assert(
      fc.asyncProperty(anyEdits, async (edits) => {
        const editor = await Editor.start(folder);
        try {
          for (const name of open) editor.open(name, PROJECT[name]);
          for (const name of SOURCES) write(onDisk, name, PROJECT[name] ?? '');
          for (const edit of edits) {
            const name = open.includes(edit.name) ? edit.name : (open[0] ?? '');
            apply(editor, name, edit);
            write(onDisk, name, editor.textOf(name));
            expect(problemsOfEditor(await editor.diagnostics())).toEqual(await problemsOfLint(onDisk));
          }
        } finally {
          await editor.stop();
        }
      }),
      { numRuns: runs(50) / 10, endOnFailure: true },
    );
  });
});

function write(folder: string, name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

function apply(editor: Editor, name: string, { kind, at, length, text }: AnyEdit): void {
  const before = editor.textOf(name);
  const offset = Math.floor(at * (before.length + 1));
  if (kind === 'undo') editor.edit(name, 0, before.length, PROJECT[name] ?? '');
  else if (kind === 'span') editor.edit(name, offset, Math.min(offset + length, before.length), text);
  else {
    const parts = [...before.matchAll(kind === 'word' ? /[\w/-]+/g : /[^\n]*\n/g)];
    const part = parts[Math.floor(at * parts.length)];
    if (part === undefined) return;
    const end = part.index + part[0].length;
    if (kind === 'twice') editor.edit(name, end, end, part[0]);
    else editor.edit(name, part.index, end, kind === 'word' ? text : '');
  }
}

interface ShownProblem {
  readonly file: string;
  readonly rule: unknown;
  readonly severity: unknown;
  /** Line and column of the start and the end, from 1. */
  readonly range: readonly number[];
  readonly message: string;
}

const SEVERITIES = ['', 'error', 'warning', 'info'];

function problemsOfEditor(diagnostics: Readonly<Record<string, readonly Diagnostic[]>>): string[] {
  return sorted(
    Object.entries(diagnostics).flatMap(([file, own]) =>
      own.map(({ code, severity, range: { start, end }, message }) => ({
        file,
        rule: code,
        severity: SEVERITIES[severity ?? 0],
        range: [start.line + 1, start.character + 1, end.line + 1, end.character + 1],
        message: `${message}`,
      })),
    ),
  );
}

async function problemsOfLint(folder: string): Promise<string[]> {
  const { out } = await runCli(['lint', '-f', 'json', 'gateway.yaml'], folder);
  const { problems } = JSON.parse(out) as { problems: Readonly<Record<string, string | number>>[] };
  return sorted(
    problems.map(({ file, rule, severity, line, column, endLine, endColumn, message }) => ({
      file: normalize(`${file}`),
      rule,
      severity,
      range: [line, column, endLine, endColumn].map(Number),
      message: `${message}`,
    })),
  );
}

function sorted(problems: readonly ShownProblem[]): string[] {
  return [...new Set(problems.map((problem) => JSON.stringify(problem)))].sort();
}
