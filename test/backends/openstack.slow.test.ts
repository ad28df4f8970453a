import { randomUUID } from 'node:crypto';
import { it } from 'vitest';
import { newProject, removeAll } from '../openstack/project.ts';
import { missing, startRig } from '../openstack/rig.ts';
import { KINDS, openBackend } from '../openstack/scenario.ts';
import { conformance, type Stand } from './conformance.ts';

async function cloud(): Promise<Stand> {
  const rig = await startRig();
  const { externalNetworkId, clouds } = await newProject(rig, `conformance-${randomUUID()}`);
  const open = () => openBackend(clouds, externalNetworkId);
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
if (reason === undefined)
  conformance('OpenStack', cloud, { kinds: KINDS, mostCalls: 400, sharing: true, kindsAtOnce: 2 });
else it.skip(`OpenStack keeps the contract (${reason})`);
