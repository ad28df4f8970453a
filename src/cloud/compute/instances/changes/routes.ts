import type { Dialect } from '../../../../http/dialect.ts';
import type { Api } from '../../../../http/server.ts';
import type { Platform } from '../../../../platform.ts';
import { FlavorList, presentFlavor } from '../../../ground/catalog/flavor-schema.ts';
import { offerPrices } from '../../../ground/prices/service.ts';
import { presentedInstance } from '../presenter.ts';
import { ONE_INSTANCE } from '../routes.ts';
import { InstanceAnswer, InstanceParams, VERSIONED_INSTANCE } from '../schema.ts';
import { getInstance } from '../service.ts';
import { AvailableFlavorsQuery, ChangeFlavor, InstanceAction, UpdateInstance } from './schema.ts';
import { actOnInstance, changeInstanceFlavor, otherFlavors, updateInstance } from './service.ts';

const INSTANCE = '/cloud/v1/instances/:project_id/:region_id/:instance_id';
const tags = ['Instances'];

/** Routes for changes of an instance, except for its disks and interfaces. */
export function instanceChangeRoutes(app: Api, dialect: Dialect, on: Platform): void {
  app.patch(ONE_INSTANCE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateInstance',
      summary: 'Update an instance',
      description: 'Takes effect immediately. Returns 409 while a task holds the instance.',
      tags,
      params: InstanceParams,
      body: UpdateInstance,
      response: { 200: InstanceAnswer },
    },
    handler: async ({ scope, params, body }) => {
      const { instance_id: id } = params;
      await updateInstance(on, scope, id, body);
      return presentedInstance(await getInstance(on, scope, id), scope, {
        subnets: true,
        interfaceNames: true,
      });
    },
  });

  app.post('/cloud/v2/instances/:project_id/:region_id/:instance_id/action', {
    config: { access: 'operate', versioned: VERSIONED_INSTANCE },
    schema: {
      operationId: 'actOnInstance',
      summary: 'Start, stop, reboot, suspend or resume an instance',
      description:
        "Returns 409 if the state of the instance doesn't allow the action; the message names the state. Bare metal can't be suspended and resumed.",
      tags,
      params: InstanceParams,
      body: InstanceAction,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await actOnInstance(on, scope, params.instance_id, body.action)]),
  });

  app.post(`${INSTANCE}/changeflavor`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'changeInstanceFlavor',
      summary: 'Resize an instance',
      description: 'Changes the flavor of a running or stopped instance. Its state is the same afterwards.',
      tags,
      params: InstanceParams,
      body: ChangeFlavor,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      dialect.tasks([await changeInstanceFlavor(on, scope, params.instance_id, body.flavor_id)]),
  });

  app.get(`${INSTANCE}/available_flavors`, {
    config: { access: 'read' },
    schema: {
      operationId: 'listFlavorsForInstance',
      summary: 'List flavors that an instance can be resized to',
      tags,
      params: InstanceParams,
      querystring: AvailableFlavorsQuery,
      response: { 200: FlavorList },
    },
    handler: async ({ scope, params, query }) => {
      const flavors = await otherFlavors(on, scope, params.instance_id);
      const prices = await offerPrices(on, scope, query.include_prices);
      const results = flavors.map((flavor) => presentFlavor(flavor, prices?.flavor(flavor.flavor_id)));
      return { count: results.length, results };
    },
  });
}
