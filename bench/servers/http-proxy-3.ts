/** http-proxy-3 with its defaults and a keep-alive agent. */
import { Agent, createServer } from 'node:http';
import { ProxyServer } from 'http-proxy-3';

const agent = new Agent({ keepAlive: true });
const proxy = new ProxyServer({ target: process.env['UPSTREAM'] ?? '', agent });
proxy.on('error', (_error, _request, response) => response.destroy());
createServer((request, response) => proxy.web(request, response)).listen(Number(process.env['PORT']), '127.0.0.1');
