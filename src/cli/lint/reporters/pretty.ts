import { formatProblems } from '../../format.ts';
import type { Reporter } from './lint-report.ts';

/** Each problem with the lines around it, for a person at a terminal. */
export const pretty: Reporter = ({ sources, problems }, colour) =>
  sources
    .map(({ path, text }) =>
      formatProblems(
        problems.filter(({ file }) => file === path),
        text,
        colour,
      ),
    )
    .filter((part) => part !== '')
    .join('\n');
