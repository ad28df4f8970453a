import { $api } from '../../lib/api.ts';
import { pathOf } from '../../lib/place.ts';
import { CheckField, NumberField, SelectField } from '../../ui/field.tsx';
import type { FieldsProps, Group } from './settings.tsx';

const LABELS: Readonly<Record<string, string>> = {
  enabled: 'Slurm',
  file_share_id: 'File share',
  ssh_key_ids: 'SSH keys',
  worker_count: 'Workers',
};

export const ADD_ONS: Group = {
  name: 'add_ons',
  title: 'Add-ons',
  read: (cluster) => ({
    ...(cluster?.add_ons.slurm ?? { enabled: false, file_share_id: null, ssh_key_ids: null, worker_count: null }),
  }),
  patch: (_before, { enabled, file_share_id, ssh_key_ids, worker_count }) => ({
    slurm: enabled
      ? {
          enabled,
          // Slurm is sent as a whole.
          ...(file_share_id !== null && { file_share_id }),
          ...(ssh_key_ids !== null && { ssh_key_ids }),
          ...(worker_count !== null && { worker_count }),
        }
      : { enabled: false },
  }),
  Fields,
  labelOf: (name) => LABELS[name] ?? name,
};

function Fields({ values, before, onChange, faults, place, cluster }: FieldsProps) {
  const set = (change: object) => onChange({ ...values, ...change });
  const faultsOf = (name: string) => faults[`slurm.${name}`];
  const shares = $api.useQuery('get', '/cloud/v1/file_shares/{project_id}/{region_id}', {
    params: { path: pathOf(place), query: { limit: 1000, type_name: 'vast' } },
  });
  const keys = $api.useQuery('get', '/cloud/v1/ssh_keys/{project_id}', {
    params: { path: { project_id: place.project }, query: { limit: 1000 } },
  });
  const chosen = (values.ssh_key_ids ?? []) as string[];
  const standing = before.enabled === true;
  return (
    <div className="card">
      <header>
        <h2>Slurm</h2>
        <span className="muted">
          Runs batch jobs on GPU nodes. Needs Kubernetes 1.31 or 1.32, a pool with GPUs, and VAST NFS since creation.
        </span>
      </header>
      <div className="inside form">
        <CheckField
          label="Enable Slurm"
          value={values.enabled === true}
          onChange={(enabled) =>
            onChange(
              enabled
                ? { ...before, enabled }
                : { enabled: false, file_share_id: null, ssh_key_ids: null, worker_count: null },
            )
          }
          faults={faultsOf('enabled')}
        />
        {values.enabled === true && (
          <>
            <SelectField
              label="File share"
              value={(values.file_share_id as string | null) ?? ''}
              onChange={(id) => set({ file_share_id: id === '' ? null : id })}
              options={[
                {
                  value: '',
                  text: shares.data?.results.length === 0 ? 'This project has no VAST share' : 'Choose one',
                },
                ...(shares.data?.results ?? []).map(({ id, name }) => ({ value: id, text: name })),
              ]}
              help={
                standing
                  ? 'Stays as long as Slurm is enabled.'
                  : 'A VAST share without root squash, with path length and characters NPL, for the spools and the jail.'
              }
              faults={faultsOf('file_share_id')}
              required
            />
            <fieldset className="field">
              <legend className="label">SSH keys</legend>
              {keys.data?.results.map(({ id, name }) => (
                <CheckField
                  key={id}
                  label={name}
                  value={chosen.includes(id)}
                  onChange={(on) => {
                    const next = on ? [...chosen, id] : chosen.filter((one) => one !== id);
                    set({ ssh_key_ids: next.length === 0 ? null : next });
                  }}
                />
              ))}
              <p className="help">They may log in to the login nodes.</p>
              <p className="fault" role="alert">
                {Object.entries(faults)
                  .flatMap(([name, texts]) => (name.startsWith('slurm.ssh_key_ids') ? texts : []))
                  .join(' ')}
              </p>
            </fieldset>
            <NumberField
              label="Workers"
              value={(values.worker_count as number | null) ?? undefined}
              onChange={(count) => set({ worker_count: count ?? null })}
              min={1}
              max={10_000}
              help="Each on a GPU node of its own. The number can only grow."
              faults={faultsOf('worker_count')}
              required
            />
          </>
        )}
        {cluster && !cluster.csi.nfs.vast_enabled && values.enabled !== true && (
          <p className="muted">This cluster was created without VAST NFS, so the server will refuse Slurm.</p>
        )}
      </div>
    </div>
  );
}
