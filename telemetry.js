/**
 * Registers the OpenTelemetry SDK, so that the gateway records spans and exports them with OTLP over HTTP:
 *
 *     node --import signing-gateway/telemetry node_modules/signing-gateway/dist/cli/main.js run
 *
 * `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` configure it. The packages of the SDK are
 * not part of this package; docs/operations.md has the command that installs them.
 */
import { isMainThread } from 'node:worker_threads';

/** Imports a package of the SDK. Without it the process ends: traces that are silently missing are noticed too late. */
async function importPackage(name) {
  try {
    return await import(name);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    process.stderr.write(`signing-gateway: cannot find ${name}; install it (docs/operations.md, "Traces")\n`);
    process.exit(2);
  }
}

// Worker threads inherit the option, but only the main thread serves requests.
if (isMainThread) {
  const { trace } = await importPackage('@opentelemetry/api');
  const { BatchSpanProcessor, TracerProvider } = await importPackage('@opentelemetry/sdk-trace');
  const { OTLPTraceExporter } = await importPackage('@opentelemetry/exporter-trace-otlp-http');
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
    await importPackage('@opentelemetry/resources');
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': 'signing-gateway' }))
    .merge(detectResources({ detectors: [envDetector] }));
  const spanProcessors = [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })];
  trace.setGlobalTracerProvider(new TracerProvider({ resource, spanProcessors }));
}
