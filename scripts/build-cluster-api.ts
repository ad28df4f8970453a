// Builds the controllers of Cluster API that the tests run, from its Go module, and keeps its descriptions of kinds and
// webhooks beside them. Called by build-kubernetes.ts.
import fs from 'node:fs';
import path from 'node:path';
import { CACHE } from './cache.ts';
import { type Build, build, downloaded } from './go-programs.ts';

const MODULE = 'sigs.k8s.io/cluster-api';
/** With all its modules in the proxy, and their checksums in the checksum database. */
const VERSION = 'v1.12.0';
/** The controllers, and where their sources are in the module. */
export const CONTROLLERS = {
  core: '.',
  bootstrap: 'bootstrap/kubeadm',
  'control-plane': 'controlplane/kubeadm',
} as const;
/** With a program and a folder of manifests for each. */
export const CLUSTER_API_DIR = path.join(CACHE, 'cluster-api', VERSION);

// What they have no setting for: webhooks would be open to the network, and half a minute would pass between two attempts
// to reach a new cluster.
const PORT = /(webhook\.Options\{\n\s*)(Port:)/;
const ADDRESS_AND_PORT = '$1Host: "127.0.0.1",\n$2';
const CONNECTING = /concurrency\(clusterCacheConcurrency\)\)\n\tif err != nil \{[^}]*\}\n/;
const IMPATIENTLY =
  '$&clusterCache.(interface{ SetConnectionCreationRetryInterval(time.Duration) }).SetConnectionCreationRetryInterval(2 * time.Second)\n';

export function buildClusterApi(): void {
  if (fs.existsSync(CLUSTER_API_DIR)) return;
  const draft = `${CLUSTER_API_DIR}.draft`;
  fs.mkdirSync(draft, { recursive: true });
  const { Dir } = downloaded(MODULE, VERSION, draft);
  for (const [name, folder] of Object.entries(CONTROLLERS)) {
    const program = path.join(draft, name);
    if (!fs.existsSync(program)) build(controller(name, folder), draft);
    const manifests = path.join(draft, `${name}-manifests`);
    const config = path.join(Dir, folder, 'config');
    fs.rmSync(manifests, { recursive: true, force: true });
    fs.mkdirSync(manifests);
    const bases = path.join(config, 'crd/bases');
    for (const file of fs.readdirSync(bases)) copy(path.join(bases, file), path.join(manifests, file));
    copy(path.join(config, 'webhook/manifests.yaml'), path.join(manifests, 'webhooks.yaml'));
  }
  fs.renameSync(draft, CLUSTER_API_DIR);
}

function controller(name: string, folder: string): Build {
  return {
    module: MODULE,
    version: VERSION,
    packages: { [name]: '.' },
    stamps: { [`${MODULE}/version.gitVersion`]: VERSION },
    main: {
      file: path.join(folder, 'main.go'),
      edit: (source) => source.replace(PORT, ADDRESS_AND_PORT).replace(CONNECTING, IMPATIENTLY),
    },
  };
}

/** Files of modules can't be written to. */
const copy = (from: string, to: string): void => fs.writeFileSync(to, fs.readFileSync(from));
