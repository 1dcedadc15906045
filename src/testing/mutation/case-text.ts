import { formatFlow } from '../../manifest/flow-yaml.ts';
import type { TestCase } from '../test-file.generated.ts';

/** Formats a test case as an item of `cases`, without its indentation. */
export function formatTestCase({ name, request, response, expect }: TestCase): string {
  const lines = [
    `- name: ${formatFlow(name)}`,
    `  request: ${formatFlow(withoutEmptyHeaders(request))}`,
    ...(response === undefined ? [] : [`  response: ${formatFlow(withoutEmptyHeaders(response))}`]),
    `  expect: ${formatFlow(expect)}`,
  ];
  return `${lines.join('\n')}\n`;
}

function withoutEmptyHeaders<Message extends { readonly headers: object }>(message: Message): Partial<Message> {
  const { headers, ...rest } = message;
  return (Object.keys(headers).length === 0 ? rest : message) as Partial<Message>;
}
