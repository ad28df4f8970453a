import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { given } from '../../lib/search.ts';
import { optionsOf } from '../../ui/choice.tsx';
import { type Form, NumberField, SelectField } from '../../ui/field.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { NextPages } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Table } from '../../ui/table.tsx';
import {
  bodyOf,
  type ForWhom,
  ForWhomFields,
  ListFilters,
  listColumns,
  useListParams,
  whyKept,
} from '../admin/dated-lists.tsx';
import { nameOf, useLimitFields } from './quota-names.ts';

export const QUOTA_LISTS = '/tradewind/v1/quota_lists';

/** What accounts may have: lists that others follow in time. */
export function QuotaLists() {
  const params = useListParams();
  const read = $api.useQuery('get', QUOTA_LISTS, { params });
  return (
    <>
      <ListFilters />
      <Table
        caption="Quota lists, the latest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          ...listColumns('quotas'),
          {
            name: 'Limits',
            show: ({ limits }) => (
              <ul>
                {limits.map(({ quota, region_id, limit }) => (
                  <li key={`${quota} ${region_id}`}>
                    {limit} {nameOf(`${quota}_limit`)} {region_id !== undefined && `in region ${region_id}`}
                  </li>
                ))}
              </ul>
            ),
          },
          {
            name: 'Actions',
            show: ({ id, valid_from }) => (
              <Review
                operation="deleteQuotaList"
                label="Delete"
                tone="danger"
                disabled={whyKept(valid_from)}
                title={`Delete quota list ${id}?`}
                call={() =>
                  callOf('delete', '/tradewind/v1/quota_lists/{quota_list_id}', {
                    params: { path: { quota_list_id: id } },
                  })
                }
              />
            ),
          },
        ]}
        empty={<p>Every account may have what the catalogue says.</p>}
      />
      <NextPages next={read.data?.next_page_token} />
    </>
  );
}

interface Fields extends ForWhom {
  limits: readonly Entry[];
}
interface Entry {
  field: string;
  region_id: number | undefined;
  limit: number | undefined;
}
type NewLimit = NonNullable<Parameters<typeof callOf<'post', typeof QUOTA_LISTS>>[2]>['body']['limits'][number];

const FIRST: Entry = { field: 'vm_count_limit', region_id: undefined, limit: undefined };

export function CreateQuotaList({ clientId }: { clientId: number }) {
  return (
    <FormDrawer<Fields>
      operation="createQuotaList"
      label="Create quota list"
      title="Create a quota list"
      tone="primary"
      initial={{ scope: 'everyone', id: undefined, valid_from: '', limits: [FIRST] }}
      apply="Create"
      call={({ limits, ...forWhom }) =>
        callOf('post', QUOTA_LISTS, {
          body: {
            ...bodyOf(forWhom),
            limits: limits.map(({ field, region_id, limit = 0 }) => ({
              quota: field.replace(/_limit$/, '') as NewLimit['quota'],
              limit,
              ...given({ region_id }),
            })),
          },
        })
      }
    >
      {(form) => <ListFields {...form} clientId={clientId} />}
    </FormDrawer>
  );
}

function ListFields({ values, set, faults, field, clientId }: Form<Fields> & { clientId: number }) {
  const { regions, inRegions, inAll } = useLimitFields(clientId);
  const { limits } = values;
  const change = (at: number, part: Partial<Entry>) =>
    set({ limits: limits.map((one, place) => (place === at ? { ...one, ...part } : one)) });
  return (
    <>
      <ForWhomFields scope={values.scope} field={field} several />
      <fieldset className="part">
        <legend>Limits</legend>
        {faults.limits && (
          <p className="fault" role="alert">
            {faults.limits.join(' ')}
          </p>
        )}
        {limits.map(({ field, region_id, limit }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an entry is its place in the list
          <div key={at} className="entry">
            <SelectField
              label={`Quota ${at + 1}`}
              value={field}
              options={optionsOf(Object.fromEntries([...inRegions, ...inAll].map((one) => [one, nameOf(one)])))}
              onChange={(field) => change(at, { field, region_id: undefined })}
            />
            {inRegions.includes(field) && (
              <SelectField
                label={`Region of quota ${at + 1}`}
                value={String(region_id ?? '')}
                options={[
                  { value: '', text: 'in each region' },
                  ...regions.map(({ id, display_name }) => ({ value: String(id), text: display_name })),
                ]}
                onChange={(id) => change(at, { region_id: id === '' ? undefined : Number(id) })}
              />
            )}
            <NumberField
              label={`Limit of quota ${at + 1}`}
              required
              min={0}
              value={limit}
              onChange={(limit) => change(at, { limit })}
            />
            <button
              type="button"
              className="button quiet"
              onClick={() => set({ limits: limits.filter((_, place) => place !== at) })}
            >
              Remove quota {at + 1}
            </button>
          </div>
        ))}
        <div>
          <button type="button" className="button" onClick={() => set({ limits: [...limits, FIRST] })}>
            Add a quota
          </button>
        </div>
      </fieldset>
    </>
  );
}
