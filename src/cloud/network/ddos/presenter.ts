import { type DdosTemplateAnswer, presentDdosTemplate } from '../../ground/catalog/ddos-schema.ts';
import type { DdosTemplate } from '../../ground/catalog/schema.ts';
import type { DdosProfileAnswer } from './schema.ts';
import type { ProfileRow } from './store.ts';

/** Presents a profile with its template among those that the region offers. */
export function presentedProfile(row: ProfileRow, templates: readonly DdosTemplate[]): DdosProfileAnswer {
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
