import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import { fullSpec, PLATFORM, plainSpec, poolSpec } from '../fixtures/specs.ts';
import { type Infrastructure, partsOf } from './rendering.ts';

const PLACE = { id: '0dcf3a77-0a2e-400a-87cb-2234eb49542c', regionId: 3, projectId: 7, backend: 'machines' };
const of = (kind: string, spec: Record<string, unknown>) => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1',
  kind,
  spec,
});
const INFRASTRUCTURE: Infrastructure = {
  namespacePrefix: 'tradewind-',
  cluster: of('TestCluster', { network: '{network_id}', tag: 'region-{region_id}' }),
  controlPlane: {
    replicas: 3,
    machine: of('TestMachineTemplate', { image: 'kubernetes-{version}' }),
    kubeadm: {
      clusterConfiguration: { apiServer: { certSANs: ['api.example'] } },
      files: [{ path: '/own' }],
    },
  },
  workers: { machine: of('TestMachineTemplate', { size: '{flavor_id}', disk: '{boot_volume_gib}' }) },
  nodeUser: 'ada',
  drainSeconds: 60,
};

// biome-ignore lint/suspicious/noExplicitAny: objects of kinds that have no types here
type Any = any;
const parts = (spec: ClusterSpec): Any => partsOf(spec, PLACE, INFRASTRUCTURE, PLATFORM);
const controlPlane = (spec: ClusterSpec): Any => parts(spec).controlPlane.spec.kubeadmConfigSpec;
const poolOf = (changes: Parameters<typeof poolSpec>[0]): Any =>
  parts(plainSpec({ pools: { first: poolSpec(changes) } })).pools.first;
const templatesOf = (...given: Parameters<typeof poolOf>): string[] =>
  poolOf(...given).templates.map(({ metadata }: Any) => metadata.name);

it("puts a cluster into its project's namespace, with labels on everything", () => {
  const { namespace, objects, controlPlane: plane, pools } = parts(plainSpec());
  expect(namespace.metadata).toEqual({
    name: 'tradewind-7',
    labels: { 'app.kubernetes.io/managed-by': 'tradewind', 'tradewind/project': '7' },
  });
  const all = [...objects, plane, pools.first.deployment, ...pools.first.templates];
  expect(all.map(({ kind }) => kind)).toEqual([
    'TestMachineTemplate',
    'Cluster',
    'TestCluster',
    'KubeadmControlPlane',
    'MachineDeployment',
    'TestMachineTemplate',
    'KubeadmConfigTemplate',
  ]);
  for (const { metadata } of all) {
    expect(metadata.namespace).toBe('tradewind-7');
    expect(metadata.labels).toMatchObject({
      'tradewind/backend': 'machines',
      'tradewind/cluster': PLACE.id,
      'tradewind/region': '3',
    });
    expect(metadata.name.length).toBeLessThanOrEqual(50);
  }
});

it("fills the operator's templates, and leaves out what there is none of", () => {
  const networkId = '5d6f2d0c-5d65-4c9d-8f3a-0d0f5a1b2c3d';
  const [control, , cluster] = parts(plainSpec({ network: { networkId, ipv6: false } })).objects;
  expect(cluster.spec).toEqual({ network: networkId, tag: 'region-3' });
  expect(control.spec.template.spec).toEqual({ image: 'kubernetes-v1.33.7' });
  expect(parts(plainSpec()).objects[2].spec).toEqual({ tag: 'region-3' });
  const [machine] = poolOf({ bootVolume: { sizeGib: 50, type: 'standard' } }).templates;
  expect(machine.spec.template.spec).toEqual({ size: 'g1-standard-2-4', disk: 50 });
});

it('gives the control plane the flags of the authentication, beside what the operator set', () => {
  expect(controlPlane(plainSpec())).toEqual(INFRASTRUCTURE.controlPlane.kubeadm);
  const { clusterConfiguration, files } = controlPlane(fullSpec('v1.33.7'));
  expect(clusterConfiguration.apiServer).toMatchObject({ certSANs: ['api.example'] });
  expect(clusterConfiguration.apiServer.extraArgs).toEqual(
    expect.arrayContaining([
      { name: 'oidc-issuer-url', value: 'https://accounts.example.com' },
      { name: 'oidc-required-claim', value: 'aal=2' },
      { name: 'oidc-required-claim', value: 'hd=example.com' },
    ]),
  );
  expect(files).toEqual([{ path: '/own' }]);
});

it('gives it a file instead where all algorithms are accepted, and the API server sees it', () => {
  const spec = fullSpec('v1.34.4');
  const { oidc } = spec.configuration.authentication as Any;
  oidc.signing_algs = ['RS', 'ES', 'PS'].flatMap((kind) => [256, 384, 512].map((bits) => `${kind}${bits}`));
  const { clusterConfiguration, files } = controlPlane(spec);
  const { extraArgs, extraVolumes } = clusterConfiguration.apiServer;
  const [{ path, content }] = files;
  expect(extraArgs).toEqual([{ name: 'authentication-config', value: path }]);
  expect(path.startsWith(`${extraVolumes[0].mountPath}/`)).toBe(true);
  expect(content).toContain('kind: AuthenticationConfiguration');
});

