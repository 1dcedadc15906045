import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { ADMIN_ENDPOINTS } from '../../src/admin/endpoints.ts';
import { lint } from '../../src/check/lint/lint.ts';
import { load } from '../../src/engine/load.ts';
import { worldOf } from '../support/gateway.ts';

const folder = new URL('../../deploy/kubernetes/', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, folder), 'utf8');

/** The objects of a folder, by their kinds. */
function objectsIn(name: string) {
  const files = readdirSync(new URL(`${name}/`, folder)).filter((file) => file !== 'gateway.yaml');
  // biome-ignore lint/suspicious/noExplicitAny: the schema describes the objects
  return files.flatMap((file): any[] => parseAllDocuments(read(`${name}/${file}`)).map((document) => document.toJS()));
}
const FOLDERS = ['gateway', 'monitoring', 'sidecar'];
const objects = FOLDERS.flatMap(objectsIn);
const [ofSidecar, ofGateway, ofMonitoring] = ['sidecar', 'gateway', 'monitoring'].map(objectsIn) as [
  // biome-ignore lint/suspicious/noExplicitAny: the schema describes the objects
  any[],
  // biome-ignore lint/suspicious/noExplicitAny: the schema describes the objects
  any[],
  // biome-ignore lint/suspicious/noExplicitAny: the schema describes the objects
  any[],
];
const [configMap, deployment, service, autoscaler, budget] = [
  'ConfigMap',
  'Deployment',
  'Service',
  'HorizontalPodAutoscaler',
  'PodDisruptionBudget',
].map((kind) => ofSidecar.find((object) => object.kind === kind));
const podMonitor = ofMonitoring.find(({ metadata }) => metadata?.name === deployment.metadata.name);
const pod = deployment.spec.template.spec;
const [sidecar] = pod.initContainers;
const [application] = pod.containers;

const source = { path: 'gateway.yaml', text: configMap.data['gateway.yaml'] };
const world = worldOf({ ADMIN_TOKEN: '7mWq2vXc9RtLkP4zGhN8' });
const { plan, problems } = load(source, world);

