import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { Fault } from '../../ui/fault.tsx';
import { CheckField } from '../../ui/field.tsx';
import { Review } from '../../ui/review.tsx';
import { useGroups } from '../network/groups.tsx';
import { GroupLink, NetworkLink, QuestionLink } from '../network/links.tsx';

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
  const update = (body: { port_security_enabled: boolean } | { security_group_ids: string[] }) =>
    callOf('patch', PORT, { params: { path: { ...pathOf(place), port_id: port.id } }, body });
  return (
    <section className="card" aria-label={`Port ${port.name}`}>
      <header>
        <h2>{there?.ip_assignments.map(({ ip_address }) => ip_address).join(', ') || port.name}</h2>
        <span className="row end">
          <QuestionLink asked={{ to: port.id }} className="button quiet">
            What reaches it
          </QuestionLink>
          <QuestionLink asked={{ from: port.id }} className="button quiet">
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
            call={() => update({ port_security_enabled: !on })}
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
            call={(security_group_ids) => update({ security_group_ids })}
          />
        </details>
      )}
    </section>
  );
}

function Groups({
  now,
  title,
  call,
}: {
  now: readonly string[];
  title: string;
  call: (ids: string[]) => ReturnType<typeof callOf>;
}) {
  const { options } = useGroups();
  const [wanted, setWanted] = useState<readonly string[]>(now);
  const same = wanted.length === now.length && wanted.every((id) => now.includes(id));
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
      <div className="row">
        <Review
          operation="updatePort"
          label="Change groups"
          title={title}
          tone="primary"
          disabled={same ? 'Nothing is changed' : undefined}
          call={() => call([...wanted])}
        />
      </div>
    </div>
  );
}
