import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { InvalidError } from '../../../lib/errors.ts';
import { idsOf, ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { portsOfInstance } from '../../network/ports/service.ts';
import { inFieldsOf, inTodaysFields } from './creation/legacy.ts';
import { createInstance } from './creation/service.ts';
import { metadataValues } from './legacy-answer.ts';
import { presentedInstance } from './presenter.ts';
import * as schema from './schema.ts';
import { getInstance, instanceDeletion, listInstances } from './service.ts';
import type { InstanceFilter } from './store.ts';

const BASE = '/cloud/v1/instances/:project_id/:region_id';
/** `available_flavors` is an operation and not an instance, whatever the method is. */
export const ONE_INSTANCE = `${BASE}/:instance_id(^(?!available_flavors$).*$)`;
const tags = ['Instances'];

export function instanceRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.InstanceParams });

  api.post('/cloud/v2/instances/:project_id/:region_id', 'createInstance', 'Create an instance', {
    description:
      'The instance, its ports and its new volumes can be read as soon as the task is accepted. If the task fails, nothing is left behind. In a region with simulated infrastructure no guest starts: password, username and user_data have no effect, and password and user_data are not stored.',
    params: ProjectRegionParams,
    body: schema.CreateInstanceSchema,
    task: async ({ scope, body }) => {
      try {
        return await createInstance(on, scope, inTodaysFields(body));
      } catch (error) {
        throw inFieldsOf(body, error);
      }
    },
  });

  api.get(BASE, 'listInstances', 'List instances', {
    params: ProjectRegionParams,
    query: schema.InstanceListQuery,
    answer: schema.InstanceList,
    handler: async ({ scope, query }) => {
      const { count, rows } = await listInstances(on, scope, instanceFilter(query));
      const shown = { subnets: false, interfaceNames: query.with_interfaces_name ?? false };
      return { count, results: rows.map((row) => presentedInstance(row, scope, shown)) };
    },
  });

  api.get(ONE_INSTANCE, 'getInstance', 'Get an instance', {
    versioned: schema.VERSIONED_INSTANCE,
    answer: schema.InstanceAnswer,
    handler: async ({ scope, params }) => {
      const row = await getInstance(on, scope, params.instance_id);
      return presentedInstance(row, scope, { subnets: true, interfaceNames: true });
    },
  });

  api.delete(ONE_INSTANCE, 'deleteInstance', 'Delete an instance', {
    description:
      'Deletes the volumes that the request lists, and those with delete_on_termination that have no snapshots. All other volumes are detached.',
    query: schema.DeleteInstanceQuery,
    task: ({ scope, params, query }) =>
      deleteOrWait(on, scope, instanceDeletion, params.instance_id, {
        volumes: idsOf(query.volumes),
        floatings: idsOf(query.floatings),
        reservedFixedIps: idsOf(query.reserved_fixed_ips),
        deleteFloatings: query.delete_floatings ?? false,
      }),
  });

  api.get(`${BASE}/:instance_id/ports`, 'listInstancePorts', 'List network ports of an instance', {
    description: 'In the order of its interfaces, with the security groups of each port.',
    answer: schema.NetworkPortList,
    handler: async ({ scope, params }) => {
      const results = await portsOfInstance(on, scope, params.instance_id);
      return { count: results.length, results };
    },
  });
}

function instanceFilter(query: schema.InstanceListQuery): InstanceFilter {
  return {
    ...query,
    changedSince: dateOf('changes-since', query['changes-since']),
    changedBefore: dateOf('changes-before', query['changes-before']),
    tagValues: [...(query.tag_value ?? []), ...metadataValues(query.metadata_v)],
    none: onlyProtectedOrIsolated(query),
  };
}

const PROFILE_FILTERS = ['profile_name', 'protection_status', 'type_ddos_profile'] as const;

/** Whether the query asks for instances that are isolated or show a DDoS profile. None do. */
function onlyProtectedOrIsolated(query: schema.InstanceListQuery): boolean {
  const given = PROFILE_FILTERS.filter((name) => query[name] !== undefined);
  if (given.length > 0 && !query.with_ddos) {
    throw new InvalidError(given.map((field) => ({ field, message: 'Requires with_ddos=true.' })));
  }
  return given.length > 0 || (query.only_isolated ?? false);
}

function dateOf(field: 'changes-since' | 'changes-before', text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const date = new Date(text);
  // The format allows leap seconds, but a Date doesn't.
  if (Number.isNaN(date.getTime())) {
    throw new InvalidError({ [field]: ['Must be a time such as 2026-05-23T05:07:31Z.'] });
  }
  return date;
}
