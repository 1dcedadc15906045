import { expect, test } from 'vitest';
import { createAjvValidator } from '../../../src/plan/schema/ajv-validator.ts';
import { bodyRoute, loadText, manifestOf } from '../../manifest/support.ts';

const { formats } = createAjvValidator({ schemas: {}, routes: [], files: {} }, false);
const UNSUPPORTED = ['binary', 'byte', 'double', 'float', 'password', 'url'];
const NUMBER_FORMATS = ['int32', 'int64'];
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

const validatorOf = (schema: string) => {
  const { plan, problems } = loadText(manifestOf('', bodyRoute(schema)));
  expect(problems).toEqual([]);
  return async (value: unknown) =>
    (await plan?.routes[0]?.body?.validate?.(Buffer.from(JSON.stringify(value))))?.violations;
};

test.each(UNSUPPORTED)('the unsupported format %s is a problem', (format) => {
  expect(formats).toContain(format);
  expect(loadText(manifestOf('', bodyRoute(`{ format: ${format} }`))).problems).toHaveLength(1);
});

test.each(formats.filter((format) => ![...UNSUPPORTED, ...NUMBER_FORMATS].includes(format)))(
  'the format %s takes linear time and refuses longer texts',
  async (format) => {
    const validate = validatorOf(`{ format: ${format} }`);
    for (const first of ['', 'http://', 'http://a@', 'a@', '/', '{', 'P', '2020-01-01T00:00:00.'])
      for (const part of PARTS) {
        const start = performance.now();
        const text = first + part.repeat(LONGEST);
        await validate(`${text.slice(0, LONGEST - 3)}!`);
        expect([first, part, performance.now() - start < 500]).toEqual([first, part, true]);
      }
    expect(await validate('a'.repeat(LONGEST + 1))).toHaveLength(1);
  },
);

test('a format accepts valid texts and refuses others', async () => {
  const validate = validatorOf('{ format: uri }');
  expect(await validate('https://example.com/a')).toEqual([]);
  expect(await validate('not a uri')).toHaveLength(1);
});
