/**
 * The upstream of every subject. It sends prepared responses as fast as Node can, so that the subject is the bottleneck, and
 * parses requests only as far as needed to find their ends.
 */
import { createServer } from 'node:net';

const BODY = Buffer.from(JSON.stringify({ data: [{ id: 'a'.repeat(36), name: 'x'.repeat(220) }] }));
const OK = createResponse(BODY);
const RESPONSES: Readonly<Record<string, Buffer>> = {
  '/small': OK,
  '/64k': createResponse(Buffer.alloc(65_536, 'x')),
  '/1m': createResponse(Buffer.alloc(1_048_576, 'x')),
  '/100m': createResponse(Buffer.alloc(104_857_600, 'x')),
};

createServer((socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  let missing = 0;
  let path = '';
  socket.on('data', (chunk) => {
    let rest = chunk as Buffer;
    while (rest.length > 0) {
      if (missing === 0) {
        const end = rest.indexOf('\r\n\r\n');
        const head = rest.toString('latin1', 0, end);
        path = head.slice(head.indexOf(' ') + 1, head.indexOf(' HTTP'));
        const length = /content-length: (\d+)/i.exec(head)?.[1];
        missing = Number(length ?? 0);
        rest = rest.subarray(end + 4);
      }
      const consumed = Math.min(missing, rest.length);
      missing -= consumed;
      rest = rest.subarray(consumed);
      if (missing === 0) socket.write(RESPONSES[path.slice(path.lastIndexOf('/'))] ?? OK);
    }
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');

function createResponse(body: Buffer): Buffer {
  const head = [
    'HTTP/1.1 200 OK',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    'Date: Thu, 01 Jan 2026 00:00:00 GMT',
    'X-Request-Cost: 1',
    'Vary: Accept-Language',
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body]);
}
