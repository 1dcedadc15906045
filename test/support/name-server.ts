import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, isIPv6, type Socket } from 'node:net';

export type RecordType = 'A' | 'AAAA' | 'CNAME';

export interface NameRecord {
  /** Default: the name of the question. */
  readonly name?: string;
  readonly type: RecordType;
  readonly ttl: number;
  /** An address, or the target name of a CNAME. */
  readonly data: string;
}

/** `hang`: no response. `garbage`: bytes that are not a DNS message. */
export type Zone = (name: string, type: string) => NameRecord[] | 'nxdomain' | 'servfail' | 'hang' | 'garbage';

export interface NameServer {
  /** The address in the form of `Resolver.setServers`. */
  readonly address: string;
  zone: Zone;
  /** The questions so far, as `A name`, or `tcp A name` over TCP. */
  readonly questions: string[];
  close(): Promise<void>;
}

const TYPES: Readonly<Record<string, number>> = { A: 1, CNAME: 5, AAAA: 28 };
const TYPE_NAMES = new Map(Object.entries(TYPES).map(([name, number]) => [number, name]));
const MAX_UDP_BYTES = 1_200;

/** Starts a name server on loopback, over UDP, and over TCP for responses that are too long for UDP. */
export async function startNameServer(zone: Zone): Promise<NameServer> {
  const { udp, tcp, port } = await bindBoth();
  const sockets = new Set<Socket>();
  const questions: string[] = [];
  const server: NameServer = {
    address: `127.0.0.1:${port}`,
    zone,
    questions,
    close: async () => {
      if (!tcp.listening) return;
      for (const socket of sockets) socket.destroy();
      tcp.close();
      udp.close();
      await Promise.all([once(tcp, 'close'), once(udp, 'close')]);
    },
  };
  const respond = (message: Buffer, prefix: string): Buffer | undefined => {
    const { name, type } = questionIn(message);
    questions.push(`${prefix}${type} ${name}`);
    const result = server.zone(name, type);
    if (result === 'hang') return undefined;
    return result === 'garbage' ? Buffer.from('not a DNS message') : responseTo(message, name, type, result);
  };
  udp.on('message', (message, { port: to, address }) => {
    const response = respond(message, '');
    if (response === undefined) return;
    udp.send(response.length > MAX_UDP_BYTES ? truncated(message) : response, to, address);
  });
  tcp.on('connection', (socket) => {
    sockets.add(socket);
    let bytes: Buffer = Buffer.alloc(0);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk]);
      while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE(0)) {
        const end = 2 + bytes.readUInt16BE(0);
        const response = respond(bytes.subarray(2, end), 'tcp ');
        bytes = bytes.subarray(end);
        if (response !== undefined) socket.write(Buffer.concat([number16(response.length), response]));
      }
    });
  });
  return server;
}

/** Binds the same port for both protocols. Retries if another process uses one of the two. */
async function bindBoth(): Promise<{ udp: UdpSocket; tcp: ReturnType<typeof createServer>; port: number }> {
  for (;;) {
    const tcp = createServer().listen(0, '127.0.0.1');
    await once(tcp, 'listening');
    const { port } = tcp.address() as AddressInfo;
    // The kernel's default buffer holds about 256 queries and drops the rest of a burst.
    const udp = createSocket({ type: 'udp4', recvBufferSize: 4_000_000 });
    const isBound = await new Promise<boolean>((resolve) => {
      udp.once('error', () => resolve(false)).bind(port, '127.0.0.1', () => resolve(true));
    });
    if (isBound) return { udp, tcp, port };
    udp.close();
    tcp.close();
  }
}

function questionIn(message: Buffer): { name: string; type: string } {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1);
  return { name: labels.join('.').toLowerCase(), type: TYPE_NAMES.get(type) ?? String(type) };
}

function responseTo(
  message: Buffer,
  name: string,
  type: string,
  result: NameRecord[] | 'nxdomain' | 'servfail',
): Buffer {
  const all = typeof result === 'string' ? [] : result;
  const records = all.filter((record) => record.type === type || record.type === 'CNAME');
  const code = result === 'nxdomain' ? 3 : result === 'servfail' ? 2 : 0;
  const head = Buffer.concat([
    message.subarray(0, 2),
    // Flags: response, recursion desired, recursion available.
    number16(0x8180 | code),
    number16(1),
    number16(records.length),
    number16(0),
    number16(0),
  ]);
  const question = Buffer.concat([nameBytes(name), number16(TYPES[type] ?? 0), number16(1)]);
  return Buffer.concat([head, question, ...records.map((record) => recordBytes(record, name))]);
}

function truncated(message: Buffer): Buffer {
  const { name, type } = questionIn(message);
  const response = responseTo(message, name, type, []);
  response.writeUInt16BE(0x8380, 2);
  return response;
}

function recordBytes({ name, type, ttl, data }: NameRecord, questionName: string): Buffer {
  const ttlBytes = Buffer.alloc(4);
  ttlBytes.writeUInt32BE(ttl);
  const bytes = type === 'CNAME' ? nameBytes(data) : addressBytes(data);
  const head = [nameBytes(name ?? questionName), number16(TYPES[type] as number), number16(1), ttlBytes];
  return Buffer.concat([...head, number16(bytes.length), bytes]);
}

function addressBytes(ip: string): Buffer {
  if (!isIPv6(ip)) return Buffer.from(ip.split('.').map(Number));
  const [left = '', right = ''] = ip.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const before = groups(left);
  const after = groups(right);
  const middle = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.concat([...before, ...middle, ...after].map(number16));
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').filter(Boolean);
  const bytes = labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]);
  return Buffer.concat([...bytes, Buffer.from([0])]);
}

function number16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
