/**
 * The upstream of every subject: answers canned bytes as fast as Node can, so that what is measured is what stands
 * before it. It reads just enough to tell requests apart.
 */
import { createServer } from 'node:net';

const BODY = Buffer.from(JSON.stringify({ data: [{ id: 'a'.repeat(36), name: 'x'.repeat(220) }] }));
const OK = answer(BODY);
const ANSWERS: Readonly<Record<string, Buffer>> = {
  '/small': OK,
  '/64k': answer(Buffer.alloc(65_536, 'x')),
  '/1m': answer(Buffer.alloc(1_048_576, 'x')),
  '/100m': answer(Buffer.alloc(104_857_600, 'x')),
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
      const taken = Math.min(missing, rest.length);
      missing -= taken;
      rest = rest.subarray(taken);
      if (missing === 0) socket.write(ANSWERS[path.slice(path.lastIndexOf('/'))] ?? OK);
    }
  });
}).listen(Number(process.env['PORT']), '127.0.0.1');

function answer(body: Buffer): Buffer {
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
