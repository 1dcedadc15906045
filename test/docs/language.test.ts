import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/command-line.ts';
import type { Terminal } from '../../src/cli/terminal.ts';

const root = new URL('../../', import.meta.url).pathname;

/** A sentence for readers, and where it is. */
interface Sentence {
  readonly file: string;
  readonly line: number;
  readonly text: string;
}

/** A sentence must not begin with these. */
const OPENING = /^(?:What|Who|Whether)\b/;

/** Archaic or ambiguous words, contractions, and words that have another term in this project. */
const PHRASES: readonly RegExp[] = [
  /\bin force\b/i,
  /\bany more\b/i,
  /\banew\b/i,
  /\bwhereof\b/i,
  /\bnone is\b/i,
  /\bas (?:it comes|they come)\b/i,
  /\bone's own\b/i,
  /\basks? for less\b/i,
  /\b(?:tells?|told) of\b/i,
  /\bbe it\b/i,
  /\bfor want of\b/i,
  /\bof weeks\b/i,
  /\bso many\b/i,
  /\b(?:is|are) (?:told|asked|held to|let)\b/i,
  /\bcomes? of\b/i,
  /\blooks? on\b/i,
  /\bsaid of\b/i,
  /\bbe let\b/i,
  /\banswer(?:s|ed|ing)?\b/i,
  /\btold\b/i,
  /\bjudg(?:e|es|ed|ing|ement)\b/i,
  /\bfaults?\b/i,
  /\bfaulty\b/i,
  /\bpassengers?\b/i,
  /\bdisembarks?\b/i,
  /\bunwell\b/i,
  /\bmend(?:s|ed|ing)?\b/i,
  /\b(?:lay|lays|laid) (?:it |them )?out\b/i,
  /\boperators' side\b/i,
  /\blook-ups?\b/i,
  /\bwhoever\b/i,
  /\b(?:are|can|could|did|do|does|had|has|have|is|must|should|was|were|will|wo|would)n['’]t\b/i,
  /\b(?:it|that|there|here|what|who|let)['’]s\b(?! own)/i,
  /\b(?:I|you|we|they)['’](?:re|ve|ll|d)\b/i,
];

const CODE_FILES = globSync('{src,examples/platform,test,bench,scripts,editors/*/src}/**/*.{ts,js}', {
  cwd: root,
}).filter((file) => !file.includes('.generated.') && file !== 'test/docs/language.test.ts');
const PAGES = globSync(['*.md', '{docs,src,bench,editors,examples}/**/*.md'], { cwd: root });
const SCHEMAS = globSync('schema/*.json', { cwd: root });

const read = (file: string) => readFileSync(`${root}${file}`, 'utf8');

/** Splits a paragraph into sentences. `lines` are its lines with their numbers. */
function* sentencesOf(file: string, lines: readonly (readonly [number, string])[]): Generator<Sentence> {
  const starts: number[] = [];
  let paragraph = '';
  for (const [, text] of lines) {
    starts.push(paragraph.length);
    paragraph += `${text} `;
  }
  let offset = 0;
  for (const text of paragraph.split(/(?<=[.!?]\)?)\s+(?=["'(`*]*[A-Z])/)) {
    const index = starts.findLastIndex((start) => start <= offset);
    yield { file, line: lines[index]?.[0] ?? 0, text: text.trim() };
    offset += text.length + 1;
  }
}

/** Returns the sentences of consecutive lines for which `textOf` returns a text. An empty text ends a paragraph. */
function sentencesOfLines(file: string, textOf: (line: string) => string | undefined): Sentence[] {
  const found: Sentence[] = [];
  let paragraph: [number, string][] = [];
  const flush = () => {
    found.push(...sentencesOf(file, paragraph));
    paragraph = [];
  };
  for (const [index, line] of read(file).split('\n').entries()) {
    const text = textOf(line);
    if (text === undefined || text === '') flush();
    else paragraph.push([index + 1, text]);
  }
  flush();
  return found;
}

/** Returns the text of a comment line; `@param name` and other tags begin a sentence. */
function commentOf(line: string): string | undefined {
  const [, text] = /^\s*(?:\/\/|\/?\*+(?!\/))(.*?)(?:\*\/)?$/.exec(line) ?? /[;,{)\]]\s+\/\/ (.*)$/.exec(line) ?? [];
  return text?.trim().replace(/^@(?:param \S+|returns|throws)\s*/, '');
}

/** Returns a reader of the lines of a page, without code blocks. */
function pageReader(): (line: string) => string | undefined {
  let isCode = false;
  return (line) => {
    if (line.startsWith('```')) isCode = !isCode;
    if (isCode || line.startsWith('```') || line.startsWith('<!--')) return undefined;
    return line.replace(/^\s*(?:[-*]|\d+\.|#+|\|)\s+/, '').trim();
  };
}

/** Each row and list item of a page is a paragraph of its own. */
function pageSentences(file: string): Sentence[] {
  const textOf = pageReader();
  return read(file)
    .split('\n')
    .flatMap((line, index) => {
      const text = textOf(line);
      return text === undefined ? [] : [...sentencesOf(file, [[index + 1, text]])];
    });
}

/** Returns the titles and descriptions of a schema. */
function schemaSentences(file: string): Sentence[] {
  return read(file)
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(/"(?:title|description)": "((?:[^"\\]|\\.)*)"/g)].flatMap(([, text = '']) => [
        ...sentencesOf(file, [[index + 1, text]]),
      ]),
    );
}

/** Returns the sentences of the help of every command. */
async function helpSentences(): Promise<Sentence[]> {
  const helpOf = async (...args: string[]) => {
    const printed: string[] = [];
    await main(args, { out: (text: string) => printed.push(text) } as unknown as Terminal);
    return printed.join('');
  };
  const overview = await helpOf('--help');
  const commands = [...overview.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, name = '']) => name);
  expect(commands.length).toBeGreaterThan(10);
  const texts = await Promise.all(commands.map(async (name) => [name, await helpOf(name, '--help')] as const));
  return [['', overview] as const, ...texts].flatMap(([name, text]) =>
    text.split('\n').flatMap((line, index) => [...sentencesOf(`signing-gateway ${name} --help`, [[index + 1, line]])]),
  );
}

