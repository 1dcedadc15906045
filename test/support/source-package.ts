/**
 * Resolves the name of this package to its sources, so that an example runs without a build:
 *
 *     node --import ./test/support/source-package.ts examples/library/check.js
 */
import { registerHooks } from 'node:module';

const SOURCE = new URL('../../src/index.ts', import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'signing-gateway' ? SOURCE : specifier, context),
});
