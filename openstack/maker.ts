import { type Static, Type } from 'typebox';
import type { BackendMaker } from '../src/backends/maker.ts';
import { SettingError } from '../src/lib/errors.ts';
import { createOpenStackBackend } from './backend.ts';
import { createClient } from './cloud/client.ts';
import { accessIn } from './cloud/clouds.ts';
import { OPTIONAL, type Optional } from './inspection.ts';

const services = Object.keys(OPTIONAL) as Optional[];

const Mapping = (of: string) =>
  Type.Optional(
    Type.Record(Type.String(), Type.String({ minLength: 1 }), {
      description: `Those of the catalogue's ${of} that are called otherwise in the cloud: our ID, and what the cloud has`,
    }),
  );

const Settings = Type.Object(
  {
    cloud: Type.Optional(
      Type.String({ minLength: 1, description: 'Which cloud of clouds.yaml; its only one by default' }),
    ),
    external_network: Type.Optional(
      Type.String({
        minLength: 1,
        description: 'Name or ID of the network of floating addresses; the only external one by default',
      }),
    ),
    kept_addresses: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        description: 'Addresses of each new subnet that Neutron gets for its DHCP servers and such; 4 by default',
      }),
    ),
    flavors: Mapping('flavors'),
    images: Mapping('images'),
    networks: Mapping('networks'),
    volume_types: Mapping('volume types'),
    load_balancer_flavors: Mapping('flavors of load balancers'),
    services: Type.Optional(
      Type.Array(Type.Enum(services), {
        uniqueItems: true,
        description:
          'Services that not every cloud has and this region uses: octavia for load balancers, barbican for their certificates and keys',
      }),
    ),
  },
  { additionalProperties: false },
);
type Settings = Static<typeof Settings>;
const KEPT = 4;

export const openstack: BackendMaker = {
  settings: Settings,
  secrets: ['clouds'],
  keeps: (settings) => (settings as Settings).kept_addresses ?? KEPT,
  make({ name, settings, secrets }) {
    const {
      cloud,
      external_network: externalNetwork,
      kept_addresses: keptAddresses = KEPT,
      ...maps
    } = settings as Settings;
    const { flavors = {}, images = {}, networks = {}, volume_types: volumeTypes = {} } = maps;
    const { load_balancer_flavors: loadBalancerFlavors = {}, services: optional = [] } = maps;
    return createOpenStackBackend({
      client: createClient(accessOf(name, secrets.clouds ?? '', cloud)),
      externalNetwork,
      keptAddresses,
      mappings: { flavors, images, loadBalancerFlavors, networks, volumeTypes },
      optional,
    });
  },
};

function accessOf(name: string, clouds: string, cloud: string | undefined) {
  try {
    return accessIn(clouds, cloud);
  } catch (error) {
    throw new SettingError(`backends.yaml: secret clouds of backend ${name}: ${(error as Error).message}`);
  }
}