/** Removes code, quotes and addresses, which may contain any word. */
function withoutCode(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, '`')
    .replaceAll(/"[^"]*"/g, '"')
    .replaceAll(/\]\([^)]*\)/g, ']');
}

function violationsOf(sentences: readonly Sentence[]): string[] {
  return sentences
    .filter(({ text }) => {
      const plain = withoutCode(text);
      return OPENING.test(plain) || PHRASES.some((phrase) => phrase.test(plain));
    })
    .map(({ file, line, text }) => `${file}:${line} ${text}`);
}

describe('the language of', () => {
  it('comments follows the rules', () => {
    expect(violationsOf(CODE_FILES.flatMap((file) => sentencesOfLines(file, commentOf)))).toEqual([]);
  });

  it('schema descriptions follows the rules', () => {
    expect(violationsOf(SCHEMAS.flatMap(schemaSentences))).toEqual([]);
  });

  it('documentation follows the rules', () => {
    expect(violationsOf(PAGES.flatMap(pageSentences))).toEqual([]);
  });

  it('the help of the command line follows the rules', async () => {
    expect(violationsOf(await helpSentences())).toEqual([]);
  });
});

describe('exported types', () => {
  const types = CODE_FILES.filter((file) => file.startsWith('src/')).flatMap((file) =>
    [...read(file).matchAll(/^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) (\w+)/gm)].map(
      ([, name = '']) => ({ name, file }),
    ),
  );

  it('have different names', () => {
    const files = Map.groupBy(types, ({ name }) => name);
    const duplicates = [...files].filter(([, found]) => found.length > 1);
    expect(duplicates.map(([name, found]) => `${name}: ${found.map(({ file }) => file).join(', ')}`)).toEqual([]);
  });

  /** Endings of participles and adjectives, and irregular ones; a type with such a name needs a noun. */
  const ADJECTIVE =
    /^(?:\w+(?:ed|ing|able|ible|ful|ous|ive|less)|Told|Said|Kept|Made|Seen|Sound|Good|Held|Taken|Found|Gone|Given|Known|Shown|Whole|Sent|Left|Lost|Written|Broken)$/;
  /** Nouns with such an ending. */
  const NOUNS = new Set(['Finding', 'Directive', 'Embed', 'String', 'Timing', 'Tracing']);

  it('have a noun in their names', () => {
    const adjectives = types.filter(
      ({ name }) => /^[A-Z][a-z]+$/.test(name) && ADJECTIVE.test(name) && !NOUNS.has(name),
    );
    expect(adjectives.map(({ name, file }) => `${name}: ${file}`)).toEqual([]);
  });
});
