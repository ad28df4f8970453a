import type { MachineSpec } from '../../../../backends/contract/specs.ts';
import { type TaskEnd, type TaskType, taskType } from '../../../../convergence/task-kind.ts';
import type { Transaction } from '../../../../db/database.ts';
import type { KeptFlavor } from '../../../../db/json-columns.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { newTaskId } from '../../../../lib/ids.ts';
import { patchedTags } from '../../../../lib/tags.ts';
import type { Platform, Scope } from '../../../../platform.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { Flavor } from '../../../ground/catalog/service.ts';
import type { PlainInstance } from '../../../ground/hosts/in-transaction.ts';
import type { InstanceStatus, VmState } from '../../../ground/hosts/states.ts';
import type { TagHolder } from '../../../ground/metadata/service.ts';
import { beginTask, wantChecked } from '../../../ground/tasks/service.ts';
import * as instanceVolumes from '../../../storage/volumes/of-instances/in-transaction.ts';
import { imageMisfits, keptFlavor, misfit, offeredWith, usableFlavor } from '../creation/flavor-choice.ts';
import { getInstance, lockFreeInstance, requireState } from '../service.ts';
import { changeInstance } from '../store.ts';
import { ofMachine } from '../tasks.ts';
import { ACTIONS, type ActionName, NOT_OF_BARE_METAL, RESIZABLE, type UpdateInstance } from './schema.ts';

interface State {
  status: InstanceStatus;
  vm_state: VmState;
}

interface ChangeInput {
  instanceId: string;
  /** The state to which the instance returns if the change fails. */
  before: State;
  end: State;
  /** Only for a change of the flavor. */
  flavor?: KeptFlavor;
}
export type InstanceChange = TaskType<ChangeInput>;

export const RESIZE_VM = taskType<ChangeInput>('resize_vm');
export const taskOf = (action: ActionName): InstanceChange => taskType(ACTIONS[action].taskType);

export function instanceChangeTasks(): TaskEnd[] {
  const actions = (Object.keys(ACTIONS) as ActionName[]).map(taskOf);
  return [...actions, RESIZE_VM].map(
    (task): TaskEnd<ChangeInput> => ({
      ...task,
      async complete(tx, _task, { instanceId, end, flavor }) {
        const free = { ...end, task_state: null, task_id: null, ...marked(end) };
        const resized = flavor && { flavor_id: flavor.flavor_id, flavor: JSON.stringify(flavor) };
        await changeInstance(tx, instanceId, { ...free, ...resized });
      },
      async abandon(tx, _task, { instanceId, before }) {
        await changeInstance(tx, instanceId, { ...before, task_state: null, task_id: null, ...marked(before) });
      },
    }),
  );
}

/** What runs was not stopped by a suspension. */
const marked = ({ vm_state }: State) => (vm_state === 'active' ? { stopped_by_suspension: null } : {});

/** Changes name and tags at once. @throws NotFoundError, InvalidError, ConflictError while a task holds it */
export async function updateInstance(on: Platform, scope: Scope, id: string, change: UpdateInstance): Promise<void> {
  await on.database.accept(async (tx) => {
    const instance = await lockFreeInstance(tx, scope, id);
    const tags = patchedTags(instance.tags, change.tags);
    const name = change.name ?? instance.name;
    await changeInstance(tx, instance.id, { name, tags: JSON.stringify(tags) });
    await wantChecked(on, tx, scope, [ofMachine(instance.id, () => ({ name, metadata: tags }))]);
  });
}

/** Returns the task's ID. @throws NotFoundError, ConflictError while a task holds it or in the wrong state */
export const actOnInstance = (on: Platform, scope: Scope, id: string, name: ActionName): Promise<string> =>
  on.database.accept((tx) => beginAction(on, tx, scope, { id, name }));

/** Does it in the caller's transaction. @throws as `actOnInstance` */
export async function beginAction(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  { id, name, bySuspension = false }: { id: string; name: ActionName; bySuspension?: boolean },
): Promise<string> {
  const instance = await lockFor(tx, scope, id, name);
  const { during, end } = ACTIONS[name];
  return start(
    on,
    tx,
    scope,
    { ...during, stopped_by_suspension: bySuspension || null },
    {
      task: taskOf(name),
      input: { instanceId: instance.id, before: stateOf(instance), end },
      shown: { action: name },
      wanted: WANTED[name],
    },
  );
}

