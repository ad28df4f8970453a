import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf } from '../../lib/place.ts';
import { only, type Search } from '../../lib/search.ts';
import { optionsOf } from '../../ui/choice.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { Money } from '../../ui/money.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';

const LIST = '/cloud/v1/images/{project_id}/{region_id}';
const ONE = '/cloud/v1/images/{project_id}/{region_id}/{image_id}';
const FILTERS = ['name', 'os_distro', 'os_version', 'architecture', 'visibility', 'tag_key', 'tag_key_value'];
const BYTES = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });

Images.reads = (search: Search, place: Place) =>
  $api.queryOptions('get', LIST, {
    params: {
      path: pathOf(place),
      query: { ...only(search, FILTERS), include_prices: true, ...pagingOf(search) },
    },
  });

export function Images() {
  const { read, call, place } = useRead(Images.reads);
  return (
    <ListPage
      title="Images"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteImage',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', ONE, { params: { path: { ...pathOf(place), image_id: id } } }),
        },
      ]}
      create={
        <Link className="button primary" to="/p/$project/r/$region/images/new" params={place}>
          Create an image
        </Link>
      }
      filters={
        <>
          <TextFilter name="name" label="Part of the name" />
          <TextFilter name="os_distro" label="Distribution" />
          <TextFilter name="os_version" label="Version" />
          <ChoiceFilter name="architecture" label="Architecture" options={optionsOf(['x86_64', 'aarch64'])} />
          <ChoiceFilter name="visibility" label="Owner" options={optionsOf(['public', 'private', 'shared'])} />
          <TextFilter name="tag_key" label="Key of a tag" />
          <TextFilter name="tag_key_value" label="Tags as JSON" placeholder='{"team": "web"}' />
        </>
      }
      filtered
      empty="No image matches these filters."
      columns={[
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
          name: 'Licence, a month',
          number: true,
          show: ({ price_per_month, currency_code }) => <Money amount={price_per_month} currency={currency_code} />,
        },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}
