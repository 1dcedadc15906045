import { type FileHandle, open, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { getOrCreate } from '../get-or-create.ts';

/** The most bytes of a file. Parsing a longer one would block the event loop, so further lines are ignored. */
const MAX_BYTES = 262_144;
const CHECK_MS = 5_000;
/** The time limit of the first read, in case a file system hangs. */
const FIRST_READ_TIMEOUT_MS = 1_000;

/** Reads `/etc/hosts` and `/etc/resolv.conf`, and reads them again after a change. An unreadable file counts as empty. */
export class ResolverFiles {
  readonly #hostsPath: string;
  readonly #resolvConfPath: string;
  /** Increases with each changed file. */
  version = 0;
  hosts: Hosts = new Map();
  resolvConf: ResolvConf = parseResolvConf('');
  #fileVersions = ['', ''];
  #checkedAt = Number.NEGATIVE_INFINITY;
  #firstRead: Promise<void> | undefined;
  /** True once the files were read, or the first read timed out. */
  isReady = false;
  #isChecking = false;

  constructor(hostsPath: string, resolvConfPath: string) {
    this.#hostsPath = hostsPath;
    this.#resolvConfPath = resolvConfPath;
  }

  /** Resolves after the first read or its time limit. */
  ready(): Promise<void> {
    this.#firstRead ??= new Promise<void>((resolve) => {
      const onReady = () => {
        clearTimeout(timer);
        this.isReady = true;
        resolve();
      };
      const timer = setTimeout(onReady, FIRST_READ_TIMEOUT_MS);
      void this.#check().then(onReady);
    });
    return this.#firstRead;
  }

  /** Checks for changes in the background, at most once per `CHECK_MS`. */
  checkForChanges(): void {
    if (this.#isChecking || performance.now() - this.#checkedAt < CHECK_MS) return;
    void this.#check();
  }

  /** Reads one file after the other, so that a mount that hangs blocks only one thread of the pool. */
  async #check(): Promise<void> {
    this.#isChecking = true;
    await this.#readChanged(0, this.#hostsPath, (text) => {
      this.hosts = parseHosts(text);
    });
    await this.#readChanged(1, this.#resolvConfPath, (text) => {
      this.resolvConf = parseResolvConf(text);
    });
    this.#checkedAt = performance.now();
    this.#isChecking = false;
  }

  async #readChanged(index: number, path: string, apply: (text: string) => void): Promise<void> {
    const fileVersion = await fileVersionOf(path);
    if (fileVersion === this.#fileVersions[index]) return;
    apply(await readBeginning(path));
    this.#fileVersions[index] = fileVersion;
    this.version += 1;
  }
}

async function fileVersionOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'unreadable';
  }
}

async function readBeginning(path: string): Promise<string> {
  let file: FileHandle | undefined;
  try {
    file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(MAX_BYTES), 0, MAX_BYTES, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    return bytesRead < MAX_BYTES ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  } catch {
    return '';
  } finally {
    await file?.close();
  }
}

/** Addresses by name, from `hosts(5)`. A name may be on several lines. */
type Hosts = ReadonlyMap<string, readonly string[]>;

export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, string[]>();
  for (const line of text.split('\n')) {
    const [ip = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (isIP(ip) === 0) continue;
    for (const name of names) getOrCreate(hosts, name.toLowerCase(), (): string[] => []).push(ip);
  }
  return hosts;
}

/** The settings of `resolv.conf(5)` that decide which names are looked up. C-ares reads the name servers itself, for each lookup. */
type ResolvConf = ReturnType<typeof parseResolvConf>;

/** glibc allows more than six since 2.26. The limit bounds the lookups of one name. */
const MAX_SEARCH = 16;
const MAX_NDOTS = 15;

export function parseResolvConf(text: string) {
  let search: string[] = [];
  // A name with fewer dots is looked up in the search domains first.
  let ndots = 1;
  for (const line of text.split('\n')) {
    const [key, ...words] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    // The last `search` or `domain` line wins.
    if (key === 'search' || key === 'domain') search = words.map((word) => word.replace(/\.$/, '').toLowerCase());
    else if (key === 'options') ndots = ndotsIn(words) ?? ndots;
  }
  return { search: search.filter(Boolean).slice(0, MAX_SEARCH), ndots };
}

function ndotsIn(options: readonly string[]): number | undefined {
  const [, digits] = options.map((option) => /^ndots:(\d{1,3})$/.exec(option)).find((match) => match !== null) ?? [];
  return digits === undefined ? undefined : Math.min(Number(digits), MAX_NDOTS);
}

/** Returns the full names to look up for a name, in order. A name with a trailing dot is already full. */
export function candidateNames(name: string, { search, ndots }: ResolvConf): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const inDomains = search.map((domain) => `${name}.${domain}`);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...inDomains] : [...inDomains, name];
}