it('replaces the machines of a pool for what only new ones can have, and for nothing else', () => {
  const before = templatesOf({});
  expect(templatesOf({ labels: { tier: 'web' }, maxNodes: 9 })).toEqual(before);
  expect(templatesOf({ flavorId: 'g1-standard-4-8' })).toEqual([
    expect.not.stringContaining(before[0] ?? ''),
    before[1],
  ]);
  for (const changes of [
    { taints: { dedicated: 'web:NoSchedule' } },
    { kubeletConfig: { podMaxPids: '4096' } },
    { crioConfig: { 'log-level': 'warn' } },
  ]) {
    const [machine, config] = templatesOf(changes);
    expect([machine, config !== before[1]]).toEqual([before[0], true]);
  }
});

it('tells the nodes of a pool their taints, the settings of their programs, and the key', () => {
  const spec = plainSpec({
    publicKey: 'ssh-ed25519 AAAA ada',
    pools: {
      first: poolSpec({
        taints: { dedicated: 'web:NoSchedule', spare: ':NoExecute' },
        kubeletConfig: { podMaxPids: '4096' },
        crioConfig: { 'log-level': 'warn' },
      }),
    },
  });
  const config = parts(spec).pools.first.templates[1].spec.template.spec;
  expect(config.joinConfiguration.nodeRegistration.taints).toEqual([
    { key: 'dedicated', value: 'web', effect: 'NoSchedule' },
    { key: 'spare', effect: 'NoExecute' },
  ]);
  const [kubelet, crio] = config.files;
  expect(kubelet.path.startsWith(config.joinConfiguration.patches.directory)).toBe(true);
  expect(JSON.parse(kubelet.content)).toMatchObject({ kind: 'KubeletConfiguration', podPidsLimit: 4096 });
  expect(crio.content).toBe('CRIO_CONFIG_OPTIONS="--log-level=warn"\n');
  expect(config.users).toEqual([
    { name: 'ada', sudo: 'ALL=(ALL) NOPASSWD:ALL', sshAuthorizedKeys: ['ssh-ed25519 AAAA ada'] },
  ]);
});

it.each([
  ['ssh-ed25519 AAAA ada@example.com', 'ssh-ed25519 AAAA ada@example.com'],
  ['ssh-ed25519 AAAA Ada Lovelace', 'ssh-ed25519 AAAA Ada Lovelace'],
  ['ssh-ed25519 AAAA key: value', 'ssh-ed25519 AAAA'],
  ['ssh-ed25519 AAAA work #1', 'ssh-ed25519 AAAA'],
])('writes of the key %j what is text in YAML without quotes', (publicKey, written) => {
  const config = parts(plainSpec({ publicKey, pools: { first: poolSpec({}) } })).pools.first.templates[1].spec.template
    .spec;
  expect(config.users[0].sshAuthorizedKeys).toEqual([written]);
  expect(parse(`keys:\n  - ${config.users[0].sshAuthorizedKeys[0]}\n`)).toEqual({ keys: [written] });
});

/** A shell reads the quotes of the file as systemd does, and xargs the words in its value. */
const flagsIn = (file: string): string[] => {
  const script = `eval "$1"; printf %s "$CRIO_CONFIG_OPTIONS" | xargs printf '%s\\n'`;
  return execFileSync('bash', ['-c', script, 'bash', file]).toString().trimEnd().split('\n');
};

it.each([
  ['warn'],
  ['warn --root=/'],
  [`warn" --root=/ "`],
  [`it's \\ $HOME \`id\` $(id)`],
  ['warn"\nLD_PRELOAD=/tmp/evil.so\nOTHER_OPTIONS="'],
])('passes the setting %j on to CRI-O as one flag and nothing else', (value) => {
  const pool = poolSpec({ crioConfig: { 'log-level': value, 'pids-limit': '7' } });
  const [, config] = parts(plainSpec({ pools: { first: pool } })).pools.first.templates;
  const [{ content }] = config.spec.template.spec.files;
  expect(content.trimEnd().split('\n')).toHaveLength(1);
  expect(flagsIn(content)).toEqual([`--log-level=${value.replaceAll('\n', ' ')}`, '--pids-limit=7']);
});

it('tells the autoscaler its limits', () => {
  const nodes = { [PLACE.id]: { name: 'first-1', ports: {} } };
  expect(poolOf({ minNodes: 1, maxNodes: 5, nodes }).deployment.metadata.annotations).toEqual({
    'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size': '1',
    'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size': '5',
    'tradewind/nodes': '1',
  });
});
