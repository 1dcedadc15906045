import { auditRoutes } from './audit.ts';
import { withGuide } from './guide/guide-routes.ts';
import { companyRoutes } from './identity/company.ts';
import { emailFactorRoutes } from './identity/email-factor.ts';
import { factorRoutes } from './identity/factors.ts';
import { loginRoutes } from './identity/login.ts';
import { recoveryRoutes } from './identity/recovery.ts';
import { securityKeyRoutes } from './identity/security-key.ts';
import { totpRoutes } from './identity/totp-factor.ts';
import { webauthnRoutes } from './identity/webauthn-factor.ts';
import { type JobHandlers, runJobs } from './jobs.ts';
import { mailRoutes } from './mail.ts';
import { aiRoutes, analyseDocument } from './platform/ai.ts';
import { contactRoutes } from './platform/contacts.ts';
import { importContacts, importRoutes } from './platform/contacts-import.ts';
import { documentRoutes } from './platform/documents.ts';
import { edmRoutes, exportDocuments } from './platform/edm.ts';
import { notificationRoutes } from './platform/notifications.ts';
import { workflowRoutes } from './platform/workflows.ts';
import type { SandboxRoute } from './request.ts';
import { DEMO_ACCOUNTS, type DemoAccount, SAMPLES } from './samples.ts';
import { seed } from './seed.ts';
import { listen } from './server.ts';
import { openStore } from './store.ts';

/** A local stand-in for the upstream services of a signing platform: two real HTTP servers over one SQLite file. */
export interface Sandbox {
  readonly identityUrl: string;
  readonly platformUrl: string;
  /** The environment variables through which a manifest finds the sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  readonly accounts: readonly DemoAccount[];
  /** Ids of the seed data, the same in every sandbox. */
  readonly samples: typeof SAMPLES;
  /** Sets the address of the gateway in the commands of the page. Default: http://127.0.0.1:8080. */
  setGatewayUrl(url: string): void;
  /** Closes the connections and the database and stops background jobs. Unfinished jobs continue at the next start. */
  close(): Promise<void>;
}

interface SandboxOptions {
  /** The path of the database; `:memory:` stores nothing on disk. */
  readonly file: string;
  /** Default 7001, and 7002 for the platform. With 0, or if the port is in use, the system chooses a free port. */
  readonly identityPort?: number;
  readonly platformPort?: number;
  /** The least time from the start of a job to its end, in which its states can be seen. Default: 0. */
  readonly jobTimeMs?: number;
}

/** Starts a sandbox on 127.0.0.1. Seeds a new database with demo data. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  await using resources = new AsyncDisposableStack();
  const store = resources.adopt(openStore(options.file), (database) => database.close());
  seed(store);
  resources.defer(runJobs(store, JOB_HANDLERS, options.jobTimeMs ?? 0));
  const addresses = { gateway: 'http://127.0.0.1:8080', identity: '', platform: '' };
  const start = async (name: 'identity' | 'platform', port: number, routes: readonly SandboxRoute[]) => {
    const { url, close } = await listen(port, withGuide(name, routes, addresses), store);
    resources.defer(close);
    addresses[name] = url;
  };
  await start('identity', options.identityPort ?? 7001, IDENTITY_ROUTES);
  await start('platform', options.platformPort ?? 7002, PLATFORM_ROUTES);
  const running = resources.move();
  return {
    identityUrl: addresses.identity,
    platformUrl: addresses.platform,
    environment: sandboxEnvironment(addresses.identity, addresses.platform),
    accounts: DEMO_ACCOUNTS,
    samples: SAMPLES,
    setGatewayUrl: (url) => {
      addresses.gateway = url;
    },
    close: () => running.disposeAsync(),
  };
}

/** Returns the environment variables through which a manifest finds a sandbox at these addresses. */
function sandboxEnvironment(identityUrl: string, platformUrl: string): Readonly<Record<string, string>> {
  return {
    IDENTITY_URL: identityUrl,
    JWKS_URL: `${identityUrl}/.well-known/jwks.json`,
    ...Object.fromEntries(PLATFORM_SERVICES.map((service) => [`${service}_URL`, platformUrl])),
  };
}

/** The routes of the identity server. */
const IDENTITY_ROUTES: readonly SandboxRoute[] = [
  loginRoutes,
  factorRoutes,
  totpRoutes,
  emailFactorRoutes,
  webauthnRoutes,
  securityKeyRoutes,
  recoveryRoutes,
  companyRoutes,
  mailRoutes,
].flat();

/** The routes of the platform server. */
const PLATFORM_ROUTES: readonly SandboxRoute[] = [
  contactRoutes,
  importRoutes,
  workflowRoutes,
  documentRoutes,
  edmRoutes,
  aiRoutes,
  auditRoutes,
  notificationRoutes,
].flat();

const JOB_HANDLERS: JobHandlers = {
  'contacts-import': importContacts,
  'ai-analysis': analyseDocument,
  'edm-export': exportDocuments,
};

const PLATFORM_SERVICES = ['WORKFLOWS', 'CONTACTS', 'CERTIFICATES', 'DOCUMENTS', 'EDM', 'AUDIT', 'NOTIFICATIONS', 'AI'];
