import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { only, type Search, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Bulk } from '../../ui/bulk.tsx';
import { Filters, TextFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Pages, usePaging } from '../../ui/pages.tsx';
import { useSelection } from '../../ui/selection.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { VolumeLink } from '../network/links.tsx';

const FILTERS = ['volume_id', 'instance_id', 'schedule_id', 'lifecycle_policy_id'];

export function Snapshots() {
  const place = usePlace() as Place;
  const filters = only(useFilters(), FILTERS);
  return (
    <Page
      title="Snapshots"
      actions={
        <AsCode
          calls={[
            callOf('get', '/cloud/v1/snapshots/{project_id}/{region_id}', {
              params: { path: pathOf(place), query: filters },
            }),
          ]}
        />
      }
    >
      <Filters>
        <TextFilter name="volume_id" label="Volume ID" />
        <TextFilter name="instance_id" label="Instance ID" />
        <TextFilter name="schedule_id" label="Schedule ID" />
        <TextFilter name="lifecycle_policy_id" label="Policy ID" />
      </Filters>
      <SnapshotList
        filters={filters}
        empty={
          Object.keys(filters).length > 0 ? (
            <p>No snapshot matches.</p>
          ) : (
            <>
              <p>There is no snapshot yet. One is taken on the page of a volume.</p>
              <Link className="button" to="/p/$project/r/$region/volumes" params={place}>
                Go to the volumes
              </Link>
            </>
          )
        }
      />
    </Page>
  );
}

/** Snapshots, with what can be done with many of them. */
export function SnapshotList({ filters, empty }: { filters: Search; empty: ReactNode }) {
  const place = usePlace() as Place;
  const read = $api.useQuery('get', '/cloud/v1/snapshots/{project_id}/{region_id}', {
    params: {
      path: pathOf(place),
      query: { ...filters, ...usePaging() },
    },
  });
  const volumes = $api.useQuery('get', '/cloud/v1/volumes/{project_id}/{region_id}', {
    params: { path: pathOf(place), query: { limit: 1000 } },
  });
  const names = new Map(volumes.data?.results.map(({ id, name }) => [id, name]));
  const { chosen, column, drop } = useSelection(
    read.data?.results,
    ({ id }) => id,
    ({ name }) => name,
  );
  return (
    <>
      <div className="row">
        <Bulk
          operation="deleteSnapshot"
          label="Delete"
          done="Deleted"
          noun="snapshots"
          items={chosen.map(({ id, name }) => ({
            id,
            name,
            call: callOf('delete', '/cloud/v1/snapshots/{project_id}/{region_id}/{snapshot_id}', {
              params: { path: { ...pathOf(place), snapshot_id: id } },
            }),
          }))}
          onDone={drop}
        />
      </div>
      <Table
        caption="Snapshots"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          column,
          { name: 'Name', show: ({ name }) => name },
          { name: 'Status', show: ({ status }) => <State of={status} /> },
          { name: 'Size', number: true, show: ({ size }) => `${size} GiB` },
          {
            name: 'Volume',
            show: ({ volume_id }) => <VolumeLink id={volume_id} name={names.get(volume_id)} />,
          },
          { name: 'Description', show: ({ description }) => description ?? '' },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Use',
            show: ({ id, name }) => (
              <Link
                to="/p/$project/r/$region/volumes/new"
                params={place}
                search={{ snapshot_id: id } as never}
                aria-label={`Create a volume from ${name}`}
              >
                Create a volume
              </Link>
            ),
          },
        ]}
        empty={empty}
      />
      <Pages count={read.data?.count ?? 0} />
    </>
  );
}
