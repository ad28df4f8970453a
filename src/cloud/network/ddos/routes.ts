import type { Dialect } from '../../../http/dialect.ts';
import { operations } from '../../../http/operations.ts';
import type { Api } from '../../../http/server.ts';
import { presentedPage } from '../../../lib/page.ts';
import { ProjectRegionParams } from '../../../lib/wire.ts';
import type { Platform } from '../../../platform.ts';
import { type DdosTemplate, type DdosTemplateAnswer, presentDdosTemplate } from '../../ground/catalog/schema.ts';
import { deleteOrWait } from '../../ground/tasks/behind/service.ts';
import * as schema from './schema.ts';
import * as ddos from './service.ts';
import type { ProfileRow } from './store.ts';

/** Presents a profile with its template among those that the region offers. */
export function presentedProfile(row: ProfileRow, templates: readonly DdosTemplate[]): schema.DdosProfileAnswer {
  const found = templates.find(({ id }) => id === row.template_id);
  const template: DdosTemplateAnswer | null = found ? presentDdosTemplate(found) : null;
  return {
    id: row.id,
    ip_address: row.address,
    managed_by: 'user',
    options: { active: row.active, bgp: row.bgp },
    status: { status: row.status, error_description: row.error_description },
    profile_template: template,
    profile_template_description: template?.description ?? null,
    fields: row.fields.flatMap(({ base_field, field_value }) => {
      const field = template?.fields.find(({ id }) => id === base_field);
      return field ? [{ ...field, base_field, field_value }] : [];
    }),
    site: null,
    protocols: null,
  };
}

const PROFILES = '/cloud/v1/ddos/profiles/:project_id/:region_id';
const PROFILE = `${PROFILES}/:profile_id`;
const tags = ['DDoS protection'];

export function ddosRoutes(app: Api, dialect: Dialect, on: Platform): void {
  const api = operations(app, { dialect, tags, params: schema.DdosProfileParams });

  api.get(PROFILES, 'listDdosProfiles', 'List DDoS profiles', {
    params: ProjectRegionParams,
    query: schema.DdosProfileListQuery,
    answer: schema.DdosProfileList,
    handler: async ({ scope, query }) => {
      const templates = on.catalog.ddosTemplates(scope.regionId);
      return presentedPage(await ddos.listDdosProfiles(on, scope, query), (row) => presentedProfile(row, templates));
    },
  });

  api.post(PROFILES, 'createDdosProfile', 'Create a DDoS profile', {
    description:
      'Protects a public address of an instance or load balancer: one in the external network, or a floating IP that leads there. The profile is removed when the address is given back. Returns 409 if the address has one already.',
    params: ProjectRegionParams,
    body: schema.CreateDdosProfile,
    task: ({ scope, body }) => ddos.createDdosProfile(on, scope, body),
  });

  api.patch(PROFILE, 'updateDdosProfile', 'Replace the template and the fields of a DDoS profile', {
    description:
      'The address stays: send the same, or null. Returns no task if nothing changes, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the profile.',
    body: schema.UpdateDdosProfile,
    task: ({ scope, params, body }) => ddos.updateDdosProfile(on, scope, params.profile_id, body, dialect),
  });

  api.post(`${PROFILE}/action`, 'actOnDdosProfile', 'Activate or deactivate a DDoS profile', {
    description:
      'Returns no task if nothing changes, and under `/gcore` one that is FINISHED. Returns 409 while a task holds the profile.',
    body: schema.ActOnDdosProfile,
    task: ({ scope, params, body }) => ddos.actOnDdosProfile(on, scope, params.profile_id, body, dialect),
  });

  api.delete(PROFILE, 'deleteDdosProfile', 'Delete a DDoS profile', {
    task: ({ scope, params }) => deleteOrWait(on, scope, ddos.ddosProfileDeletion, params.profile_id),
  });
}
