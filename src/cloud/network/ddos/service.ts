import { isDeepStrictEqual } from 'node:util';
import type { DdosProfileSpec } from '../../../backends/contract/specs.ts';
import { type TaskEnd, type TaskType, taskType } from '../../../convergence/task-kind.ts';
import { isToGo, make, put, remove, want } from '../../../convergence/wants.ts';
import { type Transaction, violates } from '../../../db/database.ts';
import { canonicalAddress, canonicalCidr } from '../../../lib/cidr.ts';
import { basicValue, type DdosField, ddosProfileProblems } from '../../../lib/ddos-profile.ts';
import { ConflictError, type FieldProblem, InvalidError, NotFoundError } from '../../../lib/errors.ts';
import { newId, newTaskId, refuseHeld } from '../../../lib/ids.ts';
import type { Platform, Scope } from '../../../platform.ts';
import { refuseSpent } from '../../ground/quotas/service.ts';
import { waitingDeletion } from '../../ground/tasks/behind/service.ts';
import * as tasks from '../../ground/tasks/service.ts';
import type { ActOnDdosProfile, DdosProfileListQuery, MutateDdosProfile } from './schema.ts';
import * as store from './store.ts';
import { changeProfile, deleteProfile, deleteProfilesOf } from './store.ts';

interface ProfileInput {
  profileId: number;
}

/** A change is in the row from the beginning. */
interface ProfileChange extends ProfileInput {
  former: { template_id: number; fields: DdosField[]; active: boolean; bgp: boolean };
}

export const CREATE_PROFILE = taskType<ProfileInput>('create_ddos_profile');
export const UPDATE_PROFILE = taskType<ProfileChange>('update_ddos_profile');
export const ACTIVATE_PROFILE = taskType<ProfileChange>('activate_ddos_profile');
export const DEACTIVATE_PROFILE = taskType<ProfileChange>('deactivate_ddos_profile');
export const DELETE_PROFILE = taskType<ProfileInput>('delete_ddos_profile');

/** How tasks on DDoS profiles end. Rows may be gone by then, together with their address. */
export function ddosTasks(): TaskEnd[] {
  const create: TaskEnd<ProfileInput> = {
    ...CREATE_PROFILE,
    async complete(tx, _task, { profileId }) {
      await changeProfile(tx, profileId, { task_id: null, status: 'Created' });
      return { ddos_profiles: [profileId] };
    },
    abandon: (tx, _task, { profileId }) => deleteProfile(tx, profileId),
  };

  const change = (task: TaskType<ProfileChange>, done: string, failed: string): TaskEnd<ProfileChange> => ({
    ...task,
    complete: (tx, _task, { profileId }) =>
      changeProfile(tx, profileId, { task_id: null, status: done, error_description: '' }),
    async abandon(tx, _task, { profileId, former }, reason) {
      await changeProfile(tx, profileId, {
        ...former,
        fields: JSON.stringify(former.fields),
        task_id: null,
        status: failed,
        error_description: reason,
      });
    },
  });

  const remove: TaskEnd<ProfileInput> = {
    ...DELETE_PROFILE,
    removes: true,
    complete: (tx, _task, { profileId }) => deleteProfile(tx, profileId),
  };

  return [
    create,
    change(UPDATE_PROFILE, 'Updated', 'Error Updating'),
    change(ACTIVATE_PROFILE, 'Activated', 'Error Activating'),
    change(DEACTIVATE_PROFILE, 'Deactivated', 'Error Deactivating'),
    remove,
  ];
}

type Wanted = Pick<store.ProfileRow, 'template_id' | 'fields' | 'active' | 'bgp'>;

/** @throws InvalidError for what is no address */
export async function listDdosProfiles(on: Platform, scope: Scope, query: DdosProfileListQuery) {
  return store.listProfiles(on.database.sql, scope, query, rangeOf(query.ip_address));
}

