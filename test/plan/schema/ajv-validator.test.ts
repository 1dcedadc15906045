import { expect, test } from 'vitest';
import { bodyRoute, loadText, manifestOf } from '../../manifest/support.ts';

const UNSUPPORTED = ['binary', 'byte', 'double', 'float', 'password', 'url', 'constructor', 'e-mail'];

test.each(UNSUPPORTED)('the unsupported format %s is a problem, with advice that is supported', (format) => {
  const [problem, ...others] = loadText(manifestOf('', bodyRoute(`{ format: ${format} }`))).problems;
  expect(others).toEqual([]);
  const [, suggested] = /did you mean "([^"]+)"/.exec(problem?.message ?? '') ?? [];
  if (suggested !== undefined)
    expect(loadText(manifestOf('', bodyRoute(`{ format: ${suggested} }`))).problems).toEqual([]);
});

test('a format accepts valid texts and refuses others', () => {
  const { plan, problems } = loadText(manifestOf('', bodyRoute('{ format: uri }')));
  expect(problems).toEqual([]);
  const violationsOf = (text: string) => plan?.routes[0]?.body?.validate?.(Buffer.from(JSON.stringify(text)));
  expect(violationsOf('https://example.com/a')).toMatchObject({ violations: [] });
  expect(violationsOf('not a uri')).toMatchObject({ violations: [{ message: 'must match format "uri"' }] });
});
