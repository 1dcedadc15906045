import { namedManifest } from '../named-manifest.ts';
import { loadForServing, readSources, SERVING_OPTIONS, serveFile } from '../run/run.ts';
import { defineVerb } from '../terminal.ts';
import { startServices, withPlaceholders } from './local-services.ts';
import { welcome } from './welcome.ts';

export const verb = defineVerb({
  usage: 'signing-gateway dev [FILE] [--listen ADDRESS] [--admin ADDRESS] [--secrets-dir FOLDER]',
  options: SERVING_OPTIONS,
  examples: ['signing-gateway dev', 'signing-gateway dev --listen 127.0.0.1:8081'],
  async run(terminal, { values, positionals }) {
    const file = namedManifest(values, positionals);
    const sources = readSources(values);
    // Loaded before anything starts, because the manifest says which services it needs.
    const planned = await loadForServing(file, { ...terminal, env: withPlaceholders(terminal.env) }, sources);
    const services = await startServices(planned, terminal.env);
    try {
      const serving = { ...terminal, env: { ...terminal.env, ...services.environment } };
      return await serveFile(file, serving, {
        ...sources,
        stopsAtOnce: true,
        welcome: (gateway) => welcome(file, gateway, services),
      });
    } finally {
      await services.close();
    }
  },
});