describe('deploy/kubernetes', () => {
  const schema = JSON.parse(readFileSync(new URL('kubernetes.schema.json', import.meta.url), 'utf8'));
  const validate = new Ajv2020({ strict: true, strictRequired: false, discriminator: true, allErrors: true }).compile(
    schema,
  );

  it.each(objects.map((object) => [object.kind, object]))(
    'has a %s that matches the schema of Kubernetes',
    (_kind, object) => {
      validate(object);
      expect(validate.errors).toBeNull();
      const text = JSON.stringify(object);
      for (const [right, wrong] of [
        ['"metadata"', '"metdata"'],
        ['"spec"', '"specs"'],
        ['"name":"', '"name":1,"x":"'],
      ] as const)
        expect([wrong, text.includes(right) && validate(JSON.parse(text.replace(right, wrong)))]).toEqual([
          wrong,
          false,
        ]);
    },
  );

  it('has a manifest without problems', () => {
    expect(problems).toEqual([]);
    expect(lint(load(source, world))).toEqual([]);
  });

  it('starts the gateway before the application and stops it afterwards', () => {
    expect(sidecar.restartPolicy).toBe('Always');
    const { delayMs = Number.NaN, graceMs = Number.NaN } = plan?.server.stopping ?? {};
    const applicationShutdownSeconds = 30;
    const needed =
      application.lifecycle.preStop.sleep.seconds + applicationShutdownSeconds + (delayMs + graceMs) / 1_000;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(needed);
  });

  it('mounts the working directory of the image, because a single file is never reloaded', () => {
    const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');
    const [mount] = sidecar.volumeMounts;
    expect(dockerfile).toContain(`WORKDIR ${mount.mountPath}\n`);
    expect(Object.keys(configMap.data)).toEqual(['gateway.yaml']);
    expect(pod.volumes).toEqual([{ name: mount.name, configMap: { name: configMap.metadata.name } }]);
    expect(read('sidecar/deployment.yaml')).not.toMatch(/subPath:/);
  });

  it('probes public endpoints on the ports of the manifest', () => {
    const ports = Object.fromEntries(
      sidecar.ports.map((port: Record<string, unknown>) => [port['name'], port['containerPort']]),
    );
    expect(ports).toEqual({ http: plan?.listen.port, admin: plan?.admin?.port });
    const open = new Set(ADMIN_ENDPOINTS.filter(({ isPublic }) => isPublic).map(({ path }) => path));
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
      const { path, port } = sidecar[probe].httpGet;
      expect([probe, port, open.has(path)]).toEqual([probe, ports['admin'], true]);
    }
    expect(sidecar.readinessProbe.httpGet.path).toBe('/readyz');
    // The application starts after the gateway, so neither probe may depend on it.
    expect([sidecar.startupProbe.httpGet.path, sidecar.livenessProbe.httpGet.path]).toEqual(['/livez', '/livez']);
    expect(service.spec.ports[0].targetPort).toBe(ports['http']);
    const [endpoint] = podMonitor.spec.podMetricsEndpoints;
    expect(Object.keys(ports)).toContain(endpoint.port);
    expect(endpoint.authorization.credentials).toEqual(sidecar.env[0].valueFrom.secretKeyRef);
    expect(plan?.upstreams[0]?.endpoints[0]?.url.origin).toBe(`http://127.0.0.1:${application.ports[0].containerPort}`);
  });

  it('scales by the CPU requests of its containers, and removes a pod only after the previous one has ended', () => {
    const { apiVersion, kind, metadata } = deployment;
    const { scaleTargetRef, minReplicas, maxReplicas, metrics, behavior } = autoscaler.spec;
    expect(scaleTargetRef).toEqual({ apiVersion, kind, name: metadata.name });
    // A number of replicas would be applied each time, and undo the decisions of the autoscaler.
    expect(deployment.spec).not.toHaveProperty('replicas');
    const requests = [sidecar, application].map(({ name, resources }) => [name, resources.requests.cpu]);
    expect(requests).toEqual(
      // biome-ignore lint/suspicious/noExplicitAny: the schema describes the objects
      metrics.map(({ containerResource: { container } }: any) => [container, expect.stringMatching(/^[1-9]\d*m$/)]),
    );
    const { stabilizationWindowSeconds, policies } = behavior.scaleDown;
    expect(stabilizationWindowSeconds).toBeGreaterThan(pod.terminationGracePeriodSeconds);
    expect(policies).toEqual([{ type: 'Pods', value: 1, periodSeconds: expect.any(Number) }]);
    expect(policies[0].periodSeconds).toBeGreaterThan(pod.terminationGracePeriodSeconds);
    // An eviction leaves a pod.
    expect(budget.spec.maxUnavailable).toBe(1);
    expect(minReplicas).toBeGreaterThan(budget.spec.maxUnavailable);
    expect(maxReplicas).toBeGreaterThan(minReplicas);
  });

  it('keeps its capacity in an update, and spreads the pods of each version over nodes and zones', () => {
    expect(deployment.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
    const { matchLabels } = deployment.spec.selector;
    expect(pod.topologySpreadConstraints).toEqual(
      ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map((topologyKey) => ({
        topologyKey,
        maxSkew: 1,
        // A rule would leave pods pending where there are fewer nodes or zones.
        whenUnsatisfiable: 'ScheduleAnyway',
        labelSelector: { matchLabels },
        matchLabelKeys: ['pod-template-hash'],
      })),
    );
  });

  it('has one worker, which its CPU request and its memory fit', () => {
    expect(plan?.server.workers).toBe(1);
    const { requests, limits } = sidecar.resources;
    expect(Number.parseInt(requests.cpu, 10)).toBeLessThanOrEqual(1_000);
    // With a limit, "auto" would be safe; without one, it means all CPUs of the node.
    expect(limits).not.toHaveProperty('cpu');
    expect(Number.parseInt(limits.memory, 10)).toBeGreaterThan(Number.parseInt(requests.memory, 10));
  });

  it('grants no privileges', () => {
    expect(pod.securityContext.runAsNonRoot).toBe(true);
    for (const { securityContext } of [sidecar, application])
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
    const labels = deployment.spec.template.metadata.labels;
    for (const selector of [
      deployment.spec.selector.matchLabels,
      service.spec.selector,
      podMonitor.spec.selector.matchLabels,
      budget.spec.selector.matchLabels,
    ])
      expect(labels).toEqual(selector);
  });
});

