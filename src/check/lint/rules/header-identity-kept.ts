import { foldHeaderName, forgeableHeader } from '../../../engine/header-names.ts';
import { findingAt, type Rule } from '../rule.ts';

/** The part of a request that a kept header could forge. */
const FORGED = { address: 'the address of a client', identity: 'a user or a client certificate' };

export const headerIdentityKept: Rule = {
  id: 'header-identity-kept',
  category: 'routes',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'On a public route anyone can send such a header, and an upstream that believes it takes the client for another one.',
  *find({ routes }) {
    for (const { entry, path } of routes) {
      if (entry.access !== 'public') continue;
      for (const [index, name] of (entry.requestHeaders?.keep ?? []).entries()) {
        const kind = forgeableHeader(foldHeaderName(name));
        if (kind === undefined || kind === 'override') continue;
        const message = `with this header anyone can forge ${FORGED[kind]}; remove it, or make sure that the upstream ignores it`;
        yield findingAt([...path, 'requestHeaders', 'keep', index], message);
      }
    }
  },
};
