import { loggedSecrets } from '../lint-context.ts';
import { findingAt, type Rule } from '../rule.ts';

export const logPathsPlain: Rule = {
  id: 'log-paths-plain',
  category: 'operations',
  severity: 'warning',
  preset: 'recommended',
  rationale: 'The path of a public download may be its only secret, and everyone who reads the log could use it.',
  *find({ manifest, routes }) {
    const [first] = loggedSecrets(routes);
    if (manifest.log.paths !== 'plain' || first === undefined) return;
    yield findingAt(
      ['log', 'paths'],
      `the log has the parameters of public paths such as ${first.route.path}, which may be secret; write keyed, or remove "paths"`,
      { related: { path: [...first.path, 'path'], message: 'a public path with parameters' } },
    );
  },
};
