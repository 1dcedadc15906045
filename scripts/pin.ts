/**
 * Pins the base images of the Dockerfile and the actions of the workflows by digest, and keeps their versions as comments or tags. It
 * needs a network. Run it again to move to newer commits of the same versions.
 *
 *     node scripts/pin.ts          # --check: changes nothing, and exits with 1 if something is not pinned
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs';

const ROOT = new URL('../', import.meta.url);
const TIMEOUT_MS = 30_000;
const ACTION = /(uses: )([\w.-]+\/[\w.-]+)((?:\/[\w.-]+)*)@([\w.-]+)(?: # (\S+))?$/gm;
const IMAGE = /^(FROM )([\w./-]+):([\w.-]+)(?:@sha256:[0-9a-f]{64})?/gm;
const MANIFEST_TYPES =
  'application/vnd.oci.image.index.v1+json, application/vnd.docker.distribution.manifest.list.v2+json';

/** Returns the commit of a version of an action, and the digest of an image. */
export interface Digests {
  readonly commitOf: (repository: string, version: string) => Promise<string>;
  readonly digestOf: (image: string, tag: string) => Promise<string>;
}

/** Returns the text of a workflow or an action with a commit in place of each version. */
export function pinActions(text: string, { commitOf }: Digests): Promise<string> {
  return replaceAsync(text, ACTION, async ([, uses, repository = '', path, written = '', comment]) => {
    const version = comment ?? written;
    return `${uses}${repository}${path}@${await commitOf(repository, version)} # ${version}`;
  });
}

/** Returns the text of a Dockerfile with a digest behind each tag. */
export function pinImages(text: string, { digestOf }: Digests): Promise<string> {
  return replaceAsync(text, IMAGE, async ([, from, image = '', tag = '']) => {
    return `${from}${image}:${tag}@${await digestOf(image, tag)}`;
  });
}

async function replaceAsync(text: string, pattern: RegExp, replace: (match: RegExpMatchArray) => Promise<string>) {
  const matches = [...text.matchAll(pattern)];
  const texts = await Promise.all(matches.map(replace));
  return text.replaceAll(pattern, () => texts.shift() ?? '');
}

async function fetchJson(url: string, headers: Record<string, string> = {}): Promise<Response> {
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${url} responds with ${response.status}`);
  return response;
}

const NETWORK: Digests = {
  commitOf: async (repository, version) => {
    const response = await fetchJson(`https://api.github.com/repos/${repository}/commits/${version}`);
    const { sha } = (await response.json()) as { sha: string };
    return sha;
  },
  digestOf: async (image, tag) => {
    const name = image.includes('/') ? image : `library/${image}`;
    const access = await fetchJson(
      `https://auth.docker.io/token?service=registry.docker.io&scope=repository:${name}:pull`,
    );
    const { token } = (await access.json()) as { token: string };
    const headers = { Authorization: `Bearer ${token}`, Accept: MANIFEST_TYPES };
    const response = await fetchJson(`https://registry-1.docker.io/v2/${name}/manifests/${tag}`, headers);
    return response.headers.get('docker-content-digest') ?? '';
  },
};

/** Returns the parts of a text that name a version and no digest. */
export function unpinnedIn(text: string): string[] {
  const actions = [...text.matchAll(ACTION)].filter(([, , , , version = '']) => !/^[0-9a-f]{40}$/.test(version));
  const images = [...text.matchAll(IMAGE)].filter(([line]) => !line.includes('@sha256:'));
  return [...actions, ...images].map(([line]) => line.trim());
}

if (import.meta.main) {
  const files = ['Dockerfile', 'action.yml', ...globSync('.github/workflows/*.yml', { cwd: ROOT })];
  for (const file of files) {
    const url = new URL(file, ROOT);
    const text = readFileSync(url, 'utf8');
    if (process.argv.includes('--check')) {
      for (const part of unpinnedIn(text)) {
        process.stdout.write(`${file}: ${part}\n`);
        process.exitCode = 1;
      }
    } else writeFileSync(url, await pinImages(await pinActions(text, NETWORK), NETWORK));
  }
}
