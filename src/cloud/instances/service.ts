import { randomUUID } from 'node:crypto';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../lib/clock.ts';
import { InvalidError, NotFoundError } from '../../lib/errors.ts';
import { isUuid } from '../../lib/ids.ts';
import { acceptedTags } from '../../lib/tags-input.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { Addresses } from '../networks/addresses.ts';
import type { Ports } from '../ports/service.ts';
import { placeOf } from '../projects/place.ts';
import type { Scope } from '../projects/service.ts';
import { takeQuota } from '../quotas/quotas.ts';
import type { PortGroups } from '../security-groups/port-groups.ts';
import type { Tasks } from '../tasks/service.ts';
import type { InstanceVolumes } from '../volumes/instance-volumes.ts';
import type { InstanceVolumeWish } from '../volumes/planned-volume.ts';
import { addressWish } from './address-wishes.ts';
import { imageProblems, keptFlavor, usableFlavor } from './flavor-choice.ts';
import { lockFreeInstance } from './free-instance.ts';
import { interfaceGroups } from './interface-groups.ts';
import { instanceName } from './names.ts';
import { requestProblems } from './request-problems.ts';
import type { CreateInstance } from './schema.ts';
import * as store from './store.ts';
import { CREATE_VM, DEADLINE_MS, DELETE_VM, type InstanceInput, type InstanceRemoval } from './workflow.ts';

/** What this feature needs to know of SSH keys. */
export interface SshKeyNames {
  hasNamed(place: { projectId: number; principal: { userId: number } }, name: string): Promise<boolean>;
}

export interface Removal {
  volumes: string[];
  floatings: string[];
  reservedFixedIps: string[];
  deleteFloatings: boolean;
}

export interface Instances {
  /**
   * Accepts an instance with its ports and volumes, all of which can be read at once; answers the id of the
   * task that makes it run.
   * @throws InvalidError, ForbiddenError for a flavor that has run out, ConflictError, QuotaExceededError
   */
  create(scope: Scope, request: CreateInstance): Promise<string>;
  list(scope: Scope, filter: store.InstanceFilter): Promise<{ count: number; rows: store.InstanceRow[] }>;
  /** @throws NotFoundError */
  get(scope: Scope, id: string): Promise<store.InstanceRow>;
  /** Starts the task that removes it; answers the task's id. @throws NotFoundError, InvalidError, ConflictError */
  delete(scope: Scope, id: string, removal: Removal): Promise<string>;
}

