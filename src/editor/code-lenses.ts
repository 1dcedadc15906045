import type { CodeLens } from 'vscode-languageserver';
import { readScalarText, rowsAt } from './names.ts';
import { rangeIn, type TextFile } from './text-file.ts';

/** Returns a line above each public route, which says that anyone may call it. */
export function publicRouteLenses(file: TextFile): CodeLens[] {
  return [...rowsAt(file.parsed.positions, ['routes', '*'])].flatMap((route) => {
    const member = memberTexts(file, route);
    if (member('access') !== 'public') return [];
    const range = rangeIn(file, file.parsed.positions.valueOf(route));
    const request = [member('method'), member('path')].filter((text) => text !== undefined).join(' ');
    const title = `Public: no token is needed for ${request}`;
    // Without a command, editors show the title and nothing happens on a click.
    return [{ range: { start: range.start, end: range.start }, command: { title, command: '' } }];
  });
}

/** Returns a function that returns the texts of a map's members: a scalar without quotes, a list as it is written. */
export function memberTexts(
  { text, parsed: { positions } }: TextFile,
  row: number,
): (key: string) => string | undefined {
  const members = new Map([...positions.members(row)].map(({ step, row: member }) => [step, member]));
  return (key) => {
    const member = members.get(key);
    if (member === undefined) return undefined;
    const range = positions.valueOf(member);
    return readScalarText(text, range)?.value ?? text.slice(range.start, range.end);
  };
}
