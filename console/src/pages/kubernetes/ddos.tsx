import { $api } from '../../lib/api.ts';
import { changedNames, type Values } from '../../lib/changes.ts';
import type { Schema } from '../../lib/operations.ts';
import { Fault } from '../../ui/fault.tsx';
import { CheckField, SelectField } from '../../ui/field.tsx';
import { SchemaField } from '../../ui/schema-field.tsx';
import type { FieldsProps, Group } from './settings.tsx';

/** Values of the fields of the template are settings of their own, by the ID of the field. */
const FIELD = 'field ';

export const DDOS: Group = {
  name: 'ddos_profile',
  title: 'DDoS protection',
  read(cluster) {
    const profile = cluster?.ddos_profile;
    return {
      enabled: profile?.enabled ?? false,
      template: profile?.profile_template ?? profile?.profile_template_name ?? null,
      ...Object.fromEntries(
        (profile?.fields ?? []).map(({ base_field, field_value }) => [`${FIELD}${base_field}`, field_value]),
      ),
    };
  },
  patch(before, wanted) {
    if (wanted.enabled !== true) return { enabled: false };
    const { template } = wanted;
    const names = changedNames(before, wanted);
    const whole = before.enabled !== true || names.includes('template');
    return {
      enabled: true,
      ...(whole &&
        (typeof template === 'string' ? { profile_template_name: template } : { profile_template: template })),
      // The API replaces the list.
      ...((whole || names.some((name) => name.startsWith(FIELD))) && { fields: fieldsOf(wanted) }),
    };
  },
  Fields,
  labelOf: (name) => ({ enabled: 'Enabled', template: 'Template' })[name] ?? name,
};

/** In the order in which the server names them in its faults. */
const fieldNames = (values: Values): string[] => Object.keys(values).filter((name) => name.startsWith(FIELD));

const fieldsOf = (values: Values) =>
  fieldNames(values).map((name) => ({ base_field: Number(name.slice(FIELD.length)), field_value: values[name] }));

function Fields({ values, onChange, faults, place }: FieldsProps) {
  const { data, error, refetch } = $api.useQuery('get', '/cloud/v1/ddos/profile-templates/{region_id}', {
    params: { path: { region_id: place.region }, query: { limit: 1000 } },
  });
  const templates = data?.results ?? [];
  const template = templates.find(({ id, name }) => id === values.template || name === values.template);
  const order = fieldNames(values);
  return (
    <div className="card">
      <header>
        <h2>Advanced DDoS protection</h2>
      </header>
      <div className="inside form">
        {error && <Fault error={error} again={() => void refetch()} />}
        {data?.results.length === 0 && <p>This region offers no protection of this kind.</p>}
        <CheckField
          label="Protect the cluster"
          value={values.enabled === true}
          onChange={(enabled) => onChange(enabled ? { ...values, enabled } : { enabled: false, template: null })}
          help="Switched off, its settings are removed."
        />
        {values.enabled === true && (
          <>
            <SelectField
              label="Template"
              value={template ? String(template.id) : ''}
              onChange={(id) => onChange({ enabled: true, template: id === '' ? null : Number(id) })}
              options={[
                { value: '', text: 'Choose one' },
                ...templates.map(({ id, name }) => ({ value: String(id), text: name })),
              ]}
              help={template?.description ?? 'What is protected decides which fields there are.'}
              faults={faults.profile_template ?? faults.profile_template_name ?? faults['']}
              required
            />
            {faults.fields && (
              <p className="fault" role="alert">
                {faults.fields.join(' ')}
              </p>
            )}
            {template?.fields.map((field) => {
              const name = `${FIELD}${field.id}`;
              const at = order.indexOf(name);
              const wrong = faults[`fields.${at}.field_value`] ?? faults[`fields.${at}.base_field`];
              const schema = (field.validation_schema ?? {}) as Schema;
              return (
                <div key={field.id}>
                  <SchemaField
                    name={field.name}
                    schema={{
                      ...schema,
                      description: [field.description, field.default !== null && `Default: ${field.default}.`]
                        .filter(Boolean)
                        .join(' '),
                      ...(field.default !== null && { examples: [field.default] }),
                    }}
                    required={field.required === true && field.default === null}
                    value={values[name] ?? undefined}
                    onChange={(value) => {
                      const { [name]: _, ...rest } = values;
                      onChange(value === undefined ? rest : { ...rest, [name]: value });
                    }}
                    resolve={(one) => one}
                    faults={wrong ? { [field.name]: wrong } : {}}
                  />
                  {wrong && (schema.type === 'array' || schema.type === 'object') && (
                    <p className="fault" role="alert">
                      {wrong.join(' ')}
                    </p>
                  )}
                </div>
              );
            })}
          </>
        )}
      </div>
    </div>
  );
}
