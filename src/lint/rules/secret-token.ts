import type { Rule } from '../rule.ts';

export const secretToken: Rule = {
  id: 'secret-token',
  category: 'secrets',
  severity: 'warning',
  preset: 'minimal',
  rationale:
    'The file is in a repository, in images and in backups: whoever can read any of them has the secret, and it cannot be taken back.',
  *find({ document }) {
    for (const { text, file } of [document, ...document.included])
      for (const [kind, pattern] of Object.entries(KINDS))
        for (const { index, 0: found } of text.matchAll(pattern))
          yield {
            location: { start: index, end: index + found.length, file },
            message: `this looks like ${kind}; take it back where it was made, and write \${NAME} in its place`,
            isSecret: true,
          };
  },
};

/** What the issuers of secrets let them begin with, so that they can be found. */
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
