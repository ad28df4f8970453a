import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { parseAllDocuments, stringify } from 'yaml';
import { encoded } from '../../../kubernetes/base64.ts';
import { plainSpec } from '../../../kubernetes/fixtures/specs.ts';
import { createHostedBackend } from '../../../kubernetes/hosted/backend.ts';
import { FILES } from '../../../kubernetes/hosted/files.ts';
import { CLUSTER_API_DIR, CONTROLLERS } from '../../../scripts/build-cluster-api.ts';
import { makeAuthority } from '../../../src/backends/certificates/authority.ts';
import { KUBERNETES_DIR, kubectl, VERSIONS, whyNoKubernetes } from '../kubernetes.ts';
import { reservePorts } from '../ports.ts';
import { PROVIDER_KINDS } from './provider.ts';

const PATIENCE_MS = 120_000;
const HERE = '127.0.0.1';

export const whyNoClusterApi =
  whyNoKubernetes ??
  (fs.existsSync(CLUSTER_API_DIR)
    ? undefined
    : 'for want of Cluster API: run "npx tsx scripts/build-kubernetes.ts", which needs Go');
if (whyNoClusterApi !== undefined && whyNoKubernetes === undefined) console.log(`SKIPPED, ${whyNoClusterApi}`);

/** A management cluster: a real API server with Cluster API's own kinds, webhooks and controllers. */
export interface Management {
  kubeconfig: string;
  /** What a controller has written. */
  logOf(controller: string): string;
  stop(): Promise<void>;
}

/** Everything runs in `folder`. */
export async function startManagement(folder: string): Promise<Management> {
  const clusters = path.join(folder, 'management');
  const id = randomUUID();
  const { from, to } = await reservePorts();
  let last = to;
  await makeCluster(clusters, id, { from, to: from });
  const kubeconfig = path.join(clusters, id, FILES.kwokConfig);
  const certificates = path.join(folder, 'webhooks');
  const authority = await writeCertificates(certificates);
  const names = Object.keys(CONTROLLERS);
  const webhooks = new Map<string, number>();
  for (const name of names) webhooks.set(name, last--);
  // Their kinds come first, and are converted by those who aren't there yet.
  const objects = names.map((name) => manifestsOf(name, webhooks.get(name) ?? 0, authority));
  apply([...objects.flatMap(({ kinds }) => kinds), ...PROVIDER_KINDS]);
  // A new kind is served before it can be kept.
  const kinds = 'clusters,machines,machinedeployments,kubeadmcontrolplanes,kubeadmconfigtemplates';
  const ofProvider = 'processclusters,processmachines,processmachinetemplates';
  await until('the kinds are there', async () => kubectl(kubeconfig, 'get', `${kinds},${ofProvider}`, '-A') === '');
  const children: ChildProcess[] = [];
  const logOf = (name: string) => fs.readFileSync(path.join(folder, `${name}.log`), 'utf8');
  for (const name of names) {
    const health = last--;
    children.push(start(name, webhooks.get(name) ?? 0, health));
    await until(`${name} is ready`, () => fetch(`http://${HERE}:${health}/readyz`).then(({ ok }) => ok));
  }
  apply(objects.flatMap((one) => one.webhooks));
  return {
    kubeconfig,
    logOf,
    async stop() {
      for (const child of children) child.kill('SIGKILL');
      fs.rmSync(clusters, { recursive: true, force: true, maxRetries: 5 });
    },
  };

  function apply(list: object[]): void {
    const file = path.join(folder, 'objects.yaml');
    fs.writeFileSync(file, list.map((object) => stringify(object)).join('---\n'));
    kubectl(kubeconfig, 'apply', '--server-side', '-f', file);
  }

  function start(name: string, webhookPort: number, health: number): ChildProcess {
    const log = fs.openSync(path.join(folder, `${name}.log`), 'w');
    const args = [
      `--webhook-port=${webhookPort}`,
      `--webhook-cert-dir=${certificates}`,
      `--health-addr=${HERE}:${health}`,
      `--diagnostics-address=${HERE}:0`,
      '--insecure-diagnostics',
      '--skip-crd-migration-phases=StorageVersionMigration,CleanupManagedFields',
      '--kube-api-qps=200',
      '--kube-api-burst=400',
    ];
    const child = spawn(path.join(CLUSTER_API_DIR, name), args, {
      cwd: folder,
      env: { KUBECONFIG: kubeconfig, GOMEMLIMIT: '120MiB', POD_NAMESPACE: 'default', POD_NAME: name },
      stdio: ['ignore', log, log],
    });
    fs.closeSync(log);
    return child;
  }
}

