import { make } from '../../../../convergence/wants.ts';
import { InvalidError } from '../../../../lib/errors.ts';
import { newId, newTaskId } from '../../../../lib/ids.ts';
import { tagsOf } from '../../../../lib/legacy-metadata.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { quotaOwner, takeQuotas } from '../../../ground/quotas/service.ts';
import { beginTask } from '../../../ground/tasks/service.ts';
import * as instanceVolumes from '../../../storage/volumes/of-instances/in-transaction.ts';
import { volumeSpec } from '../../../storage/volumes/tasks.ts';
import * as placementGroups from '../../placement-groups/service.ts';
import { findSshKeyByName } from '../../ssh-keys/service.ts';
import * as newInterfaces from '../interfaces/new-interfaces.ts';
import type { CreateInstance } from '../schema.ts';
import { insertInstance } from '../store.ts';
import { asRows, CREATE_VM, type FirstBoot, newMachineSpec } from '../tasks.ts';
import { imageProblems, keptFlavor, usableFlavor, userProblems } from './flavor-choice.ts';
import { instanceName } from './names.ts';
import { offeredVolume, requestProblems } from './request-problems.ts';

/**
 * Accepts an instance with its ports and volumes, which can be read at once. Returns the ID of the task that starts
 * the instance.
 * @throws InvalidError, ForbiddenError for a flavor that has run out, ConflictError, QuotaExceededError
 */
export async function createInstance(on: Platform, scope: Scope, request: CreateInstance): Promise<string> {
  const problems = requestProblems(request);
  if (problems.length > 0) throw new InvalidError(problems);
  const flavor = usableFlavor(on.catalog, scope.regionId, request.flavor);
  const tags = tagsOf(request);
  const sshKeyName = request.ssh_key_name ?? null;
  const publicKey = await publicKeyNamed(on, scope, sshKeyName);
  const [id, taskId] = [newId(), newTaskId()];

  return on.database.accept(async (tx) => {
    const wanted = await newInterfaces.want(tx, scope, request);
    const volumes = await instanceVolumes.plan(tx, scope, on.catalog, request.volumes.flatMap(offeredVolume));
    const images = volumes.map(({ image }) => image);
    const misfits = [
      ...instanceVolumes.bootOrderProblems(volumes),
      ...imageProblems(flavor, images, sshKeyName),
      ...userProblems(request.username, images),
    ];
    if (misfits.length > 0) throw new InvalidError(misfits);
    const interfaces = await newInterfaces.address(tx, scope, wanted);
    const [first] = interfaces;
    const name = instanceName(request, first ? newInterfaces.firstAddress(first) : '');
    tx.about({ type: 'instance', id, name });
    await insertInstance(tx, scope, { id, name, flavor: keptFlavor(flavor), sshKeyName, tags }, taskId);
    if (request.servergroup_id !== undefined) {
      await placementGroups.join(tx, scope, request.servergroup_id, id);
    }
    const to = { instanceId: id, from: 0, taskId, holdPorts: false };
    await newInterfaces.write(tx, scope, interfaces, to);
    const madeVolumes = await instanceVolumes.attach(tx, scope, { id, name }, volumes, taskId);
    const made = newInterfaces.madeOf(interfaces);
    const madeVolumeIds = madeVolumes.map((volume) => volume.id);
    const { secrets, ...boot } = firstBoot(request, publicKey);
    await beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_VM,
      data: withoutSecrets(request),
      input: { instanceId: id, madeVolumeIds, made, ...quotaOwner(scope) },
      wants: [
        ...madeVolumes.map((volume) => make('volume', volume.id, volumeSpec(volume.name, volume.shape, volume.tags))),
        ...(await asRows(tx, newInterfaces.namedBy(interfaces))),
        make('machine', id, await newMachineSpec(tx, id, { secrets, ...boot }), secrets),
      ],
    });
    takeQuotas(tx, scope, {
      floating_count: made.floatingIpIds.length,
      vm_count: 1,
      volume_count: madeVolumeIds.length,
    });
    return taskId;
  });
}

async function publicKeyNamed(on: Platform, scope: Scope, name: string | null): Promise<string | undefined> {
  if (name === null) return undefined;
  const key = await findSshKeyByName(on, scope, name);
  if (key) return key.public_key;
  throw new InvalidError({
    ssh_key_name: [
      `No SSH key ${name} that you can use in this project; see GET /cloud/v1/ssh_keys/${scope.projectId} for those you can use.`,
    ],
  });
}

/** Leaves out secrets, as everybody who may read the task sees its parameters. */
function withoutSecrets(request: CreateInstance): object {
  const { password: _, user_data: __, configuration: ___, ...shown } = request;
  return shown;
}

function firstBoot(request: CreateInstance, publicKey: string | undefined): FirstBoot {
  const { password, user_data, username } = request;
  const secrets = Object.entries({ password, user_data }).flatMap(([name, value]) => (value ? [[name, value]] : []));
  return { publicKey, username: username || undefined, secrets: Object.fromEntries(secrets) };
}
