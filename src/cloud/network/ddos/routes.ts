import type { Dialect } from '../../../http/dialect.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import { presentedProfile } from './presenter.ts';
import {
  ActOnDdosProfile,
  CreateDdosProfile,
  DdosProfileList,
  DdosProfileListQuery,
  DdosProfileParams,
  UpdateDdosProfile,
} from './schema.ts';
import {
  actOnDdosProfile,
  createDdosProfile,
  ddosProfileDeletion,
  listDdosProfiles,
  updateDdosProfile,
} from './service.ts';

const PROFILES = '/cloud/v1/ddos/profiles/:project_id/:region_id';
const PROFILE = `${PROFILES}/:profile_id`;
const tags = ['DDoS protection'];

export function ddosRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const started = (task: string | undefined) => dialect.tasks(task === undefined ? [] : [task]);

  app.get(PROFILES, {
    config: { access: 'read' },
    schema: {
      operationId: 'listDdosProfiles',
      summary: 'List DDoS profiles',
      tags,
      params: ProjectRegionParams,
      querystring: DdosProfileListQuery,
      response: { 200: DdosProfileList },
    },
    handler: async ({ scope, query }) => {
      const templates = on.catalog.ddosTemplates(scope.regionId);
      return presentedPage(await listDdosProfiles(on, scope, query), (row) =>
        presentedProfile(row, templates),
      );
    },
  });

  app.post(PROFILES, {
    config: { access: 'operate' },
    schema: {
      operationId: 'createDdosProfile',
      summary: 'Create a DDoS profile',
      description:
        'Protects a public address of an instance or load balancer: one in the external network, or a floating IP that leads there. The profile is removed when the address is given back. Returns 409 if the address has one already.',
      tags,
      params: ProjectRegionParams,
      body: CreateDdosProfile,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, body }) => dialect.tasks([await createDdosProfile(on, scope, body)]),
  });

  app.patch(PROFILE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'updateDdosProfile',
      summary: 'Replace the template and the fields of a DDoS profile',
      description:
        'The address stays: send the same, or null. Returns no task if nothing changes, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the profile.',
      tags,
      params: DdosProfileParams,
      body: UpdateDdosProfile,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      started(await updateDdosProfile(on, scope, params.profile_id, body, dialect)),
  });

  app.post(`${PROFILE}/action`, {
    config: { access: 'operate' },
    schema: {
      operationId: 'actOnDdosProfile',
      summary: 'Activate or deactivate a DDoS profile',
      description:
        'Returns no task if nothing changes, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the profile.',
      tags,
      params: DdosProfileParams,
      body: ActOnDdosProfile,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params, body }) =>
      started(await actOnDdosProfile(on, scope, params.profile_id, body, dialect)),
  });

  app.delete(PROFILE, {
    config: { access: 'operate' },
    schema: {
      operationId: 'deleteDdosProfile',
      summary: 'Delete a DDoS profile',
      tags,
      params: DdosProfileParams,
      response: { 200: dialect.tasksSchema },
    },
    handler: async ({ scope, params }) =>
      dialect.tasks([await deleteOrWait(on, scope, ddosProfileDeletion, params.profile_id)]),
  });
}
