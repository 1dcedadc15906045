import { findingAt, type Rule } from '../rule.ts';

export const routeIdNumber: Rule = {
  id: 'route-id-number',
  category: 'routes',
  severity: 'info',
  preset: 'strict',
  rationale:
    'Logs, metrics and tables identify a route by its id; a number has no meaning there, and shifts when routes are added.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (/^(?:route|r|test|todo|path|endpoint)?-?\d+$|^(?:route|test|todo|foo|bar)$/.test(entry.id))
        yield findingAt(
          [...path, 'id'],
          `the id "${entry.id}" does not describe the route; name its purpose, for example contacts-list`,
        );
  },
};
