import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import type { Search } from '../../lib/search.ts';
import { CheckField, SelectField, TextField, useForm } from '../../ui/field.tsx';
import { TextFilter } from '../../ui/filters.tsx';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { NewForm } from '../../ui/page.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { Changing, NetworkLink } from './links.tsx';

const LIST = '/cloud/v1/routers/{project_id}/{region_id}';
const ONE = '/cloud/v1/routers/{project_id}/{region_id}/{router_id}';

Routers.reads = (search: Search, place: Place) => {
  const { name } = search;
  return $api.queryOptions('get', LIST, {
    params: {
      path: pathOf(place),
      query: { ...pagingOf(search), ...(name && { name }) },
    },
  });
};

export function Routers() {
  const {
    read,
    call,
    filters: { name },
    place,
  } = useRead(Routers.reads);
  const subnets = useSubnets();
  return (
    <ListPage
      title="Routers"
      caption="Routers, the newest first"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteRouter',
          label: 'Delete',
          done: 'Deleted',
          call: ({ id }) => callOf('delete', ONE, { params: { path: { ...pathOf(place), router_id: id } } }),
        },
      ]}
      bulkBelow
      filters={<TextFilter name="name" label="Name" placeholder="the whole name" />}
      empty={name ? 'No router has this name.' : 'There is no router in this project and region.'}
      columns={[
        { name: 'Name', show: ({ name }) => name },
        { name: 'Status', show: ({ status }) => <State of={status} /> },
        {
          name: 'To the internet',
          show: ({ external_gateway_info: outside }) =>
            outside ? (
              <span className="mono">{outside.external_fixed_ips.map(({ ip_address }) => ip_address).join(', ')}</span>
            ) : (
              <span className="muted">no</span>
            ),
        },
        {
          name: 'Subnets',
          show: ({ id, name, interfaces }) => (
            <ul>
              {interfaces.flatMap(({ network_id, ip_assignments }) =>
                ip_assignments.map(({ ip_address, subnet_id }) => {
                  const subnet = subnets.find((one) => one.value === subnet_id)?.text ?? subnet_id;
                  return (
                    <li key={subnet_id} className="row tight">
                      <NetworkLink id={network_id} name={subnet} /> <span className="mono">{ip_address}</span>
                      <Review
                        operation="detachSubnetFromRouter"
                        label={`Detach ${subnet}`}
                        title={`Detach ${subnet} from ${name}?`}
                        tone="quiet"
                        call={() =>
                          callOf('post', '/cloud/v1/routers/{project_id}/{region_id}/{router_id}/detach', {
                            params: { path: { ...pathOf(place), router_id: id } },
                            body: { subnet_id },
                          })
                        }
                      />
                    </li>
                  );
                }),
              )}
            </ul>
          ),
        },
        {
          name: 'Attach',
          show: ({ id, name, interfaces }) => (
            <Attach
              id={id}
              name={name}
              free={subnets.filter(
                ({ value }) =>
                  !interfaces.some(({ ip_assignments }) => ip_assignments.some((one) => one.subnet_id === value)),
              )}
            />
          ),
        },
        { name: 'Task', show: ({ task_id }) => <Changing task={task_id} /> },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    >
      <NewRouter subnets={subnets} />
    </ListPage>
  );
}

function useSubnets() {
  const place = usePlace() as Place;
  const { data } = $api.useQuery('get', '/cloud/v1/subnets/{project_id}/{region_id}', {
    params: { path: pathOf(place), query: { limit: 1000 } },
  });
  return (data?.results ?? []).map(({ id, name, cidr }) => ({ value: id, text: `${name} ${cidr}` }));
}

type Subnets = ReturnType<typeof useSubnets>;

function Attach({ id, name, free }: { id: string; name: string; free: Subnets }) {
  const place = usePlace() as Place;
  const [open, setOpen] = useState(false);
  const [chosen, setChosen] = useState('');
  if (free.length === 0) return <span className="muted">no subnet is left</span>;
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Attach a subnet<span className="hidden"> to {name}</span>
      </summary>
      {open && (
        <>
          <SelectField
            label={`Subnet for ${name}`}
            value={chosen}
            options={[{ value: '', text: 'choose one' }, ...free]}
            onChange={setChosen}
          />
          <Review
            operation="attachSubnetToRouter"
            label="Attach"
            title={`Attach a subnet to ${name}?`}
            disabled={chosen === '' ? 'Choose a subnet first' : undefined}
            call={() =>
              callOf('post', '/cloud/v1/routers/{project_id}/{region_id}/{router_id}/attach', {
                params: { path: { ...pathOf(place), router_id: id } },
                body: { subnet_id: chosen },
              })
            }
            onApplied={() => setChosen('')}
          />
        </>
      )}
    </details>
  );
}

function NewRouter({ subnets }: { subnets: Subnets }) {
  const place = usePlace() as Place;
  const { values, field, reset, take } = useForm({ name: '', outside: true, subnet: '' });
  return (
    <NewForm title="New router">
      <TextField label="Name" required maxLength={63} {...field('name')} />
      <CheckField label="It leads to the internet" {...field('outside')} />
      <SelectField
        label="First subnet"
        help="Others can be attached later."
        options={[{ value: '', text: 'none' }, ...subnets]}
        {...field('subnet')}
      />
      <div className="row">
        <Review
          operation="createRouter"
          label="Create"
          title={`Create router ${values.name}?`}
          tone="primary"
          disabled={values.name === '' ? 'Give it a name first' : undefined}
          call={() =>
            callOf('post', LIST, {
              params: { path: pathOf(place) },
              body: {
                name: values.name,
                ...(values.outside && { external_gateway_info: { type: 'default' as const, enable_snat: true } }),
                ...(values.subnet && { interfaces: [{ type: 'subnet' as const, subnet_id: values.subnet }] }),
              },
            })
          }
          onRefused={take}
          onApplied={() => reset()}
        />
      </div>
    </NewForm>
  );
}
