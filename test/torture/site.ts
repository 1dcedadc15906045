import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** What a gateway told of an attempt to take the files over. */
export interface Telling {
  readonly kind: 'accepted' | 'rejected' | 'unreadable';
  readonly hash?: string;
}

/** A gateway that watches the files of a site, in this process or in one of its own. */
export interface Serving {
  readonly port: number;
  readonly tellings: readonly Telling[];
  /** Has the files read now; resolves once it is known what came of it. */
  ask(): Promise<void>;
  close(): Promise<void>;
}

/** The files of a gateway, in a folder of its own, and what is served by them. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'torture-'));
  readonly upstream: string;
  readonly admin: number;
  /** The manifest's path: a scenario may have it elsewhere. */
  path = this.file('gateway.yaml');
  serving: Serving | undefined;
  /** The last version that was written anywhere, and the last one that is known to be in force. */
  written = 0;
  acknowledged = 0;

  constructor(upstream: string, admin: number) {
    this.upstream = upstream;
    this.admin = admin;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file in place. */
  write(name: string, text: string): void {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /** Writes a file beside, and renames it into place. */
  replace(name: string, text: string): void {
    this.write(`${name}.new`, text);
    renameSync(this.file(`${name}.new`), this.file(name));
  }

  /** A manifest whose first route and whose last one say its version; cut short anywhere, it is another one. */
  text(version: number, routes = routesOf(version, 'all')): string {
    return `${this.head()}routes:\n${routes}`;
  }

  /** All of a manifest but its routes. */
  head(include = ''): string {
    return `version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:${this.admin}\n${include}upstreams:\n  up: { url: ${this.upstream} }\n`;
  }

  /** Waits until the gateway has told of an attempt that ended like this, after `act`. */
  async heard(kind: Telling['kind'], act: () => void): Promise<void> {
    const before = this.serving?.tellings.length ?? 0;
    act();
    await until(`the gateway tells: ${kind}`, async () =>
      (this.serving?.tellings ?? []).slice(before).some((telling) => telling.kind === kind),
    );
  }

  /** Waits until both ends of a version are served. */
  async served(version: number): Promise<void> {
    await until(`version ${version} is served`, async () => {
      const answers = [await this.get('/first'), await this.get('/last')];
      return answers.every(({ status, version: got }) => status === 200 && got === version);
    });
    this.acknowledged = version;
  }

  get(path: string): Promise<{ status: number; version: number }> {
    return new Promise((resolve, reject) => {
      const asked = request({ port: this.serving?.port, host: '127.0.0.1', path, agent: false }, (response) => {
        response.resume();
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, version: Number(response.headers['x-version']) });
        });
      });
      asked.on('error', reject);
      asked.end();
    });
  }

  async close(): Promise<void> {
    await this.serving?.close();
    rmSync(this.folder, { recursive: true });
  }
}

const BETWEEN = 30;

/** The routes of a version: all of them, or those of one half. */
export function routesOf(version: number, part: 'all' | 'first' | 'last'): string {
  const route = (id: string) =>
    `  - { id: ${id}, method: GET, path: /${id}, upstream: up, access: public, responseHeaders: { set: { X-Version: '${version}' } } }\n`;
  const between = Array.from({ length: BETWEEN }, (_, index) => route(`between-${part}-${index}`)).join('');
  if (part === 'first') return route('first') + between;
  return part === 'last' ? between + route('last') : route('first') + between + route('last');
}

/** The slow poll finds within 5 s what nothing else tells of. */
const PATIENCE_MS = 15_000;

export async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
    await pause(10);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
