import { globSync, readFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { pause, stoppedCount, turns, within } from './pause.ts';
import { openSocket } from './raw.ts';
import { eventually } from './site.ts';

it('no test has a wait of its own', () => {
  const own = /\bsetTimeout\b(?!\(\(\) => undefined, 0\))|\bsleep\((?!\))/;
  const files = globSync('test/**/*.ts').filter((file) => !file.startsWith('test/support/pause.'));
  expect(files.length).toBeGreaterThan(100);
  expect(files.filter((file) => own.test(readFileSync(file, 'utf8')))).toEqual([]);
});

describe('turns', () => {
  it('let this process read what another socket of it has sent', async () => {
    const received: string[] = [];
    const server = createServer((socket) => void socket.on('data', (bytes) => received.push(bytes.toString())));
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const socket = await openSocket(port);
    for (const text of ['one', 'two']) {
      socket.write(text);
      await turns(5);
    }
    expect(received).toEqual(['one', 'two']);
    socket.destroy();
    server.close();
  });
});

describe('within', () => {
  it('returns the result in time, and otherwise undefined', async () => {
    expect(await within(10_000, Promise.resolve(1))).toBe(1);
    expect(await within(1, new Promise(() => undefined))).toBeUndefined();
    await expect(within(10_000, Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});

describe('stoppedCount', () => {
  it('returns the bytes that are sent when nobody reads, however long the receiver takes', async () => {
    let receiver: Socket | undefined;
    const server = createServer((socket) => {
      receiver = socket.pause();
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    const socket = await openSocket(port);
    for (let block = 0; block < 20; block += 1) socket.write(Buffer.alloc(1_000_000));
    const sent = () => socket.bytesWritten - socket.writableLength;
    const bytes = await stoppedCount(sent, () => turns(5));
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(20_000_000);
    expect(sent()).toBe(bytes);
    await eventually('the server has the connection', () => receiver !== undefined);
    receiver?.destroy();
    socket.destroy();
    server.close();
  });

  it('waits for a count that grows after each round', async () => {
    let count = 0;
    const round = async () => {
      await pause(1);
      if (count < 5) count += 1;
    };
    expect(await stoppedCount(() => count, round)).toBe(5);
  });
});
