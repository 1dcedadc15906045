import { open, stat } from 'node:fs/promises';
import { type Hosts, parseHosts } from './hosts-file.ts';
import { parseResolvConf, type ResolvConf } from './resolv-conf.ts';

/** A longer file would hold the event loop while it is parsed; the lines behind this are not read. */
const MAX_BYTES = 262_144;
const CHECK_MS = 5_000;
/** Longest wait for the first reading, in case a file hangs. */
const FIRST_READ_MS = 1_000;

export interface ResolverFilesOptions {
  readonly hostsPath: string;
  readonly resolvConfPath: string;
}

/** Reads `/etc/hosts` and `/etc/resolv.conf`, and again after they change. A file that cannot be read counts as empty. */
export class ResolverFiles {
  readonly #options: ResolverFilesOptions;
  /** Grows with each change. */
  version = 0;
  hosts: Hosts = new Map();
  resolvConf: ResolvConf = parseResolvConf('');
  #marks = ['', ''];
  #checkedAt = Number.NEGATIVE_INFINITY;
  #first: Promise<void> | undefined;
  /** True once the files were read, or took too long. */
  isReady = false;
  #isChecking = false;

  constructor(options: ResolverFilesOptions) {
    this.#options = options;
  }

  /** Resolves after the first reading, and soon if a file hangs. */
  ready(): Promise<void> {
    this.#first ??= new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.isReady = true;
        resolve();
      };
      const timer = setTimeout(done, FIRST_READ_MS);
      void this.#check().then(done);
    });
    return this.#first;
  }

  /** Looks for changes in the background, at most every few seconds. */
  checkForChanges(): void {
    if (this.#isChecking || performance.now() - this.#checkedAt < CHECK_MS) return;
    void this.#check();
  }

  /** One file after the other: a mount that hangs holds one thread of the pool, and no more. */
  async #check(): Promise<void> {
    this.#isChecking = true;
    const { hostsPath, resolvConfPath } = this.#options;
    await this.#readChanged(0, hostsPath, (text) => {
      this.hosts = parseHosts(text);
    });
    await this.#readChanged(1, resolvConfPath, (text) => {
      this.resolvConf = parseResolvConf(text);
    });
    this.#checkedAt = performance.now();
    this.#isChecking = false;
  }

  async #readChanged(index: number, path: string, take: (text: string) => void): Promise<void> {
    const mark = await fileVersion(path);
    if (mark === this.#marks[index]) return;
    take(await readBeginning(path));
    this.#marks[index] = mark;
    this.version += 1;
  }
}

async function fileVersion(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs } = await stat(path, { bigint: true });
    return `${ino} ${size} ${mtimeNs}`;
  } catch {
    return 'unreadable';
  }
}

async function readBeginning(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(MAX_BYTES), 0, MAX_BYTES, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    return bytesRead < MAX_BYTES ? text : text.slice(0, text.lastIndexOf('\n') + 1);
  } catch {
    return '';
  }
}
