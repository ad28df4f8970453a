import { useId } from 'react';
import { $api } from '../../lib/api.ts';
import { changedNames } from '../../lib/changes.ts';
import { pathOf } from '../../lib/place.ts';
import { Fault } from '../../ui/fault.tsx';
import { CheckField, Field, NumberField, SelectField } from '../../ui/field.tsx';
import { textOf } from '../../ui/schema-field.tsx';
import type { FieldsProps, Group } from './settings.tsx';

const LABELS: Readonly<Record<string, string>> = {
  enabled: 'Forwarding',
  destination_region_id: 'Region that stores the logs',
  topic_name: 'Topic',
  retention_policy: 'Kept for',
};

export const LOGGING: Group = {
  name: 'logging',
  title: 'Logging',
  read: (cluster) => ({
    enabled: false,
    destination_region_id: null,
    topic_name: null,
    retention_policy: null,
    ...cluster?.logging,
  }),
  patch: (before, wanted) => Object.fromEntries(changedNames(before, wanted).map((name) => [name, wanted[name]])),
  Fields,
  labelOf: (name) => LABELS[name] ?? name,
};

const DAYS = 45;

function Fields({ values, onChange, faults, place }: FieldsProps) {
  const topicsId = useId();
  const set = (change: object) => onChange({ ...values, ...change });
  const destinations = $api.useQuery('get', '/cloud/v1/laas/{region_id}/destination_regions', {
    params: { path: { region_id: place.region }, query: { limit: 1000 } },
  });
  const topics = $api.useQuery('get', '/cloud/v1/laas/{project_id}/{region_id}/topics', {
    params: { path: pathOf(place), query: { limit: 1000 } },
  });
  const retention = values.retention_policy as { period: number | null } | null;
  const kept = retention === null ? 'unset' : retention.period === null ? 'forever' : 'days';
  const known = topics.data?.results.find(({ name }) => name === values.topic_name);
  return (
    <div className="card">
      <header>
        <h2>Log forwarding</h2>
      </header>
      <div className="inside form">
        {destinations.error && <Fault error={destinations.error} again={() => void destinations.refetch()} />}
        <CheckField
          label="Forward the logs of the cluster"
          value={values.enabled === true}
          onChange={(enabled) => set({ enabled })}
          help="Switched off, the topic and what it has stay."
        />
        <SelectField
          label="Region that stores the logs"
          value={textOf(values.destination_region_id ?? '')}
          onChange={(id) => set({ destination_region_id: id === '' ? null : Number(id) })}
          options={[
            { value: '', text: destinations.data?.results.length === 0 ? 'This region has none' : 'Choose one' },
            ...(destinations.data?.results ?? []).map(({ region_id, region_name }) => ({
              value: String(region_id),
              text: region_name,
            })),
          ]}
          help="Forwarding needs one."
          faults={faults.destination_region_id}
          required={values.enabled === true}
        />
        <Field
          label="Topic"
          help={
            known
              ? `This topic exists and holds ${known.size_in_bytes.toLocaleString()} bytes.`
              : 'One of those that exist, or a new name. Without one, it is named after the cluster.'
          }
          faults={faults.topic_name}
        >
          {(ids) => (
            <>
              <input
                {...ids}
                className="input"
                list={topicsId}
                value={(values.topic_name as string | null) ?? ''}
                onChange={({ target }) => set({ topic_name: target.value === '' ? null : target.value })}
              />
              <datalist id={topicsId}>
                {topics.data?.results.map(({ name }) => (
                  <option key={name} value={name} />
                ))}
              </datalist>
            </>
          )}
        </Field>
        <SelectField
          label="Kept for"
          value={kept}
          onChange={(kind) =>
            set({ retention_policy: kind === 'unset' ? null : { period: kind === 'forever' ? null : DAYS } })
          }
          options={[
            { value: 'unset', text: 'as the topic has it' },
            { value: 'days', text: 'a number of days' },
            { value: 'forever', text: 'forever' },
          ]}
          faults={faults.retention_policy}
        />
        {kept === 'days' && (
          <NumberField
            label="Days"
            value={retention?.period ?? undefined}
            onChange={(period) => set({ retention_policy: { period: period ?? 0 } })}
            min={1}
            max={1825}
            help="1 to 1825 days."
            faults={faults['retention_policy.period']}
          />
        )}
      </div>
    </div>
  );
}
