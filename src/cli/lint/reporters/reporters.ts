import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { json } from './json.ts';
import { junit } from './junit.ts';
import type { Reporter } from './lint-report.ts';
import { markdown } from './markdown.ts';
import { pretty } from './pretty.ts';
import { sarif } from './sarif.ts';
import { stylish } from './stylish.ts';

export const REPORTERS = {
  pretty,
  stylish,
  json,
  github,
  sarif,
  junit,
  gitlab,
  markdown,
} as const satisfies Record<string, Reporter>;

export type ReportFormat = keyof typeof REPORTERS;
