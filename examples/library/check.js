/**
 * Checks a manifest that is not in a file, and prints its problems:
 *
 *     node check.js
 */
import { createMemoryEnvironment, lint, load } from 'signing-gateway';

const manifest = `
version: 1
admin: 127.0.0.1:9901
upstreams:
  contacts: { url: '\${CONTACTS_URL}' }
include: routes/*.yaml
routes: []
`;
const environment = createMemoryEnvironment(
  { CONTACTS_URL: 'http://127.0.0.1:3000' },
  {
    'routes/contacts.yaml':
      'routes: [{ id: contacts, method: GET, path: /contacts, upstream: contact, access: public }]',
  },
);

const loaded = load({ path: 'gateway.yaml', text: manifest }, environment);
for (const { file, range, severity, message, rule } of lint(loaded))
  console.log(`${file}:${range.line}:${range.column} ${severity} ${message} [${rule}]`);
