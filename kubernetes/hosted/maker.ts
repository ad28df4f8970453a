import path from 'node:path';
import { type Static, Type } from 'typebox';
import type { BackendMaker } from '../../src/backends/maker.ts';
import { platformOf, platformSettings } from '../platform.ts';
import { createHostedBackend } from './backend.ts';

/** An address that is none stops the first cluster, with the API server's last words. */
const ADDRESS = '^[0-9a-f:]*[.:][0-9a-f.:]*$';

const Port = (description: string) => Type.Integer({ minimum: 1024, maximum: 65_535, description });
const folder = (description: string) => Type.Optional(Type.String({ pattern: '^/', maxLength: 4096, description }));

const Settings = Type.Object(
  {
    ...platformSettings,
    programs: folder('With a folder for each version of Kubernetes; by default that of TRADEWIND_KUBERNETES_DIR'),
    folder: folder('For the clusters, closed to other users; by default clusters/<name> in the data folder'),
    address: Type.Optional(
      Type.String({
        pattern: ADDRESS,
        description: 'Where the API servers answer, one address of this machine; 127.0.0.1 by default',
      }),
    ),
    first_port: Type.Optional(Port('Of the API servers; 26443 by default')),
    last_port: Type.Optional(Port('27442 by default')),
    memory_mib: Type.Optional(
      Type.Integer({
        minimum: 200,
        maximum: 65_536,
        description: 'What the processes of one cluster aim at; 600 by default',
      }),
    ),
    durable: Type.Optional(
      Type.Boolean({
        description: 'False: etcd does not wait for the disk, and a power failure may cost clusters',
      }),
    ),
  },
  { additionalProperties: false },
);

/** The autoscaler's provider for nodes of kwok. */
const AUTOSCALER_ARGUMENTS = ['--cloud-provider=kwok'];

export const hosted: BackendMaker = {
  settings: Settings,
  secrets: [],
  families: ['kubernetes'],
  make({ name, settings, flavor }, { dataDir, kubernetesDir, searchPath }) {
    const given = settings as Static<typeof Settings>;
    return createHostedBackend({
      clusters: given.folder ?? path.join(dataDir, 'clusters', name),
      searchPath,
      programs: given.programs ?? kubernetesDir,
      address: given.address ?? '127.0.0.1',
      ports: { from: given.first_port ?? 26_443, to: given.last_port ?? 27_442 },
      memoryMib: given.memory_mib ?? 600,
      durable: given.durable ?? true,
      platform: platformOf(given, AUTOSCALER_ARGUMENTS),
      sizeOf(regionId, flavorId) {
        const found = flavor(regionId, flavorId);
        return found && { vcpus: found.vcpus, ramMib: found.ram };
      },
    });
  },
};
