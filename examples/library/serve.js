/**
 * Serves a manifest inside another program:
 *
 *     node serve.js gateway.yaml
 */
import { readFileSync } from 'node:fs';
import { createFileEnvironment, createGateway, createProcessLog, lint, load } from 'signing-gateway';

const path = process.argv[2] ?? 'gateway.yaml';
const loaded = load({ path, text: readFileSync(path, 'utf8') }, createFileEnvironment(path, process.env));
for (const { file, range, severity, message } of lint(loaded))
  console.error(`${file}:${range.line}:${range.column} ${severity} ${message}`);
if (loaded.plan === undefined) process.exit(1);

const log = createProcessLog(process.stdout.fd);
const gateway = createGateway(loaded.plan, log);
const { address, port } = await gateway.listen();
console.error(`The gateway serves http://${address}:${port}.`);

process.once('SIGTERM', async () => {
  await gateway.close(10_000);
  await log.end();
  process.exit();
});
