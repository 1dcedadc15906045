import { describe, expect, it } from 'vitest';
import { FOLDS } from '../src/engine/text-folding.ts';

const SAME: Readonly<Record<keyof typeof FOLDS, readonly (readonly [string, string])[]>> = {
  case: [
    ['User@Example.com', 'user@example.com'],
    [' user\u00a0', 'user'],
    ['ｕｓｅｒ', 'user'],
    ['ſam', 'SAM'],
    ['\u212aim', 'kim'],
    ['straße', 'STRASSE'],
    ['STRAẞE', 'strasse'],
    ['İlker', 'ilker'],
    ['I\u0307lker', 'ilker'],
    ['ılker', 'ILKER'],
    ['caf\u00e9', 'CAFE\u0301'],
    ['ΟΔΟΣ', 'οδος'],
  ],
  text: ['\u00ad', '\u034f', '\u115f', '\u180e', '\u200b', '\u200f', '\u202e', '\u2060', '\u2066', '\ufe0f', '\ufeff']
    .concat('\u{e0041}', '\u{e0100}', '\u0600', '\u3164')
    .flatMap((hidden) => [`${hidden}user`, `us${hidden}er`, `user${hidden}`, `us${hidden}${hidden}ER `])
    .map((spelling): readonly [string, string] => [spelling, 'user'])
    .concat(
      ['user١', 'user१', 'user১', 'user෧', 'user𑓑', 'user\u{116db}', 'user\u{1e951}'].map(
        (one) => [one, 'user1'] as const,
      ),
    )
    .concat([
      ['a@example。com', 'a@example.com'],
      ['a@example｡com', 'a@example.com'],
    ]),
  accents: [
    ['jos\u00e9', 'jose'],
    ['jose\u0301', 'jose'],
    ['jose\u0301\u0327\u200b', 'JOSE'],
    ['Łukasz', 'lukasz'],
    ['søren', 'SOREN'],
    ['Đặng', 'dang'],
    ['æon', 'AEON'],
    ['cœur', 'coeur'],
    ['user١٢', 'user12'],
    ['user𑓐9', 'user09'],
    ['йога', 'иога'],
    ['❶➁⓷፬〥៶𐄍➇', '12345678'],
    ['❿〇', '100'],
    ['paŀma', 'palma'],
    ['pu\u0363r\u0369', 'puard'],
    ['ꜳ🅱', 'aab'],
    ['カナ', 'かな'],
    ['ｶﾞｯ', 'かつ'],
  ],
};

describe.each(Object.entries(SAME))('%s', (strength, pairs) => {
  const fold = FOLDS[strength as keyof typeof FOLDS];
  it.each(pairs)('reads %j as %j', (spelling, text) => expect(fold(spelling)).toBe(fold(text)));
});

it('keeps different accounts apart', () => {
  expect(FOLDS.case('us\u200ber')).not.toBe('user');
  expect(FOLDS.text('jos\u00e9')).not.toBe('jose');
  for (const fold of Object.values(FOLDS)) expect(fold('a b')).toBe('a b');
});

it('is idempotent, and the same for every case and normalization form of each character', () => {
  const failed = new Set<string>();
  for (let code = 0; code < 0x2_0000; code += 1) {
    if (code >= 0xd800 && code <= 0xdfff) continue;
    const character = String.fromCodePoint(code);
    const folded = FOLDS.text(character);
    const forms = [folded, character.toLowerCase(), character.toUpperCase(), character.normalize('NFKD')];
    if (forms.some((form) => FOLDS.text(form) !== folded)) failed.add(code.toString(16));
  }
  expect([...failed]).toEqual([]);
});

it('reads letters, digits and kana as a collation without accents does', () => {
  const { compare } = new Intl.Collator('und', { sensitivity: 'base' });
  const failed: string[] = [];
  for (let code = 0x80; code < 0x2_0000; code += 1) {
    const character = String.fromCodePoint(code);
    if (/[\p{Cs}\p{Cn}\p{Cf}]/u.test(character)) continue;
    if (/\p{Nd}/u.test(character) && !/^\d$/.test(FOLDS.text(character))) failed.push(`${character} as no digit`);
    const base = FOLDS.accents(character);
    // An l with a middle dot after it is two letters for the collation, and one for every compatibility form.
    if (/^[a-z\d]{1,2}$/.test(base) && base !== FOLDS.text(character) && compare(character, base) !== 0)
      failed.push(`${character} as ${base}`);
    const equal = [...'0123456789abcdefghijklmnopqrstuvwxyzかつん'].find((one) => compare(character, one) === 0);
    if (equal !== undefined && base !== equal) failed.push(`${character} as ${base}, not ${equal}`);
  }
  expect(failed).toEqual([]);
});
