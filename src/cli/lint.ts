import { count, paint } from './format.ts';
import { loadFile, MANIFEST_OPTIONS, readManifests } from './manifest-file.ts';
import { OUTPUT_OPTIONS, readOutputs, writeOutputs } from './outputs.ts';
import type { Verb } from './terminal.ts';
import { version } from './version.ts';

export const lint: Verb = {
  usage: 'signing-gateway lint [FILE …] [-f FORMAT [-o FILE]] …',
  options: { ...MANIFEST_OPTIONS, ...OUTPUT_OPTIONS },
  examples: [
    'signing-gateway lint deploy/gateway.yaml',
    'signing-gateway lint -f sarif -o lint.sarif -f github    for code scanning, and as annotations',
  ],
  async run(terminal) {
    const { env, err, errColour } = terminal;
    const { files, tokens } = readManifests(terminal.args, OUTPUT_OPTIONS);
    const outputs = readOutputs(tokens, files);
    const loaded = files.map((file) => loadFile(file, env));
    const problems = loaded.flatMap((one) => one.problems);
    writeOutputs(outputs, { sources: loaded, problems, failOn: 'error', rules: new Map(), version }, terminal);
    const names = loaded.map(({ path }) => path).join(', ');
    if (problems.length > 0) {
      err(`${paint(count(problems.length, 'problem'), 'red', errColour)} in ${names}\n`);
      return 1;
    }
    const routes = loaded.reduce((sum, { plan }) => sum + (plan?.routes.length ?? 0), 0);
    err(`${paint('no problems', 'green', errColour)} in ${names}: ${count(routes, 'route')}\n`);
    return 0;
  },
};
