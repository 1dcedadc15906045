import { data } from '../answer.ts';
import { readOutbox } from '../mail.ts';
import type { Route } from '../server.ts';
import type { Store } from '../store.ts';
import type { Tokens } from '../tokens.ts';
import { companyRoutes } from './company.ts';
import { loginRoutes } from './login.ts';
import { mfaRoutes } from './mfa.ts';
import { recoveryRoutes } from './recovery.ts';

/** All that the identity server answers. */
export function identityRoutes(store: Store, tokens: Tokens): readonly Route[] {
  return [
    ['GET', '/.well-known/jwks.json', 'public', () => ({ status: 200, body: tokens.jwks })],
    // a convenience of the sandbox: the mails a person would find in their mailbox
    ['GET', '/outbox', 'public', () => data(readOutbox(store))],
    ...loginRoutes(store, tokens),
    ...mfaRoutes(store),
    ...recoveryRoutes(store),
    ...companyRoutes(store),
  ];
}
