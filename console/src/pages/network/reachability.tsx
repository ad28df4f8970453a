import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useEffectEvent, useState } from 'react';
import type { paths } from '../../../types/api.d.ts';
import { $api, api, queries } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { type Search, useFilters, useSetFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { Fault } from '../../ui/fault.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { Page } from '../../ui/page.tsx';
import { portOption } from '../compute/ports.tsx';
import { useGroups } from './groups.tsx';
import { GroupLink, INTERNET, InstanceLink, type Question, questionOf, Sentence } from './links.tsx';
import { hasPorts, isPort, PORT_PROTOCOLS, PROTOCOLS, type Rule, ruleOf } from './rules.ts';

const ASK = '/tradewind/v1/reachability';
const INTERFACES = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/interfaces';
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;

type Answer = paths[typeof ASK]['get']['responses'][200]['content']['application/json'];
type Flow = Answer['flows'][number];
type Side = NonNullable<Flow['egress']>;

/** What passes, as the API is asked about it. */
export const trafficOf = ({ protocol, port }: Question) => ({
  ...(protocol && { protocol: protocol as 'tcp' }),
  ...(port && isPort(port) && hasPorts(protocol) && { port: Number(port) }),
});

/** The request that answers whether something passes between two ports, or a port and something else. */
const requestBetween = (from: string, to: string, asked: Question) => ({
  params: { query: { from, to, ...trafficOf(asked) } },
});

/** Whether something reaches something: the question is in the address. */
export function Reachability() {
  const place = usePlace() as Place;
  const asked = questionOf(useFilters());
  const change = useSetFilters();
  const { from = '', to = '' } = asked;
  const [kinds, setKinds] = useState<Partial<Record<'from' | 'to', Kind>>>({});
  const ends = { from: kindOf(from, kinds.from), to: kindOf(to, kinds.to) };
  const missing = [
    ...(from === '' ? [`who sends: ${MISSING[ends.from]} under “From”`] : []),
    ...(to === '' ? [`who receives: ${MISSING[ends.to]} under “To”`] : []),
    ...(from && to && ends.from !== 'instance' && ends.to !== 'instance'
      ? ['an instance: one of both has to be one']
      : []),
  ];
  function ask(form: HTMLFormElement) {
    if (missing.length === 0) void queries.invalidateQueries({ queryKey: ['get', ASK] });
    else {
      const fields = `[data-end="${from === '' ? 'from' : 'to'}"] :is(input, select)`;
      [...form.querySelectorAll<HTMLElement>(fields)].at(-1)?.focus();
    }
  }
  const endOf = (end: 'from' | 'to') => ({
    end,
    kind: ends[end],
    value: asked[end] ?? '',
    onKind: (kind: Kind) => setKinds((before) => ({ ...before, [end]: kind })),
    onChange: (value: string) => change({ [end]: value }),
  });
  return (
    <Page
      title="Reachability"
      actions={
        <>
          <Link
            to="/p/$project/r/$region/reachability/matrix"
            params={place}
            search={{ protocol: asked.protocol, port: asked.port } as never}
            className="button"
          >
            Matrix
          </Link>
          <AsCode calls={[callOf('get', ASK, requestBetween(from || 'PORT', to || 'PORT', asked))]} />
        </>
      }
    >
      <p className="muted">
        Whether the security groups of both ports let a connection pass. What runs in the instances isn’t looked at.
      </p>
      <form
        className="page"
        onSubmit={(event) => {
          event.preventDefault();
          ask(event.currentTarget);
        }}
      >
        <div className="cards">
          <End label="From" {...endOf('from')} />
          <End label="To" {...endOf('to')} />
          <Traffic asked={asked} onChange={change} />
        </div>
        <div className="row">
          <button type="submit" className="button primary">
            Ask
          </button>
          <button
            type="button"
            className="button"
            onClick={() => {
              setKinds({ from: ends.to, to: ends.from });
              change({ from: to, to: from });
            }}
          >
            Ask the other way round
          </button>
          <span role="status">{missing.length > 0 && `Still missing: ${missing.join('; ')}.`}</span>
        </div>
      </form>
      {missing.length === 0 && <AnswerTo from={from} to={to} asked={asked} />}
    </Page>
  );
}

function Traffic({ asked: { protocol, port }, onChange }: { asked: Question; onChange: (change: Search) => void }) {
  return (
    <fieldset className="card">
      <legend className="hidden">What passes</legend>
      <div className="inside form">
        <SelectField
          label="Protocol"
          value={protocol ?? ''}
          options={[{ value: '', text: 'all protocols' }, ...optionsOf(PROTOCOLS)]}
          onChange={(chosen) => onChange({ protocol: chosen, ...(!hasPorts(chosen) && { port: '' }) })}
        />
        {hasPorts(protocol) && <PortField value={port ?? ''} onChange={(next) => onChange({ port: next })} />}
        {!hasPorts(protocol) && <p className="help">{PORT_PROTOCOLS.join(', ')} have ports.</p>}
      </div>
    </fieldset>
  );
}

/** A number is part of the address only once it is one. */
function PortField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState<string>();
  const text = typed ?? value;
  const fits = (given: string) => given === '' || isPort(given);
  return (
    <TextField
      label="Port"
      help="Empty: all ports"
      value={text}
      faults={fits(text) ? undefined : ['A port is a number from 1 to 65535.']}
      onChange={(next) => {
        setTyped(fits(next) ? undefined : next);
        if (fits(next)) onChange(next);
      }}
    />
  );
}

