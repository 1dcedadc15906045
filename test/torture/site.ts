import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '../support/site.ts';

/** A reload that the gateway reported. */
export interface ReloadEvent {
  readonly kind: 'accepted' | 'rejected' | 'unreadable' | 'failed';
  readonly hash?: string;
}

/** A gateway that watches the files of a site, in this process or another one. */
export interface Serving {
  readonly port: number;
  readonly reloads: readonly ReloadEvent[];
  /** Reloads the files now. Resolves when the reload is done. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/** The files of a gateway in a temporary folder, and the gateway that serves them. */
export class Site {
  readonly folder = mkdtempSync(join(tmpdir(), 'torture-'));
  readonly upstream: string;
  readonly admin: number;
  readonly workers: number;
  /** The path of the manifest. A scenario may move it. */
  path = this.file('gateway.yaml');
  serving: Serving | undefined;
  /** The last version that was written. */
  written = 0;
  /** The last version that was seen to be active. */
  acknowledged = 0;

  constructor(upstream: string, admin: number, workers = 1) {
    this.upstream = upstream;
    this.admin = admin;
    this.workers = workers;
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** Writes a file in place. */
  write(name: string, text: string): void {
    mkdirSync(dirname(this.file(name)), { recursive: true });
    writeFileSync(this.file(name), text);
  }

  /** Writes a temporary file and renames it into place. */
  replace(name: string, text: string): void {
    this.write(`${name}.new`, text);
    renameSync(this.file(`${name}.new`), this.file(name));
  }

  /** Returns a manifest whose first and last routes send its version. Truncated text is never the same manifest. */
  text(version: number, routes = routesOf(version, 'all')): string {
    return `${this.head()}routes:\n${routes}`;
  }

  /** Returns a manifest without routes. */
  head(include = ''): string {
    return `version: 1\nlisten: 127.0.0.1:0\nadmin: 127.0.0.1:${this.admin}\nserver: { workers: ${this.workers} }\n${include}upstreams:\n  up: { url: ${this.upstream} }\n`;
  }

  /** Calls `change` and waits until the gateway reports a reload with this outcome. */
  async expectReload(kind: ReloadEvent['kind'], change: () => void): Promise<void> {
    const before = this.serving?.reloads.length ?? 0;
    change();
    await eventually(`the gateway reports: ${kind}`, async () =>
      (this.serving?.reloads ?? []).slice(before).some((reload) => reload.kind === kind),
    );
  }

  /** Waits until the first and the last route of a version are served. */
  async served(version: number): Promise<void> {
    await eventually(`version ${version} is served`, async () => {
      const responses = [await this.get('/first'), await this.get('/last')];
      return responses.every((response) => response.status === 200 && response.version === version);
    });
    this.acknowledged = version;
  }

  get(path: string): Promise<{ status: number; version: number }> {
    return new Promise((resolve, reject) => {
      const outgoing = request({ port: this.serving?.port, host: '127.0.0.1', path, agent: false }, (response) => {
        response.resume();
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, version: Number(response.headers['x-version']) });
        });
      });
      outgoing.on('error', reject);
      outgoing.end();
    });
  }

  async close(): Promise<void> {
    await this.serving?.close();
    rmSync(this.folder, { recursive: true });
  }
}

const MIDDLE_ROUTES = 30;

/** Returns the routes of a version: all of them, or one half. */
export function routesOf(version: number, part: 'all' | 'first' | 'last'): string {
  const route = (id: string) =>
    `  - { id: ${id}, method: GET, path: /${id}, upstream: up, access: public, responseHeaders: { set: { X-Version: '${version}' } } }\n`;
  const middle = Array.from({ length: MIDDLE_ROUTES }, (_, index) => route(`between-${part}-${index}`)).join('');
  if (part === 'first') return route('first') + middle;
  return part === 'last' ? middle + route('last') : route('first') + middle + route('last');
}
