import { DEMO_ACCOUNTS, DEMO_PASSWORD, SOCIAL_TOKENS } from '../samples.ts';
import { AS_ADMIN, AS_USER, curl, type Flow, json, jsonOfVariables, keep } from './flow.ts';

const USER = 'user@acme.example';
const FACTOR_USER = 'mfa@acme.example';
const TOTP_SECRET = DEMO_ACCOUNTS.find(({ email }) => email === FACTOR_USER)?.totpSecret;

const login = (email: string) => curl('/api/v1/login', json({ email, password: DEMO_PASSWORD }));
const socialLogin = (owner: string) => {
  const { provider, token } = SOCIAL_TOKENS.find(({ email }) => email === owner) ?? {};
  return curl('/api/v1/social-auth', json({ provider, access_token: token }));
};
/** Keeps the code of the last mail, which the e-mail factor sends. */
const MAILED_CODE = `CODE=$(curl -s "$SANDBOX/outbox" | grep -o 'code: [0-9]*' | tail -1 | cut -c7-)`;

export const LOGIN_FLOW: Flow = {
  title: 'Log in',
  steps: [
    {
      text: 'Log in as a user and as an administrator, and keep the headers with their tokens. All later steps use them',
      statuses: [200, 200],
      commands: [
        `AUTH="Authorization: Bearer $(${login(USER)} | field access_token)"`,
        `ADMIN="Authorization: Bearer $(${login('admin@acme.example')} | field access_token)"`,
      ],
    },
    {
      text: 'A wrong password is an error of the sandbox, which the gateway forwards',
      statuses: [401],
      commands: [curl('/api/v1/login', json({ email: USER, password: 'wrong' }))],
    },
    {
      text: 'The gateway refuses a login with another role',
      statuses: [403],
      commands: [login('auditor@acme.example')],
    },
    {
      text: 'It also checks the role on every protected request: a token that an auditor has from the identity service itself opens nothing',
      statuses: [200, 403],
      commands: [
        `AUDITOR="Authorization: Bearer $(${login('auditor@acme.example').replace('$GATEWAY', '$SANDBOX')} | field access_token)"`,
        'curl -s "$GATEWAY/api/contacts" -H "$AUDITOR"',
      ],
    },
    {
      text: 'The gateway refuses a protected request without a token',
      statuses: [401],
      commands: [curl('/api/contacts')],
    },
  ],
};

export const SOCIAL_LOGIN_FLOW: Flow = {
  title: 'Social login',
  steps: [
    {
      text: 'Tokens of Google and Facebook log in, and the gateway checks the role here too',
      statuses: [200, 200, 403],
      commands: [USER, 'admin@acme.example', 'auditor@acme.example'].map(socialLogin),
    },
  ],
};

export const SECOND_FACTOR_FLOW: Flow = {
  title: 'Second factor at login',
  steps: [
    {
      text: `The password of ${FACTOR_USER} yields a challenge. A TOTP code completes it; the sandbox shows the code in place of an app. Each code works once, so wait for the next one to repeat this`,
      statuses: [200, 200, 200],
      commands: [
        keep('CHALLENGE', 'challenge_id', login(FACTOR_USER)),
        keep('CODE', 'code', `curl -s "$SANDBOX/authenticator/${TOTP_SECRET}"`),
        curl('/api/v1/login/mfa/totp', jsonOfVariables({ challenge_id: '$CHALLENGE', code: '$CODE' })),
      ],
    },
  ],
};

