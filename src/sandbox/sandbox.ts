import { identityRoutes } from './identity/routes.ts';
import { createJobs } from './jobs.ts';
import { analyseDocument } from './platform/ai.ts';
import { importContacts } from './platform/contacts-import.ts';
import { exportDocuments } from './platform/edm.ts';
import { platformRoutes } from './platform/routes.ts';
import { ACCOUNTS, type DemoAccount, SAMPLES } from './samples.ts';
import { seed } from './seed.ts';
import { listen } from './server.ts';
import { openStore } from './store.ts';
import { createTokens } from './tokens.ts';

export type { DemoAccount } from './samples.ts';

/** A local stand-in for the upstream services of a signing platform: two real HTTP servers over one SQLite file. */
export interface Sandbox {
  readonly identityUrl: string;
  readonly platformUrl: string;
  /** The environment variables through which a manifest finds the sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  readonly accounts: readonly DemoAccount[];
  /** Ids of seeded things, the same in every sandbox. */
  readonly samples: typeof SAMPLES;
  /** Ends connections and background jobs and closes the file. A job cut short goes on at the next start. */
  close(): Promise<void>;
}

export interface SandboxOptions {
  /** Where the data lives; `:memory:` keeps nothing. */
  readonly file: string;
  /** 7001 unless told; 0, or a port in use, means any free one. */
  readonly identityPort?: number;
  /** 7002 unless told; 0, or a port in use, means any free one. */
  readonly platformPort?: number;
}

/** Starts a sandbox on 127.0.0.1, filled with demo data if its file is new. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const open = new AsyncDisposableStack();
  try {
    const store = open.adopt(openStore(options.file), (opened) => opened.close());
    await seed(store);
    const tokens = await createTokens(store);
    const jobs = createJobs(store, {
      'contacts-import': importContacts,
      'ai-analysis': analyseDocument,
      'edm-export': exportDocuments,
    });
    open.defer(() => jobs.close());
    const identity = await listen(options.identityPort ?? 7001, identityRoutes(store, tokens), tokens.authenticate);
    open.defer(() => identity.close());
    const platform = await listen(options.platformPort ?? 7002, platformRoutes(store, jobs), tokens.authenticate);
    open.defer(() => platform.close());
    return {
      identityUrl: identity.url,
      platformUrl: platform.url,
      environment: environmentOf(identity.url, platform.url),
      accounts: ACCOUNTS,
      samples: SAMPLES,
      close: () => open.disposeAsync(),
    };
  } catch (error) {
    await open.disposeAsync();
    throw error;
  }
}

const PLATFORM_SERVICES = ['WORKFLOWS', 'CONTACTS', 'CERTIFICATES', 'DOCUMENTS', 'EDM', 'AUDIT', 'NOTIFICATIONS', 'AI'];

function environmentOf(identityUrl: string, platformUrl: string): Readonly<Record<string, string>> {
  return {
    IDENTITY_URL: identityUrl,
    JWKS_URL: `${identityUrl}/.well-known/jwks.json`,
    ...Object.fromEntries(PLATFORM_SERVICES.map((service) => [`${service}_URL`, platformUrl])),
  };
}
