import { formatFlow } from '../../engine/manifest/write-yaml.ts';
import type { TestCase } from '../testing/test-file.generated.ts';

/** Formats a test case as an item of `cases`, without its indentation. */
export function formatTestCase({ name, request, response, expect }: TestCase): string {
  const lines = [
    `- name: ${formatFlow(name)}`,
    `  request: ${formatFlow(withoutDefaults(request))}`,
    ...(response === undefined ? [] : [`  response: ${formatFlow(withoutDefaults(response))}`]),
    `  expect: ${formatFlow(expect)}`,
  ];
  return `${lines.join('\n')}\n`;
}

function withoutDefaults(message: {
  readonly headers: object;
  readonly times?: number;
  readonly wait?: string;
}): object {
  const { headers, times, wait, ...rest } = message;
  return {
    ...rest,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(times !== undefined && times > 1 && { times }),
    ...(wait !== undefined && { wait }),
  };
}
