import { parse, parseAllDocuments } from 'yaml';

/** What Cluster API's kubeadm provider tells a machine to be. */
export interface UserData {
  /** Contents of files, by path. */
  files: Record<string, string>;
  /** Of the first machine of a control plane; the others read it from the cluster. */
  clusterConfiguration: ClusterConfiguration | undefined;
  taints: { key: string; value?: string; effect: string }[];
}

export interface ClusterConfiguration {
  networking: { podSubnet: string; serviceSubnet: string };
  apiServer?: { extraArgs?: { name: string; value: string }[] };
}

interface Registered {
  kind: string;
  nodeRegistration?: { taints?: UserData['taints'] };
}

/** Reads the cloud-init that a machine would start with. */
export function readUserData(text: string): UserData {
  const { write_files: written } = parse(text) as { write_files: { path: string; content: string }[] };
  const files = Object.fromEntries(written.map(({ path, content }) => [path, content]));
  const config = files['/run/kubeadm/kubeadm.yaml'] ?? files['/run/kubeadm/kubeadm-join-config.yaml'] ?? '';
  const documents = parseAllDocuments(config).map((one) => one.toJS() as (ClusterConfiguration & Registered) | null);
  const own = documents.find((one) => /^(Init|Join)Configuration$/.test(one?.kind ?? ''));
  return {
    files,
    clusterConfiguration: documents.find((one) => one?.kind === 'ClusterConfiguration') ?? undefined,
    taints: own?.nodeRegistration?.taints ?? [],
  };
}
