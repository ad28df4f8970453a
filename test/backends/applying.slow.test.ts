import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { applyRendering } from '../../kubernetes/applying/apply.ts';
import { fullSpec, PLATFORM, plainSpec, poolSpec } from '../../kubernetes/fixtures/specs.ts';
import { createHostedBackend } from '../../kubernetes/hosted/backend.ts';
import { FILES } from '../../kubernetes/hosted/files.ts';
import { clusterRendering } from '../../kubernetes/rendering/cluster.ts';
import { type Call, Refused, Unsupported } from '../../src/backends/contract/backend.ts';
import type { ClusterObservation, ClusterSpec } from '../../src/backends/contract/specs.ts';
import { KUBERNETES_DIR, kubectl, VERSIONS, whyWithout } from '../support/kubernetes.ts';
import { reservePorts } from '../support/ports.ts';
import { endClustersIn } from '../support/processes-in.ts';
import { SLURM_KIND } from '../support/soperator.ts';

const [VERSION] = VERSIONS;
const PATIENCE_MS = 60_000;

const ports = await reservePorts();

describe.skipIf(whyWithout([VERSION]))('applying to a real API server', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'applying-'));
  const clusters = path.join(folder, 'clusters');
  const id = randomUUID();
  const config = path.join(clusters, id, FILES.kwokConfig);
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const call: Call = {
    signal: AbortSignal.timeout(600_000),
    generation: 1,
    wasThere: false,
    secret: async () => undefined,
    log,
  };
  let observed: ClusterObservation;

  const platform = { ...PLATFORM, autoscalerArguments: ['--cloud-provider=kwok'] };
  const node = { name: 'demo-1', ports: {} };
  const backend = createHostedBackend({
    clusters,
    programs: KUBERNETES_DIR,
    searchPath: process.env.PATH ?? '',
    address: '127.0.0.1',
    ports,
    memoryMib: 600,
    durable: false,
    platform,
    sizeOf: () => ({ vcpus: 8, ramMib: 16_384 }),
  });
  const first = plainSpec({
    version: VERSION,
    pools: { first: poolSpec({ nodes: { [randomUUID()]: node } }) },
  });

  beforeAll(async () => {
    const ref = { kind: 'cluster', id, regionId: 1, projectId: 1, handle: null } as const;
    await until(async () => {
      const answer = await backend.converge(ref, first, call);
      if (answer.state === 'settled') observed = answer.observed as ClusterObservation;
      return answer.state === 'settled';
    });
  }, PATIENCE_MS * 2);
  afterAll(async () => {
    await endClustersIn(folder, clusters);
  }, PATIENCE_MS);

  async function until(done: () => Promise<boolean>): Promise<void> {
    for (const end = Date.now() + PATIENCE_MS; !(await done()); await sleep(100)) {
      if (Date.now() > end) throw new Error('It takes too long');
    }
  }
  const apply = (spec: ClusterSpec, at = platform) => {
    const access = { ...observed, server: observed.endpoint, clientKey: observed.secret?.clientKey ?? '' };
    return applyRendering(access, clusterRendering(spec, at), call);
  };
  /** Applies until everything is there and runs. Returns what was said on the way. */
  async function applied(spec: ClusterSpec): Promise<string[]> {
    const said: string[] = [];
    await until(async () => {
      const answer = await apply(spec);
      if (answer) said.push(answer.doing);
      return answer === undefined;
    });
    return said;
  }
  function create(object: object): void {
    const file = path.join(folder, 'object.yaml');
    fs.writeFileSync(file, stringify(object));
    kubectl(config, 'apply', '-f', file);
  }
  const scanning = (interval: string) => ({
    ...first,
    configuration: { autoscaler_config: { 'scan-interval': interval } },
  });
  const system = (...words: string[]) =>
    JSON.parse(kubectl(config, '-n', 'kube-system', 'get', ...words, '-o', 'json'));
  const full = { ...fullSpec('v1.32.13'), pods: first.pods };

  it('says which operator is missing, and applies the rest', async () => {
    await expect(apply(full)).rejects.toThrow(Unsupported);
    await expect(apply(full)).rejects.toThrow(/no SlurmCluster \(slurm.nebius.ai\/v1\)/);
    expect(system('configmap', 'cilium-config').data).toMatchObject({ 'bpf-lb-mode': 'dsr' });
  });

  it('all six groups are taken as they are; a second time changes nothing', async () => {
    create(SLURM_KIND);
    const said = await applied(full);
    expect(said[0]).toMatch(/^(?:DaemonSet|Deployment) kube-system\/[a-z-]+: \d of 1 updated, \d available/);
    const kinds = 'deployment,daemonset,configmap,secret,service,serviceaccount,role,rolebinding';
    // The controllers go on writing for a moment: only our part may not change.
    const ours = () =>
      system(kinds, '--show-managed-fields', '-l', 'app.kubernetes.io/managed-by=tradewind').items.map(
        // biome-ignore lint/suspicious/noExplicitAny: what the cluster answers
        ({ kind, metadata: { name, generation, managedFields } }: any) => [
          kind,
          name,
          generation,
          managedFields.find(({ manager }: { manager: string }) => manager === 'tradewind'),
        ],
      );
    const before = ours();
    expect(before.length).toBeGreaterThan(15);
    expect(await apply(full)).toBeUndefined();
    expect(ours()).toEqual(before);
    const cluster = JSON.parse(kubectl(config, '-n', 'tradewind-slurm', 'get', 'slurmcluster', 'slurm', '-o', 'json'));
    expect(cluster.spec.slurmNodes).toMatchObject({
      worker: { size: 2 },
      login: { sshRootPublicKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIExample ada'] },
    });
  });

  it("takes back what others changed, and tells; the owner's own content stays", async () => {
    const at = ['-n', 'kube-system', 'patch'];
    kubectl(config, ...at, 'deployment', 'cluster-autoscaler', '-p', '{"spec":{"replicas":0}}');
    kubectl(
      config,
      ...at,
      'configmap',
      'cluster-autoscaler-priority-expander',
      '-p',
      '{"data":{"priorities":"50: [.*gpu.*]"}}',
    );
    lines.length = 0;
    await applied(full);
    expect(system('deployment', 'cluster-autoscaler').spec.replicas).toBe(1);
    expect(lines).toMatchObject([
      {
        msg: 'fields changed by others are taken back',
        object: 'Deployment kube-system/cluster-autoscaler',
        conflicts: [expect.stringContaining('kubectl-patch')],
      },
    ]);
    expect(system('configmap', 'cluster-autoscaler-priority-expander').data.priorities).toBe('50: [.*gpu.*]');
  });

  it('removes what is not wanted any more, and nothing that is not ours', async () => {
    kubectl(config, '-n', 'kube-system', 'delete', 'secret', 'tradewind-fluent-bit');
    kubectl(config, '-n', 'kube-system', 'create', 'secret', 'generic', 'tradewind-fluent-bit');
    expect(await applied(first)).toContain('removing DaemonSet kube-system/tradewind-fluent-bit');
    const left = kubectl(config, '-n', 'kube-system', 'get', 'daemonset,configmap,secret', '-o', 'name');
    expect(left.match(/\S*fluent-bit/g)).toEqual(['secret/tradewind-fluent-bit']);
    expect(kubectl(config, 'get', 'slurmcluster', '-A', '-o', 'name')).toBe('');
  });

  it('a quota that leaves no room is the reason, and the former pod stays', async () => {
    kubectl(config, '-n', 'kube-system', 'create', 'quota', 'few', '--hard=pods=0');
    await until(async () => system('quota', 'few').status?.hard?.pods === '0');
    await expect(applied(scanning('30s'))).rejects.toThrow(/cluster-autoscaler gets no pod: .*exceeded quota: few/);
    const { items } = system('pod', '-l', 'app=cluster-autoscaler');
    expect(items).toHaveLength(1);
    expect(items[0].spec.containers[0].args).toContain('--scan-interval=10s');
    kubectl(config, '-n', 'kube-system', 'delete', 'quota', 'few');
    await applied(first);
  });

  it('a policy that forbids an object is the reason', async () => {
    const { policy, binding } = forbidding("object.metadata.name != 'cluster-autoscaler'", 'no autoscaler here');
    create(policy);
    create(binding);
    const refused = () =>
      apply(scanning('40s')).then(
        () => undefined,
        (error: unknown) => error,
      );
    // The API server takes a moment to enforce a new policy.
    await until(async () => (await refused()) !== undefined);
    expect(await refused()).toBeInstanceOf(Refused);
    expect((await refused()) as Error).toMatchObject({
      message: expect.stringMatching(
        /^The cluster refuses Deployment kube-system\/cluster-autoscaler: .*no autoscaler here/,
      ),
    });
    kubectl(config, 'delete', 'validatingadmissionpolicy,validatingadmissionpolicybinding', '--all');
  });
});

function forbidding(expression: string, message: string) {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: 'forbidding' };
  const resourceRules = [
    {
      apiGroups: ['apps'],
      apiVersions: ['v1'],
      operations: ['CREATE', 'UPDATE'],
      resources: ['deployments'],
    },
  ];
  return {
    policy: {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: { matchConstraints: { resourceRules }, validations: [{ expression, message }] },
    },
    binding: {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: 'forbidding', validationActions: ['Deny'] },
    },
  };
}
