/** Pipes bytes in both directions without parsing them, as the upper bound for Node's sockets. */
import { connect, createServer } from 'node:net';

const { hostname, port } = new URL(process.env['UPSTREAM'] ?? '');
createServer((client) => {
  const upstream = connect(Number(port), hostname);
  for (const socket of [client, upstream]) socket.setNoDelay(true).on('error', () => undefined);
  client.pipe(upstream).pipe(client);
}).listen(Number(process.env['PORT']), '127.0.0.1');
