import type { Rule } from '../rule.ts';

export const secretToken: Rule = {
  id: 'secret-token',
  category: 'secrets',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'The file is copied to repositories, images and backups, and anyone who can read one of them has the secret until it is revoked.',
  *find({ document }) {
    for (const { text, file } of [document, ...document.included])
      for (const [kind, pattern] of Object.entries(KINDS))
        for (const { index, 0: match } of text.matchAll(pattern))
          yield {
            location: { start: index, end: index + match.length, file },
            message: `this looks like ${kind}; revoke it at its issuer, and write \${NAME} instead`,
            isSecret: true,
          };
  },
};

/** The formats of well-known secrets, most of which have a prefix so that scanners can find them. */
const KINDS: Readonly<Record<string, RegExp>> = {
  'a private key': /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?:[\s\S]*?-----END (?:[A-Z]+ )*PRIVATE KEY-----)?/g,
  'a JSON Web Token': /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}/g,
  'an AWS access key': /\b(?:AKIA|ASIA)[A-Z2-7]{16}\b/g,
  'a GitHub token': /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})/g,
  'a GitLab token': /\bgl(?:pat|dt|rt|cbt|ptt)-[\w-]{20,}/g,
  'a Slack token': /\bxox[abeprs]-[\w-]{10,}/g,
  'a Stripe key': /\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}/g,
  'a Google API key': /\bAIza[\w-]{35}/g,
  'a SendGrid key': /\bSG\.[\w-]{16,}\.[\w-]{16,}/g,
  'a Vault token': /\bhv[bsr]\.[\w-]{24,}/g,
  'an npm token': /\bnpm_[A-Za-z0-9]{36}/g,
};