/** Does the same at once, without a task. @throws as `actOnInstance` */
export const actOnInstanceNow = (on: Platform, scope: Scope, id: string, name: ActionName): Promise<void> =>
  on.database.accept(async (tx) => {
    const instance = await lockFor(tx, scope, id, name);
    await changeInstance(tx, instance.id, { ...ACTIONS[name].end, stopped_by_suspension: null });
    await wantChecked(on, tx, scope, [ofMachine(instance.id, WANTED[name])]);
  });

/**
 * Returns the task's ID.
 * @throws as `actOnInstance`, InvalidError for a flavor that doesn't fit, ForbiddenError for one that has run out
 */
export const changeInstanceFlavor = (on: Platform, scope: Scope, id: string, flavorId: string): Promise<string> =>
  on.database.accept(async (tx) => {
    const instance = await lockFreeInstance(tx, scope, id);
    const flavor = usableFlavor(on.catalog, scope.regionId, flavorId, 'flavor_id');
    const problem = misfit(instance.flavor, flavor);
    if (problem !== undefined) throw new InvalidError({ flavor_id: [problem] });
    const images = await instanceVolumes.imagesOf(tx, scope, on.catalog, instance.id);
    const misfits = images.flatMap((image) => imageMisfits(flavor, image));
    if (misfits.length > 0) throw new InvalidError({ flavor_id: misfits });
    if (isBareMetal(instance.flavor_id)) {
      throw new ConflictError(`Instance ${instance.id} is a bare metal machine, whose flavor can't be changed`);
    }
    requireState(instance, 'change the flavor', RESIZABLE);
    const during = { status: 'RESIZE', task_state: 'resize_prep', stopped_by_suspension: null } as const;
    const state = stateOf(instance);
    return start(on, tx, scope, during, {
      task: RESIZE_VM,
      input: { instanceId: instance.id, before: state, end: state, flavor: keptFlavor(flavor) },
      shown: { flavor_id: flavorId },
      wanted: () => ({ flavorId }),
    });
  });

/** Lists the flavors that the instance may change to, in the catalogue's order. @throws NotFoundError */
export async function otherFlavors(on: Platform, scope: Scope, id: string): Promise<Flavor[]> {
  const instance = await getInstance(on, scope, id);
  if (isBareMetal(instance.flavor_id)) return [];
  const images = await on.database.transaction((tx) => instanceVolumes.imagesOf(tx, scope, on.catalog, instance.id));
  return offeredWith(on, scope, images).filter((flavor) => misfit(instance.flavor, flavor) === undefined);
}

export const instanceTags: TagHolder = {
  read: getInstance,
  async change(on, tx, scope, id, plan) {
    const instance = await lockFreeInstance(tx, scope, id);
    const tags = plan(instance.tags);
    await changeInstance(tx, instance.id, { tags: JSON.stringify(tags) });
    await wantChecked(on, tx, scope, [ofMachine(instance.id, () => ({ metadata: tags }))]);
  },
};

async function start(
  on: Platform,
  tx: Transaction,
  scope: Scope,
  during: Parameters<typeof changeInstance>[2],
  { task, input, shown, wanted }: Started,
): Promise<string> {
  const { instanceId } = input;
  const id = newTaskId();
  await changeInstance(tx, instanceId, { ...during, task_id: id });
  const data = { instance_id: instanceId, ...shown };
  return beginTask(on, tx, scope, { id, task, data, input, wants: [ofMachine(instanceId, wanted)] });
}

interface Started {
  task: InstanceChange;
  input: NonNullable<InstanceChange['input']>;
  /** Parameters that the task shows. */
  shown: object;
  wanted: (spec: MachineSpec) => Partial<MachineSpec>;
}

const WANTED: Record<ActionName, (spec: MachineSpec) => Partial<MachineSpec>> = {
  start: () => ({ power: 'on' }),
  stop: () => ({ power: 'off' }),
  suspend: () => ({ power: 'suspended' }),
  resume: () => ({ power: 'on' }),
  reboot: ({ reboots: { soft, hard } }) => ({ reboots: { soft: soft + 1, hard } }),
  reboot_hard: ({ reboots: { soft, hard } }) => ({ power: 'on', reboots: { soft, hard: hard + 1 } }),
};

async function lockFor(tx: Transaction, scope: Scope, id: string, name: ActionName): Promise<PlainInstance> {
  const instance = await lockFreeInstance(tx, scope, id);
  if (isBareMetal(instance.flavor_id) && NOT_OF_BARE_METAL.includes(name)) {
    throw new ConflictError(`Instance ${instance.id} is a bare metal machine, which can't ${name}`);
  }
  requireState(instance, name, ACTIONS[name].from);
  return instance;
}

const stateOf = ({ status, vm_state }: PlainInstance) => ({ status, vm_state });
