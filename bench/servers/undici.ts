/** A minimal proxy with undici's `request`, which pipes the response through. */
import { createServer } from 'node:http';
import { type Dispatcher, Pool } from 'undici';

const pool = new Pool(process.env['UPSTREAM'] ?? '', { allowH2: false });
createServer(async (request, response) => {
  const { connection: _hop, 'transfer-encoding': _framing, ...headers } = request.headers;
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  const upstreamResponse = await pool.request({
    path: request.url ?? '/',
    method: request.method as Dispatcher.HttpMethod,
    headers: headers as Record<string, string>,
    body: hasBody ? request : null,
  });
  response.writeHead(upstreamResponse.statusCode, upstreamResponse.headers);
  upstreamResponse.body.pipe(response);
}).listen(Number(process.env['PORT']), '127.0.0.1');
