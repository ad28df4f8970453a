import type { MachineSpec } from '../../../../backends/contract/specs.ts';
import type { Database, Transaction } from '../../../../db/database.ts';
import type { Clock } from '../../../../lib/clock.ts';
import { ConflictError, InvalidError } from '../../../../lib/errors.ts';
import { newTaskId } from '../../../../lib/ids.ts';
import { patchedTags } from '../../../../lib/tags-patch.ts';
import { isBareMetal } from '../../../ground/catalog/flavor-schema.ts';
import type { Catalog, Flavor } from '../../../ground/catalog/service.ts';
import type { PlainInstance } from '../../../ground/hosts/in-transaction.ts';
import type { TagHolder } from '../../../ground/metadata/service.ts';
import type { Scope } from '../../../ground/projects/service.ts';
import type { Tasks } from '../../../ground/tasks/service.ts';
import type { ImageSource } from '../../../storage/image-sources/in-transaction.ts';
import * as instanceVolumes from '../../../storage/volumes/of-instances/in-transaction.ts';
import { imageMisfits, keptFlavor, misfit, usableFlavor } from '../creation/flavor-choice.ts';
import { volumeProblems } from '../creation/request-problems.ts';
import { lockFreeInstance, requireState } from '../free-instance.ts';
import { knownVolume } from '../offers/possible-volume.ts';
import type { PossibleVolume } from '../offers/schema.ts';
import { changeInstance } from '../store.ts';
import { ofMachine } from '../wanted.ts';
import { ACTIONS, type ActionName, NOT_OF_BARE_METAL, RESIZABLE } from './actions.ts';
import type { UpdateInstance } from './schema.ts';
import { type InstanceChange, RESIZE_VM, taskOf } from './tasks.ts';

export interface InstanceChanges {
  /** Changes name and tags at once. @throws NotFoundError, InvalidError, ConflictError while a task holds it */
  update(scope: Scope, id: string, change: UpdateInstance): Promise<void>;
  /** Returns the task's ID. @throws NotFoundError, ConflictError while a task holds it or in the wrong state */
  act(scope: Scope, id: string, action: ActionName): Promise<string>;
  /** Does the same at once, without a task. @throws as `act` */
  actNow(scope: Scope, id: string, action: ActionName): Promise<void>;
  /**
   * Returns the task's ID.
   * @throws as `act`, InvalidError for a flavor that doesn't fit, ForbiddenError for one that has run out
   */
  changeFlavor(scope: Scope, id: string, flavorId: string): Promise<string>;
  /** Lists the flavors that the instance may change to, in the catalogue's order. @throws NotFoundError */
  otherFlavors(scope: Scope, id: string): Promise<Flavor[]>;
  /**
   * Lists the flavors that a new instance with these volumes may have, in the same order.
   * @throws InvalidError, ConflictError for a volume in use
   */
  flavorsFor(scope: Scope, volumes: PossibleVolume[]): Promise<Flavor[]>;
  tags: TagHolder;
}

