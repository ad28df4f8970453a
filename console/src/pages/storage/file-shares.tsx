import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { only, useFilters, usePage } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Bulk } from '../../ui/bulk.tsx';
import { Copy } from '../../ui/copy.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages } from '../../ui/pages.tsx';
import { useSelection } from '../../ui/selection.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const FILTERS = ['name', 'type_name', 'tag_key', 'tag_key_value'];

export function FileShares() {
  const place = usePlace() as Place;
  const page = usePage();
  const filters = only(useFilters(), FILTERS);
  const params = {
    path: pathOf(place),
    query: { ...filters, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } as never,
  };
  const read = $api.useQuery('get', '/cloud/v1/file_shares/{project_id}/{region_id}', { params });
  const { chosen, column, drop } = useSelection(
    read.data?.results,
    ({ id }) => id,
    ({ name }) => name,
  );
  const create = (
    <Link className="button primary" to="/operations/$operation" params={{ operation: 'createFileShare' }}>
      Create a file share
    </Link>
  );
  return (
    <Page
      title="File shares"
      actions={
        <>
          <AsCode calls={[callOf('get', '/cloud/v1/file_shares/{project_id}/{region_id}', { params })]} />
          <Bulk
            operation="deleteFileShare"
            label="Delete"
            items={chosen.map(({ id, name }) => ({
              id,
              name,
              call: callOf('delete', '/cloud/v1/file_shares/{project_id}/{region_id}/{file_share_id}', {
                params: { path: { ...pathOf(place), file_share_id: id } },
              }),
            }))}
            onDone={drop}
          />
          {create}
        </>
      }
    >
      <search className="filters">
        <TextFilter name="name" label="Part of the name" />
        <ChoiceFilter
          name="type_name"
          label="Type"
          options={['standard', 'vast'].map((text) => ({ value: text, text }))}
        />
        <TextFilter name="tag_key" label="Key of a tag" />
        <TextFilter name="tag_key_value" label="Tags as JSON" placeholder='{"team": "web"}' />
      </search>
      <Table
        caption="File shares"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          column,
          { name: 'Name', show: ({ name }) => name },
          { name: 'Status', show: ({ status }) => <State of={status} /> },
          { name: 'Size', number: true, show: ({ size }) => `${size} GiB` },
          { name: 'Type', show: ({ type_name, protocol }) => `${type_name}, ${protocol}` },
          {
            name: 'Mounted from',
            show: ({ connection_point: path }) =>
              path && (
                <span className="row">
                  <code>{path}</code> <Copy text={path} label={`Copy ${path}`} />
                </span>
              ),
          },
          { name: 'Network', show: ({ network_name }) => network_name },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={
          Object.keys(filters).length > 0 ? (
            <p>No file share matches these filters.</p>
          ) : (
            <>
              <p>There is no file share in this project and region.</p>
              {create}
            </>
          )
        }
      />
      <Pages count={read.data?.count ?? 0} page={page} />
    </Page>
  );
}