async function makeCluster(clusters: string, id: string, ports: { from: number; to: number }): Promise<void> {
  const backend = createHostedBackend({
    clusters,
    programs: KUBERNETES_DIR,
    searchPath: process.env.PATH ?? '',
    address: HERE,
    ports,
    // The kinds of Cluster API have large descriptions, for each of which the API server keeps a parser.
    memoryMib: 2_000,
    durable: false,
    platform: { autoscalerArguments: [] },
    sizeOf: () => undefined,
  });
  const ref = { kind: 'cluster', id, regionId: 1, projectId: 1, handle: null } as const;
  const call = {
    signal: AbortSignal.timeout(PATIENCE_MS),
    generation: 1,
    wasThere: false,
    secret: async () => undefined,
    log: pino({ level: 'silent' }),
  };
  const spec = plainSpec({ version: VERSIONS[1], pools: {} });
  await until('the management cluster answers', async () => {
    const { state } = await backend.converge(ref, spec, call);
    return state === 'settled';
  });
}

async function writeCertificates(folder: string): Promise<string> {
  const authority = await makeAuthority('CN=webhooks', 1);
  const server = await authority.forServer('CN=webhooks', [HERE]);
  fs.mkdirSync(folder, { mode: 0o700 });
  fs.writeFileSync(path.join(folder, 'tls.crt'), server.certificate);
  fs.writeFileSync(path.join(folder, 'tls.key'), server.key, { mode: 0o600 });
  return encoded(authority.certificate);
}

interface ClientConfig {
  service?: { path?: string };
  url?: string;
  caBundle?: string;
}
interface Manifest {
  kind: string;
  metadata: { name: string; labels?: object };
  spec?: object;
  webhooks?: { clientConfig: ClientConfig }[];
}

/** As the operators' manifests are, but that webhooks are called at their address here, and not by a service. */
function manifestsOf(name: string, port: number, caBundle: string) {
  const folder = path.join(CLUSTER_API_DIR, `${name}-manifests`);
  const documents = fs
    .readdirSync(folder)
    .flatMap((file) => parseAllDocuments(fs.readFileSync(path.join(folder, file), 'utf8')))
    .flatMap((one) => (one.toJS() as Manifest | null) ?? []);
  const at = (where = '') => ({ url: `https://${HERE}:${port}${where}`, caBundle });
  const kinds = documents
    .filter(({ kind }) => kind === 'CustomResourceDefinition')
    .map((one) => ({
      ...one,
      metadata: {
        ...one.metadata,
        labels: { 'cluster.x-k8s.io/v1beta1': 'v1beta1', 'cluster.x-k8s.io/v1beta2': 'v1beta2' },
      },
      spec: {
        ...one.spec,
        conversion: {
          strategy: 'Webhook',
          webhook: { conversionReviewVersions: ['v1'], clientConfig: at('/convert') },
        },
      },
    }));
  const webhooks = documents
    .filter((one) => one.webhooks)
    .map((one) => ({
      ...one,
      metadata: { ...one.metadata, name: `${name}-${one.metadata.name}` },
      webhooks: one.webhooks?.map((webhook) => ({
        ...webhook,
        clientConfig: at(webhook.clientConfig.service?.path),
      })),
    }));
  return { kinds, webhooks };
}

async function until(what: string, done: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; !(await done().catch(() => false)); await sleep(200)) {
    if (Date.now() > end) throw new Error(`It takes too long until ${what}`);
  }
}
