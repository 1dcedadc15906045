import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectSection } from '../support/section.ts';

/** The files of the model, in the order of the page. */
const FILES = ['expected-decision', 'find-route', 'check-caller', 'check-content', 'forwarded-request'];

const textOf = (file: string) => readFileSync(new URL(`../model/decisions/${file}.ts`, import.meta.url), 'utf8');

/** Returns the comments of a file that begin with `//`: at the left the headings and their paragraphs, inside of functions list items. */
function commentsOf(file: string): string {
  const lines = textOf(file)
    .split('\n')
    .flatMap((line) => {
      const [, indent, text = ''] = /^( *)\/\/ ?(.*)$/.exec(line) ?? [];
      if (indent === undefined) return [];
      return indent === '' ? [text.startsWith('## ') ? `\n${text}` : text] : [`- ${text}`];
    });
  // A list needs an empty line before it.
  return lines.join('\n').replaceAll(/^([^-\n].*)\n(?=- )/gm, '$1\n\n');
}

describe('docs/decisions.md', () => {
  it('has the comments of the model', () => {
    expectSection('docs/decisions.md', 'decisions', `${FILES.map(commentsOf).join('\n').trim()}\n`);
  });
});

describe('the model', () => {
  it('has at most 400 lines of code', () => {
    const lines = [...FILES, 'model-request'].flatMap((file) => textOf(file).split('\n'));
    const code = lines.filter((line) => !/^\s*(?:\/\/|\/?\*|$)/.test(line));
    expect(code.length).toBeLessThanOrEqual(400);
  });
});