export function createInstances(deps: {
  database: Database;
  clock: Clock;
  catalog: Catalog;
  tasks: Tasks;
  addresses: Addresses;
  ports: Pick<Ports, 'add'>;
  portGroups: PortGroups;
  instanceVolumes: InstanceVolumes;
  sshKeys: SshKeyNames;
}): Instances {
  const { database, clock, catalog, tasks, addresses, ports, portGroups, instanceVolumes, sshKeys } = deps;

  return {
    async create(scope, request) {
      const problems = requestProblems(request);
      if (problems.length > 0) throw new InvalidError(problems);
      const flavor = usableFlavor(catalog, scope.region.id, request.flavor);
      const tags = acceptedTags(request.tags);
      const sshKeyName = request.ssh_key_name ?? null;
      await requireSshKey(scope, sshKeyName);
      const [id, taskId] = [randomUUID(), randomUUID()];
      const portIds = request.interfaces.map(() => randomUUID());
      const place = placeOf(scope);
      const now = clock.now();

      return database.accept(scope.principal, async (tx) => {
        const groups = await interfaceGroups(tx, scope, request, portGroups);
        const volumes = await instanceVolumes.plan(tx, scope, request.volumes.flatMap(offeredVolume));
        const misfits = imageProblems(
          flavor,
          volumes.map(({ image }) => image),
          sshKeyName,
        );
        if (misfits.length > 0) throw new InvalidError(misfits);
        const wishes = request.interfaces.flatMap((one, index) =>
          addressWish(one, `interfaces.${index}`, portIds[index]),
        );
        const taken = await addresses.take(tx, scope, wishes);
        const name = instanceName(request, taken[0]?.address ?? '');
        await store.insertInstance(
          tx,
          place,
          { id, name, flavor: keptFlavor(flavor), sshKeyName, tags },
          taskId,
          now,
        );
        const newPorts = taken.map(({ portId, networkId }, index) => ({
          id: portId,
          networkId,
          interfaceName: request.interfaces[index]?.interface_name ?? null,
        }));
        await ports.add(tx, scope, id, newPorts, now);
        const links = taken.flatMap(({ portId }, index) =>
          (groups[index] ?? []).map((groupId) => ({ portId, groupId })),
        );
        await portGroups.put(tx, links);
        await instanceVolumes.attach(tx, scope, { id, name }, volumes, taskId, now);
        const madeVolumeIds = volumes.filter(({ made }) => made).map((volume) => volume.id);
        const input: InstanceInput = {
          order: {
            id,
            name,
            flavorId: flavor.flavor_id,
            disks: volumes.map(({ disk }) => disk),
            interfaces: taken.map(({ portId, subnetId, address }) => ({ portId, subnetId, address })),
          },
          madeVolumeIds,
          clientId: scope.clientId,
          regionId: scope.region.id,
        };
        await tasks.start(tx, scope, {
          id: taskId,
          type: CREATE_VM,
          data: withoutSecrets(request),
          input,
          deadlineMs: DEADLINE_MS,
        });
        await takeQuota(tx, scope, 'vm_count');
        if (madeVolumeIds.length > 0) await takeQuota(tx, scope, 'volume_count', madeVolumeIds.length);
        return taskId;
      });
    },

    list: (scope, filter) => store.listInstances(database.sql, placeOf(scope), filter),

    async get(scope, id) {
      const row = isUuid(id) ? await store.findInstance(database.sql, placeOf(scope), id) : undefined;
      if (!row) throw new NotFoundError('Instance', id);
      return row;
    },

    async delete(scope, id, removal) {
      const taskId = randomUUID();
      const now = clock.now();
      return database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        requireRemovable(removal);
        const volumeIds = await instanceVolumes.holdForRemoval(tx, instance.id, removal.volumes, taskId, now);
        await store.changeInstance(tx, instance.id, { task_state: 'deleting', task_id: taskId }, now);
        const input: InstanceRemoval = {
          instanceId: instance.id,
          volumeIds,
          clientId: scope.clientId,
          regionId: scope.region.id,
        };
        return tasks.start(tx, scope, {
          id: taskId,
          type: DELETE_VM,
          data: { instance_id: instance.id, volumes: volumeIds },
          input,
          deadlineMs: DEADLINE_MS,
        });
      });
    },
  };

  async function requireSshKey(scope: Scope, name: string | null): Promise<void> {
    if (name === null || (await sshKeys.hasNamed(scope, name))) return;
    throw new InvalidError({ ssh_key_name: [`No SSH key ${name} that you may use in this project.`] });
  }
}

function offeredVolume(given: CreateInstance['volumes'][number]): InstanceVolumeWish[] {
  return given.source === 'apptemplate' ? [] : [given];
}

/** What the task shows to whoever may read it. */
function withoutSecrets(request: CreateInstance): object {
  const { password: _, user_data: __, ...shown } = request;
  return shown;
}

/** There are no floating IPs and no reserved addresses yet, so that none can be named. */
function requireRemovable({ floatings, reservedFixedIps, deleteFloatings }: Removal): void {
  if (deleteFloatings && floatings.length > 0) {
    throw new InvalidError({ delete_floatings: ['Give floatings or delete_floatings, not both.'] });
  }
  if (floatings.length > 0) {
    throw new InvalidError({ floatings: [`Not a floating IP of this instance: ${floatings.join(', ')}.`] });
  }
  if (reservedFixedIps.length > 0) {
    const message = `Not a reserved address of this instance: ${reservedFixedIps.join(', ')}.`;
    throw new InvalidError({ reserved_fixed_ips: [message] });
  }
}
