import { randomUUID } from 'node:crypto';
import { it } from 'vitest';
import { createOpenStackBackend } from '../../openstack/backend.ts';
import { accessIn } from '../../openstack/cloud/clouds.ts';
import type { Kind } from '../../src/backends/contract/backend.ts';
import { newProject, removeAll } from '../openstack/project.ts';
import { missing, startRig } from '../openstack/rig.ts';
import { conformance, type Stand } from './conformance.ts';

const KINDS = [
  'network',
  'subnet',
  'router',
  'port',
  'security_group',
  'floating_ip',
  'volume',
  'snapshot',
  'image',
  'server_group',
  'machine',
] as const satisfies Kind[];

async function cloud(): Promise<Stand> {
  const rig = await startRig();
  const { externalNetworkId, clouds } = await newProject(rig, `conformance-${randomUUID()}`);
  const mappings = { flavors: {}, images: {}, networks: {}, volumeTypes: {} };
  const settings = { access: accessIn(clouds, undefined), externalNetwork: externalNetworkId, keptAddresses: 4, mappings };
  const open = () => createOpenStackBackend(settings);
  return {
    kinds: KINDS,
    externalNetworkId,
    open,
    async close() {
      await removeAll(open());
      await rig.stop();
    },
  };
}

const reason = missing();
if (reason === undefined) conformance('OpenStack', cloud, { kinds: KINDS, mostCalls: 400, sharing: true });
else it.skip(`OpenStack keeps the contract (${reason})`);
