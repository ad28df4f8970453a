import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { $api, api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { Fault } from '../../ui/fault.tsx';
import { CheckField, SelectField } from '../../ui/field.tsx';
import { Review } from '../../ui/review.tsx';
import { useGroups } from '../network/groups.tsx';
import { GroupLink, INTERNET, NetworkLink, QuestionLink } from '../network/links.tsx';

const PORTS = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/ports';
const INTERFACES = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/interfaces';
const PORT = '/cloud/v1/ports/{project_id}/{region_id}/{port_id}';

/** The ports of an instance: one list has their groups, the other their networks and addresses. */
export function usePorts(instance: string) {
  const path = { ...pathOf(usePlace() as Place), instance_id: instance };
  return {
    ports: $api.useQuery('get', PORTS, { params: { path } }),
    interfaces: $api.useQuery('get', INTERFACES, { params: { path, query: { limit: 1000 } } }),
  };
}

/** A port in a choice, by its addresses. */
export const portOption = ({
  port_id,
  ip_assignments,
  network_details,
}: Pick<Interface, 'ip_assignments' | 'network_details'> & { port_id: string }) => ({
  value: port_id,
  text: `${ip_assignments.map(({ ip_address }) => ip_address).join(', ')} in ${network_details.name}`,
});

/** The request that gives a port these groups, if it is as it was read: what others have changed is not undone. */
const groupsOf = (place: Place, port: string, etag: string, security_group_ids: string[]) =>
  callOf('patch', PORT, {
    params: { path: { ...pathOf(place), port_id: port } },
    headers: { 'if-match': etag },
    body: { security_group_ids },
  });

/** The groups of a port, with the version that has them. */
function useGroupsOf(port: string | undefined) {
  const place = usePlace() as Place;
  return useQuery({
    queryKey: ['groups of a port', place, port],
    queryFn: async () => {
      const { data, response } = await api.GET(PORT, { params: { path: { ...pathOf(place), port_id: port ?? '' } } });
      return { groups: data?.security_group_ids ?? [], etag: response.headers.get('etag') ?? '*' };
    },
    enabled: port !== undefined,
  });
}

/** Puts a group on a port of an instance that doesn't have it yet. */
export function PutGroup({ group: { id, name } }: { group: { id: string; name: string } }) {
  const place = usePlace() as Place;
  const [instance, setInstance] = useState('');
  const [port, setPort] = useState('');
  const instances = $api.useQuery('get', '/cloud/v1/instances/{project_id}/{region_id}', {
    params: { path: pathOf(place), query: { limit: 1000, order_by: 'name.asc' } },
  });
  const path = { ...pathOf(place), instance_id: instance };
  const chosen = { enabled: instance !== '' };
  const ports = $api.useQuery('get', PORTS, { params: { path } }, chosen);
  const interfaces = $api.useQuery('get', INTERFACES, { params: { path, query: { limit: 1000 } } }, chosen);
  const now = new Map(ports.data?.results.map((one) => [one.id, one.security_groups.map((group) => group.id)]));
  const free = (interfaces.data?.results ?? []).filter(
    ({ port_id, port_security_enabled }) => port_security_enabled && now.get(port_id)?.includes(id) === false,
  );
  const wanted = free.find(({ port_id }) => port_id === port) ?? free[0];
  const known = instance !== '' && ports.data && interfaces.data;
  const read = useGroupsOf(known ? wanted?.port_id : undefined);
  const error = (!ports.data && ports.error) || (!interfaces.data && interfaces.error) || (!read.data && read.error);
  const lack = () => {
    if (instance === '') return 'Choose an instance first';
    if (known && !wanted) return 'Its ports have the group already, or no port security';
    return read.data ? undefined : error ? 'Its ports could not be read' : 'Its ports are being read';
  };
  return (
    <details className="card">
      <summary className="inside">Put it on an instance</summary>
      <div className="form inside">
        <SelectField
          label="Instance"
          value={instance}
          options={[
            { value: '', text: instances.data?.count === 0 ? 'there is none' : 'choose one' },
            ...(instances.data?.results ?? []).map(({ id, name }) => ({ value: id, text: name })),
          ]}
          onChange={setInstance}
        />
        {known && wanted && (
          <SelectField label="Port" value={wanted.port_id} options={free.map(portOption)} onChange={setPort} />
        )}
        {error && <Fault error={error} />}
        {known && !wanted && <p className="muted">Its ports have the group already, or no port security.</p>}
        <div className="row">
          <Review
            operation="updatePort"
            label="Put it there"
            title={`Put ${name} on ${instances.data?.results.find((one) => one.id === instance)?.name}, ${wanted && portOption(wanted).text}?`}
            tone="primary"
            disabled={lack()}
            call={() =>
              wanted && read.data && groupsOf(place, wanted.port_id, read.data.etag, [...read.data.groups, id])
            }
          />
        </div>
      </div>
    </details>
  );
}

/** Ports of an instance as the API lists them, with the groups of each. */
export function Ports({ instance: { id, name } }: { instance: { id: string; name: string } }) {
  const { ports, interfaces } = usePorts(id);
  const error = (!ports.data && ports.error) || (!interfaces.data && interfaces.error);
  if (error) return <Fault error={error} again={() => void Promise.all([ports.refetch(), interfaces.refetch()])} />;
  if (!ports.data || !interfaces.data) return <p className="muted">Reading …</p>;
  if (ports.data.count === 0) return <p className="card empty">This instance has no port.</p>;
  return ports.data.results.map((port) => (
    <Port
      key={port.id}
      port={port}
      of={name}
      there={interfaces.data.results.find(({ port_id }) => port_id === port.id)}
    />
  ));
}

interface Listed {
  id: string;
  name: string;
  security_groups: readonly { id: string; name: string }[];
}
interface Interface {
  mac_address: string | null;
  interface_name: string | null;
  port_security_enabled: boolean;
  ip_assignments: readonly { ip_address: string }[];
  allowed_address_pairs: readonly { ip_address: string }[];
  floatingip_details: readonly { id: string; floating_ip_address: string }[];
  network_details: { id: string; name: string; external: boolean };
}

function Port({ port, of, there }: { port: Listed; of: string; there: Interface | undefined }) {
  const place = usePlace() as Place;
  const on = there?.port_security_enabled ?? true;
  return (
    <section className="card" aria-label={`Port ${port.name}`}>
      <header>
        <h2>{there?.ip_assignments.map(({ ip_address }) => ip_address).join(', ') || port.name}</h2>
        <span className="row end">
          <QuestionLink asked={{ from: INTERNET, to: port.id }} className="button quiet">
            What reaches it
          </QuestionLink>
          <QuestionLink asked={{ from: port.id, to: INTERNET }} className="button quiet">
            What it reaches
          </QuestionLink>
        </span>
      </header>
      <dl className="facts inside">
        <dt>Security groups</dt>
        <dd>
          {port.security_groups.length === 0 ? (
            <span className="muted">{on ? 'none: nothing passes' : 'none: they need port security'}</span>
          ) : (
            <ul className="row chips">
              {port.security_groups.map((group) => (
                <li key={group.id}>
                  <GroupLink {...group} />
                </li>
              ))}
            </ul>
          )}
        </dd>
        <dt>Port security</dt>
        <dd className="row">
          {on ? (
            <span className="badge good">on</span>
          ) : (
            <span className="badge warn exposed">off: everything passes</span>
          )}
          <Review
            operation="updatePort"
            label={on ? 'Turn off' : 'Turn on'}
            title={`Turn port security ${on ? 'off' : 'on'} for a port of ${of}?`}
            tone={on ? 'danger' : 'primary'}
            call={() =>
              callOf('patch', PORT, {
                params: { path: { ...pathOf(place), port_id: port.id } },
                body: { port_security_enabled: !on },
              })
            }
          >
            {on && <p className="note warn">Without it, no rule holds anything back, and the port loses its groups.</p>}
          </Review>
        </dd>
        {there && (
          <>
            <dt>Network</dt>
            <dd>
              <NetworkLink id={there.network_details.id} name={there.network_details.name} />
              {there.network_details.external && <span className="muted"> the internet</span>}
            </dd>
            <dt>Floating IPs</dt>
            <dd className="mono">
              {there.floatingip_details.map(({ floating_ip_address }) => floating_ip_address).join(', ') || '–'}
            </dd>
            <dt>MAC address</dt>
            <dd className="mono">{there.mac_address}</dd>
          </>
        )}
        <dt>ID</dt>
        <dd className="mono">{port.id}</dd>
      </dl>
      {on && (
        <details className="inside">
          <summary>Change its groups</summary>
          <Groups
            key={port.security_groups.map(({ id }) => id).join()}
            now={port.security_groups.map(({ id }) => id)}
            title={`Change the groups of a port of ${of}?`}
            port={port.id}
          />
        </details>
      )}
    </section>
  );
}

function Groups({ now, title, port }: { now: readonly string[]; title: string; port: string }) {
  const place = usePlace() as Place;
  const { options } = useGroups();
  const { data, error } = useGroupsOf(port);
  const [wanted, setWanted] = useState<readonly string[]>(now);
  const isSame = (one: readonly string[], other: readonly string[]) =>
    one.length === other.length && one.every((id) => other.includes(id));
  const lack = isSame(wanted, now)
    ? 'Nothing is changed'
    : data && isSame(data.groups, now)
      ? undefined
      : 'The port is being read';
  return (
    <div className="form">
      <div>
        {options.map(({ value, text }) => (
          <CheckField
            key={value}
            label={text}
            value={wanted.includes(value)}
            onChange={(chosen) => setWanted(chosen ? [...wanted, value] : wanted.filter((id) => id !== value))}
          />
        ))}
      </div>
      {!data && error && <Fault error={error} />}
      <div className="row">
        <Review
          operation="updatePort"
          label="Change groups"
          title={title}
          tone="primary"
          disabled={lack}
          call={() => data && groupsOf(place, port, data.etag, [...wanted])}
        />
      </div>
    </div>
  );
}
