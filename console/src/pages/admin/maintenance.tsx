import { $api, OFTEN } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRegionName } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const MAINTENANCES = '/tradewind/v1/platform/maintenances';
/** Stands among the regions, which have numbers. */
const BACKEND = 'backend';

/** What takes in nothing new or changed, so that somebody can work on it. */
export function MaintenancePage() {
  const read = $api.useQuery('get', MAINTENANCES, {}, OFTEN);
  const regionName = useRegionName();
  return (
    <Page
      title="Maintenance"
      actions={
        <>
          <Begin />
          <AsCode calls={[callOf('get', MAINTENANCES, {})]} />
        </>
      }
    >
      <p className="muted">
        Accounts can make and change nothing there; they may delete, and what runs goes on. Begin your work once it is
        drained.
      </p>
      <Table
        caption="What is in maintenance"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'What',
            show: ({ region_id, backend }) =>
              region_id === null ? (
                <>
                  Backend <code>{backend}</code>
                </>
              ) : (
                regionName(region_id)
              ),
          },
          { name: 'Reason', show: ({ reason }) => <span className="long">{reason}</span> },
          { name: 'Since', show: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'State',
            show: ({ drained, unfinished, failing }) =>
              drained ? (
                <span className="badge good">drained</span>
              ) : (
                <>
                  <span className="badge busy">not drained yet</span> {unfinished > 0 && `${unfinished} unfinished`}
                  {failing > 0 && `, ${failing} failing`}
                </>
              ),
          },
          {
            name: 'Actions',
            show: ({ id, region_id, backend }) => (
              <Review
                operation="endMaintenance"
                label="End"
                title={`End the maintenance of ${region_id === null ? backend : regionName(region_id)}?`}
                call={() =>
                  callOf('delete', `${MAINTENANCES}/{maintenance_id}`, { params: { path: { maintenance_id: id } } })
                }
              >
                <p>Accounts can make and change things there again, at once.</p>
              </Review>
            ),
          },
        ]}
        empty={<p>Nothing is in maintenance.</p>}
      />
    </Page>
  );
}

function Begin() {
  const { data } = $api.useQuery('get', '/cloud/v1/regions', {});
  const regions = (data?.results ?? []).map(({ id, display_name }) => ({ value: String(id), text: display_name }));
  return (
    <FormDrawer
      operation="beginMaintenance"
      label="Begin"
      title="Begin a maintenance"
      tone="primary"
      initial={{ region_id: regions[0]?.value ?? BACKEND, backend: '', reason: '' }}
      apply="Begin"
      call={({ region_id, backend, reason }) =>
        callOf('post', MAINTENANCES, {
          body: { reason, ...(region_id === BACKEND ? { backend } : { region_id: Number(region_id) }) },
        })
      }
    >
      {({ values, field }) => (
        <>
          <SelectField
            label="What"
            options={[...regions, { value: BACKEND, text: 'A backend, in all its regions' }]}
            {...field('region_id')}
          />
          {values.region_id === BACKEND && (
            <TextField label="Backend" required {...field('backend')} help="Its name in the catalogue." />
          )}
          <TextField
            label="Reason"
            required
            placeholder="New switches, until 14:00 UTC"
            {...field('reason')}
            help="Accounts see it when something is refused."
          />
        </>
      )}
    </FormDrawer>
  );
}
