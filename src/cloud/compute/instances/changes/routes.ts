import type { Dialect } from '../../../../http/dialect.ts';
import { operations } from '../../../../http/operations.ts';
import type { Api } from '../../../../http/server.ts';
import { versioned } from '../../../../lib/versioned.ts';
import { Input, nullable } from '../../../../lib/wire.ts';
import type { Platform } from '../../../../platform.ts';
import { FlavorList, presentFlavor } from '../../../ground/catalog/flavor-schema.ts';
import { tagByKeyRoutes, tagRoutes } from '../../../ground/metadata/routes.ts';
import { offerPrices } from '../../../ground/prices/service.ts';
import { presentedInstance } from '../presenter.ts';
import { ONE_INSTANCE } from '../routes.ts';
import { InstanceAnswer, InstanceParams, VERSIONED_INSTANCE } from '../schema.ts';
import { getInstance } from '../service.ts';
import * as schema from './schema.ts';
import * as changes from './service.ts';

const INSTANCE = '/cloud/v1/instances/:project_id/:region_id/:instance_id';
const tags = ['Instances'];

/** Routes for changes of an instance, except for its disks and interfaces. */
export function instanceChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  tagRoutes(app, on, 'instance', changes.instanceTags);
  tagRoutes(app, on, 'instance', changes.instanceTags, { version: 'v2', versioned: versioned('instance') });
  tagByKeyRoutes(app, on, 'instance', changes.instanceTags);
  const api = operations(app, { dialect, tags, params: InstanceParams });

  api.patch(ONE_INSTANCE, 'updateInstance', 'Update an instance', {
    description: 'Takes effect immediately. Returns 409 while a task holds the instance.',
    body: schema.UpdateInstance,
    answer: InstanceAnswer,
    handler: async ({ scope, params, body }) => {
      const { instance_id: id } = params;
      await changes.updateInstance(on, scope, id, body);
      return presentedInstance(await getInstance(on, scope, id), scope, {
        subnets: true,
        interfaceNames: true,
      });
    },
  });

  api.post(
    '/cloud/v2/instances/:project_id/:region_id/:instance_id/action',
    'actOnInstance',
    'Start, stop, reboot, suspend or resume an instance',
    {
      versioned: VERSIONED_INSTANCE,
      description:
        "Returns 409 if the state of the instance doesn't allow the action; the message names the state. Bare metal can't be suspended and resumed.",
      body: schema.InstanceAction,
      task: ({ scope, params, body }) => changes.actOnInstance(on, scope, params.instance_id, body.action),
    },
  );

  api.post(`${INSTANCE}/changeflavor`, 'changeInstanceFlavor', 'Resize an instance', {
    description: 'Changes the flavor of a running or stopped instance. Its state is the same afterwards.',
    body: schema.ChangeFlavor,
    task: ({ scope, params, body }) => changes.changeInstanceFlavor(on, scope, params.instance_id, body.flavor_id),
  });

  api.get(
    `${INSTANCE}/available_flavors`,
    'listFlavorsForInstance',
    'List flavors that an instance can be resized to',
    {
      query: schema.AvailableFlavorsQuery,
      answer: FlavorList,
      handler: async ({ scope, params, query }) => {
        const flavors = await changes.otherFlavors(on, scope, params.instance_id);
        const prices = await offerPrices(on, scope, query.include_prices);
        const results = flavors.map((flavor) => presentFlavor(flavor, prices?.flavor(flavor.flavor_id)));
        return { count: results.length, results };
      },
    },
  );
}

const DIRECT: { path: string; action: schema.ActionName; summary: string }[] = [
  { path: 'start', action: 'start', summary: 'Start an instance immediately' },
  { path: 'stop', action: 'stop', summary: 'Stop an instance immediately' },
  { path: 'reboot', action: 'reboot', summary: 'Reboot an instance immediately' },
  { path: 'powercycle', action: 'reboot_hard', summary: 'Power-cycle an instance immediately' },
  { path: 'suspend', action: 'suspend', summary: 'Suspend an instance immediately' },
  { path: 'resume', action: 'resume', summary: 'Resume an instance immediately' },
];
const StartBody = nullable(Input('StartInstanceNow', schema.StartFields, { activate_profile: true }));

/** Routes for actions from before there were tasks: the answer is the instance in its new state. */
export function directActionRoutes(app: Api, on: Platform): void {
  const api = operations(app, { tags: ['Instances'], params: InstanceParams, deprecated: true });
  for (const { path, action, summary } of DIRECT) {
    api.post(`/cloud/v1/instances/:project_id/:region_id/:instance_id/${path}`, `${path}Instance`, summary, {
      description:
        'Starts no task, since a simulated machine is ready immediately. Returns the instance in its new state. Fails in the same cases as the action of version 2.',
      ...(action === 'start' && { body: StartBody }),
      answer: InstanceAnswer,
      handler: async ({ scope, params }) => {
        const { instance_id: id } = params;
        await changes.actOnInstanceNow(on, scope, id, action);
        const row = await getInstance(on, scope, id);
        return presentedInstance(row, scope, { subnets: true, interfaceNames: true });
      },
    });
  }
}
