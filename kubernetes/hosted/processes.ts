import path from 'node:path';
import ipaddr from 'ipaddr.js';
import type { ClusterSpec } from '../../src/backends/contract/specs.ts';
import { FILES, urlOf } from './files.ts';
import type { Process } from './supervisor/files.ts';

/** How the control planes of a backend run. */
export interface ControlPlaneSettings {
  /** Megabytes for all processes of one cluster; what Go's garbage collector aims at. */
  memoryMib: number;
  /** Whether etcd waits for the disk. Without, a power failure may cost a cluster. */
  durable: boolean;
}

/** Shares of a cluster's memory, by what the processes need. */
const SHARES: Record<string, number> = {
  etcd: 0.14,
  'kube-apiserver': 0.52,
  'kube-controller-manager': 0.16,
  'kube-scheduler': 0.1,
  kwok: 0.08,
};

/** In the cluster's folder: a socket needs no port, no certificates and no name, and only its owner may use it. */
const ETCD_SOCKET = 'etcd.sock:0';

/**
 * Returns the processes of a control plane, in the order in which they are started and replaced: the API server before
 * its clients (Kubernetes version skew policy).
 */
export function processesOf(
  spec: ClusterSpec,
  cluster: { address: string; port: number },
  programs: { folder: string; kwok: boolean; apiServerFlags: readonly string[] },
  settings: ControlPlaneSettings,
): Process[] {
  const { address, port } = cluster;
  const etcd = `unix://${ETCD_SOCKET}`;
  const services = ranges(spec.services);
  const pods = ranges(spec.pods);
  const quiet = '--v=0';
  const process = (name: string, args: string[], env: Record<string, string> = {}): Process => ({
    name,
    program: path.join(programs.folder, name),
    args,
    env: { GOMEMLIMIT: `${Math.round((SHARES[name] ?? 0.1) * settings.memoryMib)}MiB`, ...env },
  });
  return [
    {
      ...process('etcd', [
        '--name=etcd',
        '--data-dir=etcd',
        `--listen-client-urls=${etcd}`,
        `--advertise-client-urls=${etcd}`,
        '--listen-peer-urls=unix://peer.sock:0',
        '--initial-advertise-peer-urls=unix://peer.sock:0',
        '--initial-cluster=etcd=unix://peer.sock:0',
        // It is alone, and the first thing it does is wait for votes.
        '--heartbeat-interval=50',
        '--election-timeout=250',
        '--log-level=warn',
        '--snapshot-count=5000',
        ...(settings.durable ? [] : ['--unsafe-no-fsync']),
      ]),
      ready: { socket: ETCD_SOCKET, path: '/health' },
    },
    {
      ...process('kube-apiserver', [
        `--etcd-servers=${etcd}`,
        `--bind-address=${address}`,
        `--advertise-address=${address}`,
        `--secure-port=${port}`,
        `--tls-cert-file=${FILES.serverCertificate}`,
        `--tls-private-key-file=${FILES.serverKey}`,
        `--client-ca-file=${FILES.caCertificate}`,
        '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
        `--service-account-key-file=${FILES.accountsPublicKey}`,
        `--service-account-signing-key-file=${FILES.accountsKey}`,
        `--service-cluster-ip-range=${services}`,
        '--authorization-mode=Node,RBAC',
        '--enable-admission-plugins=NodeRestriction',
        '--allow-privileged=true',
        // No node's address leads to this server: what it would write for the service "kubernetes" is of no use.
        '--endpoint-reconciler-type=none',
        '--profiling=false',
        quiet,
        ...programs.apiServerFlags,
      ]),
      // It takes no requests any more, and waits a minute for those who watch. What it knows is in etcd.
      stopMs: 1_500,
      ready: {
        url: `${urlOf(cluster)}/readyz`,
        caFile: FILES.caCertificate,
        certificateFile: FILES.adminCertificate,
        keyFile: FILES.adminKey,
      },
    },
    process('kube-controller-manager', [
      `--kubeconfig=${FILES.controllerManagerConfig}`,
      `--root-ca-file=${FILES.caCertificate}`,
      `--cluster-signing-cert-file=${FILES.caCertificate}`,
      `--cluster-signing-key-file=${FILES.caKey}`,
      `--service-account-private-key-file=${FILES.accountsKey}`,
      '--use-service-account-credentials=true',
      // When it starts, each of its controllers asks for an account and a token; it has the API server for itself.
      '--kube-api-qps=200',
      '--kube-api-burst=400',
      '--controllers=*,bootstrapsigner,tokencleaner',
      '--allocate-node-cidrs=true',
      `--cluster-cidr=${pods}`,
      `--service-cluster-ip-range=${services}`,
      ...nodeMasks(spec.pods),
      ...WITHOUT_PORT,
      quiet,
    ]),
    process('kube-scheduler', [`--kubeconfig=${FILES.schedulerConfig}`, ...WITHOUT_PORT, quiet]),
    ...(programs.kwok ? [kwok()] : []),
  ];

  function kwok(): Process {
    return process('kwok', [
      `--kubeconfig=${FILES.kwokConfig}`,
      '--manage-all-nodes=false',
      '--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake',
      '--node-lease-duration-seconds=40',
      quiet,
    ]);
  }
}

/** There is one of each, and what they would serve is their health, which shows in what they do. */
const WITHOUT_PORT = ['--leader-elect=false', '--secure-port=0', '--bind-address=127.0.0.1', '--profiling=false'];

const ranges = ({ ipv4, ipv6 }: ClusterSpec['pods']): string => [ipv4, ...(ipv6 === undefined ? [] : [ipv6])].join(',');

/** The usual sizes of a node's share, as far as the controller takes them: at most 16 bits of nodes. */
function nodeMasks({ ipv4, ipv6 }: ClusterSpec['pods']): string[] {
  const mask = (cidr: string, usual: number) => {
    const [, length] = ipaddr.parseCIDR(cidr);
    return Math.min(Math.max(usual, length), length + 16);
  };
  if (ipv6 === undefined) return [`--node-cidr-mask-size=${mask(ipv4, 24)}`];
  return [`--node-cidr-mask-size-ipv4=${mask(ipv4, 24)}`, `--node-cidr-mask-size-ipv6=${mask(ipv6, 64)}`];
}
