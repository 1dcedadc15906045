import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { freePort } from './free-port.ts';
import { eventually } from './site.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** True if Redis is installed (Debian's package `redis-server`). Tests that need it are skipped otherwise. */
export const hasRedis = spawnSync('redis-server', ['--version']).error === undefined;

export interface Redis {
  readonly port: number;
  readonly url: string;
  /** Runs a command with `redis-cli`, and returns its output. */
  run(...command: readonly string[]): Promise<string>;
  /** Stops the process for a while, as a machine that hangs. */
  pause(): void;
  resume(): void;
  /** Ends the process at once. */
  kill(): Promise<void>;
  /** Starts the process again, on the same port, without data. */
  start(): Promise<void>;
}

export interface RedisOptions {
  /** Arguments of `redis-server`. */
  readonly args?: readonly string[];
  /** Arguments of `redis-cli`, such as credentials. */
  readonly cliArgs?: readonly string[];
  /** The lines of a configuration file, which Sentinel needs. */
  readonly config?: (port: number) => readonly string[];
  readonly port?: number;
}

const servers = new Set<() => Promise<void>>();

/** Starts a Redis server without persistence on a free port of the loopback interface. */
export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  const { args = [], cliArgs = [], config } = options;
  const port = options.port ?? (await freePort());
  const files = config === undefined ? {} : { 'redis.conf': `${config(port).join('\n')}\n` };
  const folder = temporaryFolder('redis', files);
  const common = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
  const serverArgs =
    config === undefined
      ? [...common, '--save', '', '--appendonly', 'no', ...args]
      : [`${folder}/redis.conf`, ...common, ...args];
  const run = async (...command: readonly string[]) => {
    const result = await promisify(execFile)('redis-cli', ['-p', String(port), ...cliArgs, ...command]);
    return result.stdout.trim();
  };
  let process_ = spawn('redis-server', serverArgs, { stdio: 'ignore' });
  const kill = async () => {
    if (process_.exitCode !== null || process_.signalCode !== null) return;
    process_.kill('SIGKILL');
    await once(process_, 'exit');
  };
  const untilReady = () => until(async () => (await run('PING').catch(() => '')) !== '');
  servers.add(kill);
  await untilReady();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    run,
    pause: () => void process_.kill('SIGSTOP'),
    resume: () => void process_.kill('SIGCONT'),
    kill,
    start: async () => {
      process_ = spawn('redis-server', serverArgs, { stdio: 'ignore' });
      await untilReady();
    },
  };
}

/** Ends all servers that were started. */
export async function stopRedis(): Promise<void> {
  await Promise.all([...servers].map((kill) => kill()));
  servers.clear();
}

/** A pair of servers and the Sentinel server that watches them under the name `counters`. */
export interface SentinelPair {
  readonly primary: Redis;
  readonly replica: Redis;
  readonly sentinel: Redis;
}

export async function startSentinelPair(): Promise<SentinelPair> {
  // By default the primary waits five seconds for more replicas before it sends its data.
  const primary = await startRedis({ args: ['--repl-diskless-sync-delay', '0'] });
  const replica = await startRedis({ args: ['--replicaof', '127.0.0.1', String(primary.port)] });
  await until(async () => (await replica.run('INFO', 'replication')).includes('master_link_status:up'));
  const sentinel = await startRedis({
    args: ['--sentinel'],
    config: () => [
      `sentinel monitor counters 127.0.0.1 ${primary.port} 1`,
      'sentinel down-after-milliseconds counters 300',
      'sentinel failover-timeout counters 1000',
    ],
  });
  await until(async () =>
    (await sentinel.run('SENTINEL', 'replicas', 'counters')).includes(`127.0.0.1:${replica.port}`),
  );
  return { primary, replica, sentinel };
}

/** Starts a cluster of three primaries. */
export async function startCluster(): Promise<Redis[]> {
  const nodes: Redis[] = [];
  for (let index = 0; index < 3; index += 1) {
    // By default the port of the cluster bus is 10,000 higher, which may be above the highest port.
    const busPort = ['--cluster-port', String(await freePort())];
    nodes.push(await startRedis({ args: ['--cluster-enabled', 'yes', '--cluster-node-timeout', '1000', ...busPort] }));
  }
  const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
  await promisify(execFile)('redis-cli', ['--cluster', 'create', ...addresses, '--cluster-yes']);
  await until(async () => {
    const states = await Promise.all(nodes.map((node) => node.run('CLUSTER', 'INFO')));
    return states.every((state) => state.includes('cluster_state:ok'));
  });
  return nodes;
}

/** Waits until a condition about a server holds. */
export function until(isMet: () => boolean | Promise<boolean>): Promise<void> {
  return eventually('a server of Redis responds as expected', isMet);
}
