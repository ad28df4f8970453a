import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf } from '../../lib/place.ts';
import { only, type Search } from '../../lib/search.ts';
import { optionsOf } from '../../ui/choice.tsx';
import { Copy } from '../../ui/copy.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';

const LIST = '/cloud/v1/file_shares/{project_id}/{region_id}';
const ONE = '/cloud/v1/file_shares/{project_id}/{region_id}/{file_share_id}';
const FILTERS = ['name', 'type_name', 'tag_key', 'tag_key_value'];

FileShares.reads = (search: Search, place: Place) =>
  $api.queryOptions('get', LIST, {
    params: { path: pathOf(place), query: { ...only(search, FILTERS), ...pagingOf(search) } },
  });

export function FileShares() {
  const { read, call, filters: search, place } = useRead(FileShares.reads);
  const filters = only(search, FILTERS);
  const filtered = Object.keys(filters).length > 0;
  return (
    <ListPage
      title="File shares"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteFileShare',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', ONE, { params: { path: { ...pathOf(place), file_share_id: id } } }),
        },
      ]}
      create={
        <Link className="button primary" to="/p/$project/r/$region/file-shares/new" params={place}>
          Create a file share
        </Link>
      }
      filtered={filtered}
      filters={
        <>
          <TextFilter name="name" label="Part of the name" />
          <ChoiceFilter name="type_name" label="Type" options={optionsOf(['standard', 'vast'])} />
          <TextFilter name="tag_key" label="Key of a tag" />
          <TextFilter name="tag_key_value" label="Tags as JSON" placeholder='{"team": "web"}' />
        </>
      }
      empty={filtered ? 'No file share matches these filters.' : 'There is no file share in this project and region.'}
      columns={[
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
    />
  );
}
