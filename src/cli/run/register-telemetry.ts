/**
 * Registers the OpenTelemetry SDK, so that the gateway records spans and exports them with OTLP over HTTP:
 *
 *     node --import signing-gateway/telemetry node_modules/signing-gateway/dist/cli/main.js run
 *
 * `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` configure it. The packages of the SDK are
 * not part of this package; docs/operations.md has the command that installs them. The default sampler
 * of the SDK follows the decision of the parent span, and `tracing.sample` of the manifest selects the traces without a parent.
 */
// The types of the packages are those of this file: no test or build installs them.
type Create = new (options?: object) => object;

interface Resource {
  merge(other: Resource): Resource;
}

interface Api {
  readonly trace: { setGlobalTracerProvider(provider: object): boolean };
}

interface TraceSdk {
  readonly BatchSpanProcessor: Create;
  readonly TracerProvider: Create;
}

interface Resources {
  readonly defaultResource: () => Resource;
  readonly detectResources: (options: { readonly detectors: readonly object[] }) => Resource;
  readonly envDetector: object;
  readonly resourceFromAttributes: (attributes: Readonly<Record<string, string>>) => Resource;
}

// The threads of all workers inherit the option, and each records the spans of its own requests. No other thread inherits it.
const { trace } = await importPackage<Api>('@opentelemetry/api');
const { BatchSpanProcessor, TracerProvider } = await importPackage<TraceSdk>('@opentelemetry/sdk-trace');
const { OTLPTraceExporter } = await importPackage<{ readonly OTLPTraceExporter: Create }>(
  '@opentelemetry/exporter-trace-otlp-http',
);
const { defaultResource, detectResources, envDetector, resourceFromAttributes } =
  await importPackage<Resources>('@opentelemetry/resources');
const resource = defaultResource()
  .merge(resourceFromAttributes({ 'service.name': 'signing-gateway' }))
  .merge(detectResources({ detectors: [envDetector] }));
const spanProcessors = [new BatchSpanProcessor({ exporter: new OTLPTraceExporter() })];
trace.setGlobalTracerProvider(new TracerProvider({ resource, spanProcessors }));

/** Imports a package of the SDK. Without it the process ends: traces that are silently missing are noticed too late. */
async function importPackage<Exports>(name: string): Promise<Exports> {
  try {
    return await import(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    process.stderr.write(`signing-gateway: cannot find ${name}; install it (docs/operations.md, "Traces")\n`);
    process.exit(2);
  }
}
