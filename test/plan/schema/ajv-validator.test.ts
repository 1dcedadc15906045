import { expect, test } from 'vitest';
import { createAjvValidator } from '../../../src/plan/schema/ajv-validator.ts';
import { bodyRoute, loadText, manifestOf } from '../../manifest/support.ts';

const { formats } = createAjvValidator({ schemas: {}, routes: [], files: {} }, false);
const REFUSED = ['binary', 'byte', 'double', 'float', 'password', 'url'];
const OF_NUMBERS = ['int32', 'int64'];
const PARTS = [
  'a',
  '-',
  'a-',
  'a.',
  '0',
  '/',
  'a/',
  '%41',
  '~0',
  '{a}',
  'a,',
  'a@',
  ':',
  '1:',
  'T',
  '[',
  '#',
  '+',
  'é',
  '=',
];
const LONGEST = 65_536;

const judgeOf = (schema: string) => {
  const { plan, problems } = loadText(manifestOf('', bodyRoute(schema)));
  expect(problems).toEqual([]);
  return async (value: unknown) =>
    (await plan?.routes[0]?.body?.validate?.(Buffer.from(JSON.stringify(value))))?.violations;
};

test.each(REFUSED)('the format %s is a problem', (format) => {
  expect(formats).toContain(format);
  expect(loadText(manifestOf('', bodyRoute(`{ format: ${format} }`))).problems).toHaveLength(1);
});

test.each(formats.filter((format) => ![...REFUSED, ...OF_NUMBERS].includes(format)))(
  'the format %s takes linear time, and has an end',
  async (format) => {
    const judge = judgeOf(`{ format: ${format} }`);
    for (const first of ['', 'http://', 'http://a@', 'a@', '/', '{', 'P', '2020-01-01T00:00:00.'])
      for (const part of PARTS) {
        const start = performance.now();
        const text = first + part.repeat(LONGEST);
        await judge(`${text.slice(0, LONGEST - 3)}!`);
        expect([first, part, performance.now() - start < 500]).toEqual([first, part, true]);
      }
    expect(await judge('a'.repeat(LONGEST + 1))).toHaveLength(1);
  },
);

test('a format says yes and no', async () => {
  const judge = judgeOf('{ format: uri }');
  expect(await judge('https://example.com/a')).toEqual([]);
  expect(await judge('no uri')).toHaveLength(1);
});
