import { expect, test } from 'vitest';
import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import { nodesOf } from './nodes.ts';
import { processesOf } from './processes.ts';

const CLUSTER = { address: '127.0.0.1', port: 26_443 };
const SPEC = {
  pods: { ipv4: '172.16.0.0/18' },
  services: { ipv4: '172.24.0.0/18' },
  pools: {},
} as unknown as ClusterSpec;

const processes = (spec: Partial<ClusterSpec> = {}, { kwok = true, durable = true } = {}) =>
  processesOf(
    { ...SPEC, ...spec },
    CLUSTER,
    { folder: '/programs/v1.34.4', kwok, apiServerFlags: ['--oidc-client-id=demo'] },
    { memoryMib: 1_000, durable },
  );
const argsOf = (name: string, ...given: Parameters<typeof processes>) =>
  processes(...given).find((one) => one.name === name)?.args ?? [];

test('a control plane begins with its database and the API server, which the others need', () => {
  const names = processes().map(({ name }) => name);
  expect(names).toEqual(['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kwok']);
  expect(processes({}, { kwok: false }).map(({ name }) => name)).not.toContain('kwok');
  expect(processes().map(({ program }) => program)).toContain('/programs/v1.34.4/kube-apiserver');
  expect(argsOf('kube-apiserver')).toContain('--oidc-client-id=demo');
});

test('nothing but the API server listens on a port', () => {
  expect(argsOf('etcd').filter((arg) => arg.includes('listen'))).toEqual([
    '--listen-client-urls=unix://etcd.sock:0',
    '--listen-peer-urls=unix://peer.sock:0',
  ]);
  expect(argsOf('kube-apiserver')).toEqual(expect.arrayContaining(['--bind-address=127.0.0.1', '--secure-port=26443']));
  for (const name of ['kube-controller-manager', 'kube-scheduler']) {
    expect(argsOf(name)).toEqual(expect.arrayContaining(['--secure-port=0', '--bind-address=127.0.0.1']));
  }
});

test('their memory adds up to what a cluster may have', () => {
  const limits = processes().map(({ env }) => Number(/^(\d+)MiB$/.exec(env.GOMEMLIMIT ?? '')?.[1]));
  expect(limits.reduce((sum, each) => sum + each, 0)).toBe(1_000);
});

test('etcd waits for the disk unless told otherwise', () => {
  expect(argsOf('etcd')).not.toContain('--unsafe-no-fsync');
  expect(argsOf('etcd', {}, { durable: false })).toContain('--unsafe-no-fsync');
});

test.each([
  [{ ipv4: '172.16.0.0/18' }, ['--node-cidr-mask-size=24']],
  [{ ipv4: '10.0.0.0/8' }, ['--node-cidr-mask-size=24']],
  [{ ipv4: '10.0.0.0/25' }, ['--node-cidr-mask-size=25']],
  [{ ipv4: '10.0.0.0/16', ipv6: 'fd00::/48' }, ['--node-cidr-mask-size-ipv4=24', '--node-cidr-mask-size-ipv6=64']],
  [{ ipv4: '10.0.0.0/16', ipv6: 'fd00::/112' }, ['--node-cidr-mask-size-ipv4=24', '--node-cidr-mask-size-ipv6=112']],
])('of the pods %j, nodes get shares that the controller takes', (pods, masks) => {
  const args = argsOf('kube-controller-manager', { pods });
  expect(args.filter((arg) => arg.includes('mask'))).toEqual(masks);
  expect(args).toContain(`--cluster-cidr=${Object.values(pods).join(',')}`);
});

test('nodes have the flavor, labels, taints and addresses of their pool', () => {
  const port = (position: number, address: string) => ({
    position,
    addresses: { [address]: { subnetId: '' } },
  });
  const pools = {
    web: {
      flavorId: 'g1-standard-2-4',
      labels: { tier: 'web' },
      taints: { dedicated: 'web:NoSchedule', spare: ':NoExecute' },
      nodes: { 'id-1': { name: 'web-1', ports: { b: port(1, '10.0.0.9'), a: port(0, '10.0.0.5') } } },
    },
  };
  const spec = { ...SPEC, pools } as unknown as ClusterSpec;
  const [node] = nodesOf(spec, { regionId: 3, version: 'v1.34.4' }, () => ({ vcpus: 2, ramMib: 1_536 }));
  expect(node).toMatchObject({
    metadata: {
      name: 'web-1',
      labels: { tier: 'web', 'node.kubernetes.io/instance-type': 'g1-standard-2-4' },
    },
    spec: {
      providerID: 'tradewind://3/id-1',
      taints: [
        { key: 'dedicated', value: 'web', effect: 'NoSchedule' },
        { key: 'spare', effect: 'NoExecute' },
      ],
    },
    status: {
      capacity: { cpu: '2', memory: '1536Mi' },
      addresses: [{ address: 'web-1' }, { address: '10.0.0.5' }, { address: '10.0.0.9' }],
      nodeInfo: { kubeletVersion: 'v1.34.4' },
    },
  });
  const memory = [2_048, 4_096, 1_048_576].map(
    (ramMib) => nodesOf(spec, { regionId: 3, version: '' }, () => ({ vcpus: 1, ramMib }))[0]?.status.capacity.memory,
  );
  expect(memory).toEqual(['2Gi', '4Gi', '1Ti']);
});