/** Returns the task that creates a profile. @throws InvalidError, ConflictError if the address has one */
export const createDdosProfile = (on: Platform, scope: Scope, request: MutateDdosProfile): Promise<string> =>
  on.database.accept(async (tx) => {
    const { template_id, fields } = wantedBy(on, scope, request);
    const at = await protectable(tx, scope, request.ip_address);
    const [wantId, taskId] = [newId(), newTaskId()];
    const profile = { template_id, fields, active: true, bgp: true };
    const row = {
      want_id: wantId,
      project_id: scope.projectId,
      region_id: scope.regionId,
      ...at,
      ...profile,
      fields: JSON.stringify(fields),
      status: 'Creating',
      task_id: taskId,
    };
    await refuseSpent(tx, scope);
    const id = await store.insertProfile(tx, row).catch((error: unknown) => {
      if (!violates(error, 'ddos_profiles_once')) throw error;
      throw new ConflictError(`Address ${at.address} has a DDoS profile already; update that one`);
    });
    tx.about({ type: 'ddos_profile', id, name: at.address });
    return tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: CREATE_PROFILE,
      data: request,
      input: { profileId: id },
      wants: [make('ddos_profile', wantId, specOf(at.address, profile))],
    });
  });

/**
 * Returns the task that replaces template and fields, or undefined if nothing changes, unless `taskAnyway`.
 * @throws NotFoundError, InvalidError, ConflictError while a task holds it
 */
export const updateDdosProfile = (
  on: Platform,
  scope: Scope,
  id: number,
  request: MutateDdosProfile,
  options: tasks.TaskAnyway,
): Promise<string | undefined> =>
  on.database.accept(async (tx) => {
    const profile = await lockFree(tx, scope, id);
    const wanted = wantedBy(on, scope, request);
    const address = request.ip_address ?? profile.address;
    if (canonicalAddress(address)?.address !== profile.address) {
      const message = `Profile ${id} protects ${profile.address}; create another one for another address.`;
      throw new InvalidError({ ip_address: [message] });
    }
    return change(on, tx, scope, profile, { task: UPDATE_PROFILE, status: 'Updating', wanted, ...options });
  });

/** Returns the task that switches it, or undefined likewise. @throws NotFoundError, ConflictError */
export const actOnDdosProfile = (
  on: Platform,
  scope: Scope,
  id: number,
  wanted: ActOnDdosProfile,
  options: tasks.TaskAnyway,
): Promise<string | undefined> =>
  on.database.accept(async (tx) => {
    const profile = await lockFree(tx, scope, id);
    const [task, status] = wanted.active ? [ACTIVATE_PROFILE, 'Activating'] : [DEACTIVATE_PROFILE, 'Deactivating'];
    return change(on, tx, scope, profile, { task, status, wanted, ...options });
  });

/** Returns the task that deletes it. @throws NotFoundError, ConflictError while a task holds it */
export const deleteDdosProfile = (on: Platform, scope: Scope, id: number): Promise<string> =>
  on.database.accept(async (tx) => {
    const profile = await lock(tx, scope, id);
    const again = await tasks.removeAgain(on, tx, scope, profile.task_id, DELETE_PROFILE);
    if (again !== undefined) return again;
    refuseHeld(`DDoS profile ${id}`, profile);
    const taskId = tasks.deletionId(scope);
    await store.changeProfile(tx, id, { task_id: taskId, status: 'Deleting' });
    return tasks.beginTask(on, tx, scope, {
      id: taskId,
      task: DELETE_PROFILE,
      data: { profile_id: id },
      input: { profileId: id },
      wants: [remove('ddos_profile', profile.want_id)],
    });
  });

/** @throws InvalidError for a template that the region doesn't offer, and values that don't fit its fields */
function wantedBy(on: Platform, scope: Scope, request: MutateDdosProfile): Pick<Wanted, 'template_id' | 'fields'> {
  const ddosTemplates = on.catalog.ddosTemplates(scope.regionId);
  const known = ddosTemplates.find(({ id }) => id === request.profile_template)?.fields ?? [];
  const differing: FieldProblem[] = [];
  const fields = (request.fields ?? []).map(({ base_field, field_value = null, value }, index): DdosField => {
    if (!value) return { base_field, field_value };
    const schema = known.find(({ id }) => id === base_field)?.validation_schema;
    const meant = basicValue(value, schema);
    if (field_value !== null && !isDeepStrictEqual(field_value, meant)) {
      const message = 'Differs from field_value, the newer form of this field; send only one of them.';
      differing.push({ field: `fields.${index}.value`, message });
    }
    return { base_field, field_value: meant };
  });
  if (differing.length > 0) throw new InvalidError(differing);
  const profile = {
    enabled: true,
    fields,
    profile_template: request.profile_template,
    profile_template_name: null,
  };
  const problems = ddosProfileProblems(profile, { ddosTemplates });
  if (problems.length > 0) {
    throw new InvalidError(
      problems.map(({ field, message }) => ({ field: field.replace(/^ddos_profile\./, ''), message })),
    );
  }
  return { template_id: request.profile_template, fields };
}