export function createInstanceChanges(deps: {
  database: Database;
  clock: Clock;
  catalog: Catalog;
  tasks: Tasks;
  find(scope: Scope, id: string): Promise<PlainInstance>;
}): InstanceChanges {
  const { database, clock, catalog, tasks, find } = deps;

  return {
    async update(scope, id, change) {
      await database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        const tags = patchedTags(instance.tags, change.tags);
        const name = change.name ?? instance.name;
        await changeInstance(tx, instance.id, { name, tags: JSON.stringify(tags) }, clock.now());
        await tasks.want(tx, scope, [ofMachine(instance.id, () => ({ name, metadata: tags }))]);
      });
    },

    act: (scope, id, name) =>
      database.accept(scope.principal, async (tx) => {
        const instance = await lockFor(tx, scope, id, name);
        const { during, end } = ACTIONS[name];
        return start(tx, scope, during, {
          task: taskOf(name),
          input: { instanceId: instance.id, before: stateOf(instance), end },
          shown: { action: name },
          wanted: WANTED[name],
        });
      }),

    actNow: (scope, id, name) =>
      database.accept(scope.principal, async (tx) => {
        const instance = await lockFor(tx, scope, id, name);
        await changeInstance(tx, instance.id, ACTIONS[name].end, clock.now());
        await tasks.want(tx, scope, [ofMachine(instance.id, WANTED[name])]);
      }),

    changeFlavor: (scope, id, flavorId) =>
      database.accept(scope.principal, async (tx) => {
        const instance = await lockFreeInstance(tx, scope, id);
        const flavor = usableFlavor(catalog, scope.regionId, flavorId, 'flavor_id');
        const problem = misfit(instance.flavor, flavor);
        if (problem !== undefined) throw new InvalidError({ flavor_id: [problem] });
        const images = await instanceVolumes.imagesOf(tx, scope, catalog, instance.id);
        const misfits = images.flatMap((image) => imageMisfits(flavor, image));
        if (misfits.length > 0) throw new InvalidError({ flavor_id: misfits });
        if (isBareMetal(instance.flavor_id)) {
          throw new ConflictError(
            `Instance ${instance.id} is a bare metal machine, whose flavor can't be changed`,
          );
        }
        requireState(instance, 'change the flavor', RESIZABLE);
        const during = { status: 'RESIZE', task_state: 'resize_prep' } as const;
        const state = stateOf(instance);
        return start(tx, scope, during, {
          task: RESIZE_VM,
          input: { instanceId: instance.id, before: state, end: state, flavor: keptFlavor(flavor) },
          shown: { flavor_id: flavorId },
          wanted: () => ({ flavorId }),
        });
      }),

    async otherFlavors(scope, id) {
      const instance = await find(scope, id);
      if (isBareMetal(instance.flavor_id)) return [];
      const images = await database.transaction((tx) =>
        instanceVolumes.imagesOf(tx, scope, catalog, instance.id),
      );
      return offeredWith(scope, images).filter((flavor) => misfit(instance.flavor, flavor) === undefined);
    },

    async flavorsFor(scope, volumes) {
      const problems = volumeProblems(volumes);
      if (problems.length > 0) throw new InvalidError(problems);
      const planned = await database.transaction((tx) =>
        instanceVolumes.plan(
          tx,
          scope,
          catalog,
          volumes.map((volume) => knownVolume(volume, scope)),
        ),
      );
      return offeredWith(
        scope,
        planned.flatMap(({ image }) => image ?? []),
      );
    },

    tags: {
      read: find,
      async change(tx, scope, id, plan) {
        const instance = await lockFreeInstance(tx, scope, id);
        const tags = plan(instance.tags);
        await changeInstance(tx, instance.id, { tags: JSON.stringify(tags) }, clock.now());
        await tasks.want(tx, scope, [ofMachine(instance.id, () => ({ metadata: tags }))]);
      },
    },
  };

  function offeredWith(scope: Scope, images: ImageSource[]): Flavor[] {
    return catalog
      .flavors(scope.regionId)
      .filter(
        (flavor) =>
          flavor.offered_for.includes('instances') &&
          !flavor.disabled &&
          images.every((image) => imageMisfits(flavor, image).length === 0),
      );
  }

  async function start(
    tx: Transaction,
    scope: Scope,
    during: Parameters<typeof changeInstance>[2],
    { task, input, shown, wanted }: Started,
  ): Promise<string> {
    const { instanceId } = input;
    const id = newTaskId();
    await changeInstance(tx, instanceId, { ...during, task_id: id }, clock.now());
    const data = { instance_id: instanceId, ...shown };
    return tasks.begin(tx, scope, { id, task, data, input, wants: [ofMachine(instanceId, wanted)] });
  }
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

/** Locks an instance whose state allows the action. */
async function lockFor(tx: Transaction, scope: Scope, id: string, name: ActionName): Promise<PlainInstance> {
  const instance = await lockFreeInstance(tx, scope, id);
  if (isBareMetal(instance.flavor_id) && NOT_OF_BARE_METAL.includes(name)) {
    throw new ConflictError(`Instance ${instance.id} is a bare metal machine, which can't ${name}`);
  }
  requireState(instance, name, ACTIONS[name].from);
  return instance;
}

const stateOf = ({ status, vm_state }: PlainInstance) => ({ status, vm_state });