describe('deploy/kubernetes/gateway', () => {
  const [platform, network, scaler, disruption] = [
    'Deployment',
    'NetworkPolicy',
    'HorizontalPodAutoscaler',
    'PodDisruptionBudget',
  ].map((kind) => ofGateway.find((object) => object.kind === kind));
  const spec = platform.spec.template.spec;
  const [gateway] = spec.containers;
  const text = read('gateway/gateway.yaml');
  const env = Object.fromEntries(gateway.env.map(({ name, value }: Record<string, string>) => [name, value]));
  const loaded = load({ path: 'gateway.yaml', text }, worldOf(env));

  it('has the manifest of the project, but for its addresses', () => {
    const ROOT_ADDRESSES = 'listen: ${LISTEN:-127.0.0.1:8080}\nadmin: ${ADMIN:-127.0.0.1:9901}\n';
    const withoutHead = (manifest: string) => manifest.slice(manifest.indexOf('\nversion: 1\n'));
    const root = withoutHead(readFileSync(new URL('../../gateway.yaml', import.meta.url), 'utf8'));
    const [before = '', after = ''] = root.split(ROOT_ADDRESSES);
    const [own = ''] = /# gateway-disable-next-line listen-exposed[\s\S]*?\nserver: .*\n/.exec(text) ?? [];
    expect(withoutHead(text)).toBe(before + own + after);
    expect(loaded.problems).toEqual([]);
    expect(lint(loaded).filter(({ severity }) => severity !== 'info')).toEqual([]);
  });

  it('names a service for each upstream, and its port in the policy', () => {
    const endpoints = loaded.plan?.upstreams.flatMap((upstream) => upstream.endpoints.map(({ url }) => url)) ?? [];
    expect(endpoints).toHaveLength(9);
    const ports = network.spec.egress.at(-1).ports.map(({ port }: { port: number }) => port);
    for (const { hostname, port } of endpoints)
      expect([hostname === '127.0.0.1', ports.includes(Number(port))]).toEqual([false, true]);
    expect(
      network.spec.ingress.flatMap((rule: { ports: { port: number }[] }) => rule.ports.map(({ port }) => port)),
    ).toEqual(gateway.ports.map(({ containerPort }: { containerPort: number }) => containerPort));
  });

  it('mounts the secrets that the manifest and the monitoring name', () => {
    const [, file = ''] = /\$\{file:([^}]+)\}/.exec(text) ?? [];
    const [mount] = gateway.volumeMounts.filter(({ name }: { name: string }) => name === 'secrets');
    const monitor = ofMonitoring.find(({ metadata }) => metadata?.name === platform.metadata.name);
    const { name, key } = monitor.spec.podMetricsEndpoints[0].authorization.credentials;
    expect(`${mount.mountPath}/${key}`).toBe(file);
    expect(spec.volumes.find((volume: { secret?: unknown }) => volume.secret).secret.secretName).toBe(name);
  });

  it('has time to stop, a worker for each processor, and no privileges', () => {
    const { delayMs = Number.NaN, graceMs = Number.NaN } = loaded.plan?.server.stopping ?? {};
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan((delayMs + graceMs) / 1_000);
    expect(scaler.spec.behavior.scaleDown.policies[0].periodSeconds).toBeGreaterThan(
      spec.terminationGracePeriodSeconds,
    );
    expect(gateway.resources.limits.cpu).toBe(gateway.resources.requests.cpu);
    expect([spec.securityContext.runAsNonRoot, gateway.securityContext]).toEqual([true, sidecar.securityContext]);
    const labels = platform.spec.template.metadata.labels;
    for (const { matchLabels } of [platform.spec.selector, network.spec.podSelector, disruption.spec.selector])
      expect(matchLabels).toEqual(labels);
  });
});

describe('the kustomizations', () => {
  it.each(FOLDERS)('of %s names every file of its folder', (name) => {
    const [{ resources, configMapGenerator = [] }] = objectsIn(name).filter(({ kind }) => kind === 'Kustomization') as [
      { resources: string[]; configMapGenerator?: { files: string[] }[] },
    ];
    const named = [...resources, ...configMapGenerator.flatMap(({ files }) => files), 'kustomization.yaml'];
    expect(named.sort()).toEqual(readdirSync(new URL(`${name}/`, folder)).sort());
  });
});