type Kind = 'instance' | 'address' | 'internet';
const MISSING: Partial<Record<Kind, string>> = { instance: 'choose an instance', address: 'enter an address' };

function kindOf(value: string, chosen: Kind = 'instance'): Kind {
  if (value === INTERNET) return 'internet';
  if (value !== '') return UUID.test(value) ? 'instance' : 'address';
  return chosen === 'internet' ? 'instance' : chosen;
}

/** One end of a connection: a port of an instance, an address, or the internet. */
function End({
  label,
  end,
  kind,
  value,
  onKind,
  onChange,
}: {
  label: string;
  end: string;
  kind: Kind;
  value: string;
  onKind: (kind: Kind) => void;
  onChange: (value: string) => void;
}) {
  return (
    <fieldset className="card" aria-label={label} data-end={end}>
      <header>
        <h2>{label}</h2>
      </header>
      <div className="inside form">
        <SelectField
          label={`${label}: what`}
          value={kind}
          options={[
            { value: 'instance', text: 'an instance' },
            { value: 'address', text: 'an address' },
            { value: 'internet', text: 'the internet' },
          ]}
          onChange={(next) => {
            onKind(next as Kind);
            onChange(next === 'internet' ? INTERNET : '');
          }}
        />
        {kind === 'internet' && <p className="help">Any address that no rule names.</p>}
        {kind === 'instance' && <InstanceEnd label={label} port={value} onChange={onChange} />}
        {kind === 'address' && (
          <AddressEnd
            label={label}
            value={value}
            onChange={(next) => {
              onKind('address');
              onChange(next);
            }}
          />
        )}
      </div>
    </fieldset>
  );
}

