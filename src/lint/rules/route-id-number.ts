import { findingAt, type Rule } from '../rule.ts';

export const routeIdNumber: Rule = {
  id: 'route-id-number',
  category: 'routes',
  severity: 'info',
  preset: 'strict',
  rationale:
    'The id names the route in logs, metrics and tables; a number there tells nobody anything, and moves when routes are added.',
  *find({ routes }) {
    for (const { entry, path } of routes)
      if (/^(?:route|r|test|todo|path|endpoint)?-?\d+$|^(?:route|test|todo|foo|bar)$/.test(entry.id))
        yield findingAt(
          [...path, 'id'],
          `"${entry.id}" says nothing of the route; name what it does, such as contacts-list`,
        );
  },
};