async function change(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  profile: store.ProfileRow,
  {
    task,
    status,
    wanted,
    taskAnyway,
  }: {
    task: TaskType<{ profileId: number; former: Wanted }>;
    status: string;
    wanted: Partial<Wanted>;
  } & tasks.TaskAnyway,
): Promise<string | undefined> {
  const { id, address, template_id, fields, active, bgp } = profile;
  const former = { template_id, fields, active, bgp };
  const next = { ...former, ...wanted };
  const data = { profile_id: id, ...wanted };
  if (isDeepStrictEqual(next, former)) {
    return tasks.unchangedTask(on, tx, scope, { type: task.type, data }, { taskAnyway });
  }
  const taskId = newTaskId();
  const row = { ...next, fields: JSON.stringify(next.fields), task_id: taskId, status };
  await store.changeProfile(tx, id, row);
  return tasks.beginTask(on, tx, scope, {
    id: taskId,
    task,
    data,
    input: { profileId: id, former },
    wants: [put('ddos_profile', profile.want_id, specOf(address, next))],
  });
}

/** @throws InvalidError for an address that leads to no instance and no load balancer of the project */
async function protectable(
  tx: Transaction,
  scope: Scope,
  given: string | null,
): Promise<{ subnet_id: string; address: string }> {
  const address = given === null ? undefined : canonicalAddress(given)?.address;
  if (address === undefined) {
    throw new InvalidError({ ip_address: ['Must be an IP address such as 198.18.16.5.'] });
  }
  const found = await store.lockPublicAddress(tx, scope, address);
  if (!found?.used) {
    const message = `No instance and no load balancer of this project and region has the public address ${address}.`;
    throw new InvalidError({ ip_address: [message] });
  }
  return { subnet_id: found.subnet_id, address: found.address };
}

async function lock(tx: Transaction, scope: Scope, id: number): Promise<store.ProfileRow> {
  const profile = await store.lockProfile(tx, scope, id);
  if (!profile) throw new NotFoundError('DDoS profile', id);
  tx.about({ type: 'ddos_profile', id, name: profile.address });
  return profile;
}

/** @throws NotFoundError, ConflictError while a task holds it or it is being removed */
async function lockFree(tx: Transaction, scope: Scope, id: number): Promise<store.ProfileRow> {
  const profile = await lock(tx, scope, id);
  refuseHeld(`DDoS profile ${id}`, profile);
  if (await isToGo(tx, { kind: 'ddos_profile', id: profile.want_id })) {
    throw new ConflictError(`DDoS profile ${id} is being removed`);
  }
  return profile;
}

/** @throws InvalidError */
function rangeOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const range = text.includes('/') ? canonicalCidr(text)?.cidr : canonicalAddress(text)?.address;
  if (range === undefined) {
    throw new InvalidError({ ip_address: ['Must be an address or a network such as 198.18.16.0/24.'] });
  }
  return range;
}

function specOf(address: string, { template_id, fields, active, bgp }: Wanted): DdosProfileSpec {
  return {
    address,
    templateId: template_id,
    fields: Object.fromEntries(fields.map(({ base_field, field_value }) => [base_field, { value: field_value }])),
    active,
    bgp,
  };
}

export const ddosProfileDeletion = waitingDeletion('delete_ddos_profile', deleteDdosProfile, ['profile_id']);

/** Removes the profiles of public addresses that have been given back: somebody else may get them next. */
export async function protectNoLonger(tx: Transaction, addresses: readonly { subnet_id: string; address: string }[]) {
  if (addresses.length === 0) return;
  const gone = await deleteProfilesOf(tx, addresses);
  await want(
    tx,
    null,
    gone.map((id) => remove('ddos_profile', id)),
  );
}