export const ENROLMENT_FLOW: Flow = {
  title: 'Enrol factors',
  steps: [
    {
      text: 'Enrol a TOTP factor, confirm it with a code, and list the factors',
      statuses: [201, 200, 200, 200],
      commands: [
        keep('SECRET', 'secret', curl('/api/v1/mfa/totp/enroll', '-X POST', AS_USER)),
        keep('CODE', 'code', 'curl -s "$SANDBOX/authenticator/$SECRET"'),
        curl('/api/v1/mfa/totp/confirm', AS_USER, jsonOfVariables({ code: '$CODE' })),
        curl('/api/v1/mfa/factors', AS_USER),
      ],
    },
    {
      text: 'Remove it, so that the login of this account needs no code',
      statuses: [200],
      commands: [curl('/api/v1/mfa/factors/totp', '-X DELETE', AS_USER)],
    },
    {
      text: 'Enrol an e-mail factor and confirm it with the mailed code',
      statuses: [202, 200, 200],
      commands: [
        curl('/api/v1/mfa/email/enroll', '-X POST', AS_USER),
        MAILED_CODE,
        curl('/api/v1/mfa/email/confirm', AS_USER, jsonOfVariables({ code: '$CODE' })),
      ],
    },
    {
      text: 'The next login mails a code. Complete it, then remove the factor',
      statuses: [200, 200, 200, 200],
      commands: [
        keep('CHALLENGE', 'challenge_id', login(USER)),
        MAILED_CODE,
        curl('/api/v1/login/mfa/email', jsonOfVariables({ challenge_id: '$CHALLENGE', code: '$CODE' })),
        curl('/api/v1/mfa/factors/email', '-X DELETE', AS_USER),
      ],
    },
    {
      text: 'Enrol a security key (WebAuthn). The sandbox stands in for the browser with the key',
      statuses: [201, 200, 200],
      commands: [
        [
          curl('/api/v1/mfa/webauthn/enroll', '-X POST', AS_USER),
          'curl -s "$SANDBOX/authenticator/webauthn/create" -H "$JSON" -d @-',
          curl('/api/v1/mfa/webauthn/confirm', AS_USER, '-H "$JSON" -d @-'),
        ].join(' | '),
      ],
    },
    {
      text: 'The next login has a challenge for the key. Complete it, then remove the factor',
      statuses: [200, 200, 200, 200],
      commands: [
        [
          login(USER),
          'curl -s "$SANDBOX/authenticator/webauthn/get" -H "$JSON" -d @-',
          curl('/api/v1/login/mfa/webauthn', '-H "$JSON" -d @-'),
        ].join(' | '),
        curl('/api/v1/mfa/factors/webauthn', '-X DELETE', AS_USER),
      ],
    },
  ],
};

export const RECOVERY_FLOW: Flow = {
  title: 'Password reset and verification of an address',
  steps: [
    {
      text: 'Reset a password with the token in the mail. The new password is the old one, so that other commands still work',
      statuses: [202, 200, 200],
      commands: [
        curl('/api/v1/password/forgot', json({ email: USER })),
        `RESET=$(curl -s "$SANDBOX/outbox" | grep -o 'token: [A-Za-z0-9_-]*' | tail -1 | cut -c8-)`,
        curl('/api/v1/password/reset', jsonOfVariables({ token: '$RESET', password: DEMO_PASSWORD })),
      ],
    },
    {
      text: 'Verify an address with the link in the mail',
      statuses: [202, 200, 200],
      commands: [
        curl('/api/v1/email/verification', json({ email: USER })),
        `LINK=$(curl -s "$SANDBOX/outbox" | grep -o '/api/v1/email/verify?token=[A-Za-z0-9_-]*' | tail -1)`,
        curl('$LINK'),
      ],
    },
  ],
};

export const COMPANY_FLOW: Flow = {
  title: 'Company and roles',
  steps: [
    {
      text: 'An administrator changes the settings',
      statuses: [200],
      commands: [curl('/api/company/settings', '-X PATCH', AS_ADMIN, json({ reminder_days: 5 }))],
    },
    {
      text: 'A user may read them, but not change them. The sandbox refuses this; the gateway checks only the roles that may use the platform',
      statuses: [200, 403],
      commands: [
        curl('/api/company/settings', AS_USER),
        curl('/api/company/settings', '-X PATCH', AS_USER, json({ reminder_days: 5 })),
      ],
    },
    {
      text: 'Users, license and certificates of the company',
      statuses: [200, 200, 200],
      commands: ['/api/company/users', '/api/company/license', '/api/v1/certificates'].map((path) =>
        curl(path, AS_ADMIN),
      ),
    },
  ],
};

export const RATE_LIMIT_FLOW: Flow = {
  title: 'Rate limits',
  steps: [
    {
      text: 'The gateway forwards five wrong passwords for one account and refuses the next one. The account is a new one, which does not exist: the responses are the same, and no account above is locked',
      statuses: [401, 401, 401, 401, 401, 429],
      commands: [
        'EMAIL="guess-$(date +%s)@acme.example"',
        `for TRY in 1 2 3 4 5 6; do ${curl('/api/v1/login', jsonOfVariables({ email: '$EMAIL', password: '$TRY' }))}; done`,
      ],
    },
    {
      text: 'Other accounts can still log in',
      statuses: [200],
      commands: [login(USER)],
    },
  ],
};
