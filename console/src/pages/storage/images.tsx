import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { only, useFilters, usePage } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Bulk } from '../../ui/bulk.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { Money } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages } from '../../ui/pages.tsx';
import { useSelection } from '../../ui/selection.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const FILTERS = ['name', 'os_distro', 'os_version', 'architecture', 'visibility', 'tag_key', 'tag_key_value'];
const BYTES = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

const options = (...values: string[]) => values.map((text) => ({ value: text, text }));

export function Images() {
  const place = usePlace() as Place;
  const page = usePage();
  const filters = only(useFilters(), FILTERS);
  const params = {
    path: pathOf(place),
    query: { ...filters, include_prices: true, limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } as never,
  };
  const read = $api.useQuery('get', '/cloud/v1/images/{project_id}/{region_id}', { params });
  const { chosen, column, drop } = useSelection(
    read.data?.results,
    ({ id }) => id,
    ({ name }) => name,
  );
  return (
    <Page
      title="Images"
      actions={
        <>
          <AsCode calls={[callOf('get', '/cloud/v1/images/{project_id}/{region_id}', { params })]} />
          <Bulk
            operation="deleteImage"
            label="Delete"
            items={chosen.map(({ id, name }) => ({
              id,
              name,
              call: callOf('delete', '/cloud/v1/images/{project_id}/{region_id}/{image_id}', {
                params: { path: { ...pathOf(place), image_id: id } },
              }),
            }))}
            onDone={drop}
          />
          <Link className="button" to="/operations/$operation" params={{ operation: 'downloadImage' }}>
            Fetch an image from a URL
          </Link>
          <Link className="button" to="/operations/$operation" params={{ operation: 'createImage' }}>
            Create one from a volume
          </Link>
        </>
      }
    >
      <search className="filters">
        <TextFilter name="name" label="Part of the name" />
        <TextFilter name="os_distro" label="Distribution" />
        <TextFilter name="os_version" label="Version" />
        <ChoiceFilter name="architecture" label="Architecture" options={options('x86_64', 'aarch64')} />
        <ChoiceFilter name="visibility" label="Owner" options={options('public', 'private', 'shared')} />
        <TextFilter name="tag_key" label="Key of a tag" />
        <TextFilter name="tag_key_value" label="Tags as JSON" placeholder='{"team": "web"}' />
      </search>
      <Table
        caption="Images"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          column,
          { name: 'Name', show: ({ name }) => name },
          { name: 'Status', show: ({ status }) => <State of={status} /> },
          { name: 'System', show: ({ os_type, os_distro, os_version }) => `${os_distro || os_type} ${os_version}` },
          { name: 'Architecture', show: ({ architecture }) => architecture },
          {
            name: 'Size',
            number: true,
            show: ({ size }) => (size === null ? '' : `${BYTES.format(size / 2 ** 30)} GiB`),
          },
          { name: 'Needs', show: ({ min_disk, min_ram }) => `${min_disk} GiB of disk, ${min_ram} MiB of memory` },
          { name: 'Owner', show: ({ visibility }) => (visibility === 'public' ? 'the platform' : 'this project') },
          {
            name: 'A month',
            number: true,
            show: ({ price_per_month, currency_code }) => <Money amount={price_per_month} currency={currency_code} />,
          },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={<p>No image matches these filters.</p>}
      />
      <Pages count={read.data?.count ?? 0} page={page} />
    </Page>
  );
}