/** Of IPv4 or IPv6, as far as a form can tell: the server decides. */
const isAddress = (text: string): boolean =>
  /^(\d{1,3}\.){3}\d{1,3}$/.test(text) || (/^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]`));

const TYPING_MS = 300;

/** An address is asked about once it is one and nothing more is typed. */
function AddressEnd({ label, value, onChange }: { label: string; value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  const [before, setBefore] = useState(value);
  const entered = isAddress(text.trim()) ? text.trim() : '';
  if (value !== before) {
    setBefore(value);
    // Both ends have changed places, or the address of the page has.
    if (value !== entered) setText(value);
  }
  const tell = useEffectEvent(() => {
    if (entered !== value) onChange(entered);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is typed begins the time again
  useEffect(() => {
    const timer = setTimeout(tell, TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <TextField
      label={`${label}: address`}
      placeholder="203.0.113.7"
      help="An IPv4 or IPv6 address."
      value={text}
      onChange={setText}
    />
  );
}

const CHOICES = 100;

function InstanceEnd({ label, port, onChange }: { label: string; port: string; onChange: (port: string) => void }) {
  const place = usePlace() as Place;
  const [name, setName] = useState('');
  const owner = useOwner(port || undefined);
  const list = $api.useQuery('get', '/cloud/v1/instances/{project_id}/{region_id}', {
    params: {
      path: pathOf(place),
      query: { limit: CHOICES, order_by: 'name.asc', include_k8s: true, ...(name && { name }) },
    },
  });
  const ofInstance = (id: string) => ({
    params: { path: { ...pathOf(place), instance_id: id }, query: { limit: 100 } },
  });
  const ports = $api.useQuery('get', INTERFACES, ofInstance(owner?.id ?? ''), { enabled: owner !== undefined });
  const known = list.data?.results ?? [];
  const options = [...(owner && !known.some(({ id }) => id === owner.id) ? [owner] : []), ...known].map(
    ({ id, name }) => ({ value: id, text: name }),
  );
  // Not by the cache, whose reads are broken off when something changes.
  const first = useMutation({ mutationFn: (id: string) => api.GET(INTERFACES, ofInstance(id)) });
  function choose(id: string) {
    // Of several choices, the last one counts.
    first.reset();
    if (id === '') onChange('');
    else first.mutate(id, { onSuccess: ({ data }) => onChange(data?.results[0]?.port_id ?? '') });
  }
  return (
    <>
      {(list.data?.count ?? 0) > CHOICES || name ? (
        <TextField label={`${label}: part of the name`} type="search" value={name} onChange={setName} />
      ) : null}
      <SelectField
        label={`${label}: instance`}
        value={owner?.id ?? ''}
        options={[{ value: '', text: port && !owner ? 'none: it is a port of its own' : 'choose one' }, ...options]}
        onChange={choose}
      />
      {first.error && <Fault error={first.error} />}
      {port && owner && (
        <SelectField
          label={`${label}: port`}
          value={port}
          options={(ports.data?.results ?? []).map(portOption)}
          onChange={onChange}
        />
      )}
    </>
  );
}

/** The instance that a port belongs to: the list of ports doesn't say it, that of a network does. */
function useOwner(port: string | undefined): { id: string; name: string } | undefined {
  const place = usePlace() as Place;
  const isPort = port !== undefined && UUID.test(port);
  const read = $api.useQuery(
    'get',
    '/cloud/v1/ports/{project_id}/{region_id}/{port_id}',
    { params: { path: { ...pathOf(place), port_id: port ?? '' } } },
    { enabled: isPort },
  );
  const network = read.data?.network_id;
  const there = $api.useQuery(
    'get',
    '/cloud/v1/networks/{project_id}/{region_id}/{network_id}/ports',
    { params: { path: { ...pathOf(place), network_id: network ?? '' } } },
    { enabled: isPort && network !== undefined },
  );
  const found = there.data?.results.find(({ id }) => id === port);
  return isPort && found ? { id: found.instance_id, name: found.instance_name } : undefined;
}

/** A port, an address or the internet, by what people call it. */
function EndName({ end }: { end: string }) {
  const owner = useOwner(end);
  if (owner) return <InstanceLink {...owner} />;
  if (end === INTERNET) return 'the internet';
  return UUID.test(end) ? <code>port {end}</code> : <code>{end}</code>;
}

function AnswerTo({ from, to, asked }: { from: string; to: string; asked: Question }) {
  const { data, error, refetch } = $api.useQuery('get', ASK, requestBetween(from, to, asked));
  if (error && !data) return <Fault error={error} again={() => void refetch()} />;
  if (!data) return <p className="muted">Asking …</p>;
  return (
    <section className="card" aria-labelledby="answer" aria-live="polite">
      <header>
        <h2 id="answer" className={`badge ${data.allowed ? 'good' : 'bad'}`}>
          {data.allowed ? 'Allowed' : 'Blocked'}
          {data.path === null && ' by its rules'}
        </h2>
        <span>
          {trafficAsked(asked)} from <EndName end={from} /> to <EndName end={to} />
        </span>
      </header>
      <div className="inside page">
        <p>{pathInWords(data)}</p>
        <ul className="lines">
          {data.flows.map((flow) => (
            <FlowInWords key={`${flow.from_address} ${flow.to_address}`} flow={flow} />
          ))}
        </ul>
      </div>
    </section>
  );
}

function Verdict({ allowed }: { allowed: boolean }) {
  return <span className={`badge ${allowed ? 'good' : 'bad'}`}>{allowed ? 'passes' : 'doesn’t pass'}</span>;
}

/** What was asked about, such as `tcp 443`. */
export function trafficAsked({ protocol, port }: Question): string {
  if (!protocol || protocol === 'any') return 'Everything';
  if (!hasPorts(protocol)) return protocol;
  return port ? `${protocol} ${port}` : `${protocol} on all ports`;
}

function pathInWords({ path, flows }: Answer): string {
  if (flows.length === 0) return 'There is no way: neither end has an address of the other’s IP version.';
  switch (path) {
    case 'network':
      return 'Both ports are in one network.';
    case 'router':
      return 'A router connects the networks of both ports.';
    case 'none':
      return 'There is no way: no router connects the networks of both ports. The rules would say:';
    default:
      return 'The rules of the port decide. Whether there is a way isn’t looked at: from the internet, a port is reached only by a public address.';
  }
}

function FlowInWords({ flow: { from_address, to_address, allowed, egress, ingress } }: { flow: Flow }) {
  return (
    <li>
      <p className="row">
        <EndName end={from_address} /> → <EndName end={to_address} /> <Verdict allowed={allowed} />
      </p>
      <ul>
        {egress && <SideInWords side={egress} way="Out" />}
        {ingress && <SideInWords side={ingress} way="In" />}
      </ul>
    </li>
  );
}

/** What one port says: by which rule of which group something passes, or for want of which it doesn’t. */
function SideInWords({ side, way }: { side: Side; way: 'Out' | 'In' }) {
  const { nameOf } = useGroups();
  if (side.rule) {
    const group = side.rule.security_group_id;
    return (
      <li>
        {way}: allowed by the rule “
        <Sentence of={ruleOf(side.rule)} nameOf={nameOf} />” of group <GroupLink id={group} name={nameOf(group)} />.
      </li>
    );
  }
  if (side.allowed) return <li>{way}: port security of this port is off, so everything passes.</li>;
  const missing = side.missing && ruleOf({ ...side.missing, remote_group_id: null });
  return (
    <li>
      {way}: blocked, since no rule of its groups lets it pass.{' '}
      {missing && (
        <>
          The rule “
          <Sentence of={missing} nameOf={nameOf} />” is missing. <AddTo port={side.port_id} rule={missing} />
        </>
      )}
    </li>
  );
}

/** Leads to the groups of a port with a missing rule as a draft. */
function AddTo({ port, rule }: { port: string; rule: Rule }) {
  const place = usePlace() as Place;
  const { nameOf } = useGroups();
  const { data } = $api.useQuery('get', '/cloud/v1/ports/{project_id}/{region_id}/{port_id}', {
    params: { path: { ...pathOf(place), port_id: port } },
  });
  if (!data) return null;
  if (data.security_group_ids.length === 0) return 'The port has no group that it could be added to.';
  return (
    <>
      Add it to{' '}
      {data.security_group_ids.map((group, at) => (
        <span key={group}>
          {at > 0 && ' or '}
          <Link
            to="/p/$project/r/$region/security-groups/$group"
            params={{ ...place, group }}
            search={{ add: JSON.stringify(rule) } as never}
          >
            {nameOf(group)}
          </Link>
        </span>
      ))}
      .
    </>
  );
}
