import { Link, useNavigate } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { InstanceLink, NetworkLink } from './links.tsx';

const PARTS = {
  networks: '/cloud/v1/networks/{project_id}/{region_id}',
  subnets: '/cloud/v1/subnets/{project_id}/{region_id}',
  routers: '/cloud/v1/routers/{project_id}/{region_id}',
  instances: '/cloud/v1/instances/{project_id}/{region_id}',
  addresses: '/cloud/v1/floatingips/{project_id}/{region_id}',
} as const;

/** More don't fit a picture that people can read. */
const DRAWN = 200;
/** What one page of the API holds. */
const READ = 1_000;

interface Port {
  address: string;
  /** Floating IPs that lead to it. */
  floating: string[];
}
interface Machine {
  id: string;
  name: string;
  ports: Port[];
}
interface Network {
  id: string;
  name: string;
  cidrs: string[];
  external: boolean;
  machines: Machine[];
}
interface Router {
  id: string;
  name: string;
  outside: string | undefined;
  networks: string[];
}
interface Parts {
  networks: Network[];
  routers: Router[];
  machines: { id: string; name: string }[];
  /** Something exists that the API's first page doesn't hold. */
  more: boolean;
}

function useMap() {
  const place = usePlace() as Place;
  const path = pathOf(place);
  const networks = $api.useQuery('get', PARTS.networks, {
    params: { path, query: { limit: READ, owned_by: 'any', order_by: 'name.asc' } },
  });
  const subnets = $api.useQuery('get', PARTS.subnets, { params: { path, query: { limit: READ, owned_by: 'any' } } });
  const routers = $api.useQuery('get', PARTS.routers, { params: { path, query: { limit: READ } } });
  const instances = $api.useQuery('get', PARTS.instances, {
    params: { path, query: { limit: READ, include_k8s: true, order_by: 'name.asc' } },
  });
  const addresses = $api.useQuery('get', PARTS.addresses, { params: { path, query: { limit: READ } } });
  const all = [networks, subnets, routers, instances, addresses];
  const error = all.find((read) => read.error)?.error ?? null;
  const again = () => void Promise.all(all.map((read) => read.refetch()));
  if (!networks.data || !subnets.data || !routers.data || !instances.data || !addresses.data)
    return { map: undefined, error, again };
  const found = addresses.data.results;
  const networkOf = new Map(subnets.data.results.map(({ id, network_id }) => [id, network_id]));
  const portsIn = (network: string, { id, fixed_ip_assignments }: (typeof instances.data.results)[number]): Port[] =>
    fixed_ip_assignments
      .filter(({ subnet_id }) => networkOf.get(subnet_id) === network)
      .map(({ ip_address }) => ({
        address: ip_address,
        floating: found
          .filter((one) => one.fixed_ip_address === ip_address && one.instance?.id === id)
          .map(({ floating_ip_address }) => floating_ip_address),
      }));
  const map: Parts = {
    networks: networks.data.results.map(({ id, name, external }) => ({
      id,
      name,
      external,
      cidrs: subnets.data.results.filter((one) => one.network_id === id).map(({ cidr }) => cidr),
      machines: instances.data.results.flatMap((instance) => {
        const ports = portsIn(id, instance);
        return ports.length === 0 ? [] : [{ id: instance.id, name: instance.name, ports }];
      }),
    })),
    routers: routers.data.results.map(({ id, name, external_gateway_info, interfaces }) => ({
      id,
      name,
      outside: external_gateway_info?.external_fixed_ips.map(({ ip_address }) => ip_address).join(', '),
      networks: interfaces.map(({ network_id }) => network_id),
    })),
    machines: instances.data.results.map(({ id, name }) => ({ id, name })),
    more: [networks, subnets, routers, instances, addresses].some(({ data }) => (data?.count ?? 0) > READ),
  };
  return { map, error, again };
}

/** How the internet, routers, networks and instances are connected: drawn, and always as a list. */
export function Topology() {
  const place = usePlace() as Place;
  const { map, error, again } = useMap();
  const nodes = map ? map.networks.length + map.routers.length + map.machines.length + 1 : 0;
  return (
    <Page
      title="Topology"
      crumbs={[
        <Link key="networks" to="/p/$project/r/$region/networks" params={place}>
          Networks
        </Link>,
      ]}
      actions={
        <AsCode
          calls={Object.values(PARTS).map((part) =>
            callOf('get', part, { params: { path: pathOf(place), query: { limit: READ } } }),
          )}
        />
      }
    >
      {error && <Fault error={error} again={again} />}
      {!map && !error && <p className="muted">Reading …</p>}
      {map && (
        <>
          {nodes > DRAWN ? (
            <p className="note">
              {nodes} parts are too many for a picture. Here they are as a list.
              {map.more && ` The list holds the first ${READ} of a kind.`}
            </p>
          ) : (
            <Drawing map={map} />
          )}
          <AsList map={map} />
        </>
      )}
    </Page>
  );
}

/** A part of the picture, as it is laid out: in the lane of its kind, below the one before it. */
interface Node {
  key: string;
  lane: number;
  text: string;
  more?: string;
  to?: string;
  params?: Record<string, unknown>;
  search?: Record<string, string>;
}
interface Edge {
  from: string;
  to: string;
  text?: string;
}

const LANES = ['Internet', 'Routers', 'Networks', 'Instances'];
const WIDTH = 190;
const HEIGHT = 44;
const GAP = 16;
const BETWEEN = 76;
/** Above the nodes is room for lines that pass other lanes. */
const TOP = 44;
const PASSAGE = 34;

function partsOf({ networks, routers: all, machines }: Parts, place: Place): { nodes: Node[]; edges: Edge[] } {
  const routers = all.toSorted((one, other) => Number(other.outside !== undefined) - Number(one.outside !== undefined));
  const inner = beside(
    routers.map(({ networks }) => networks),
    networks.filter(({ external }) => !external),
  );
  const outer = networks.filter(({ external }) => external);
  const base = '/p/$project/r/$region';
  const nodes: Node[] = [
    {
      key: 'internet',
      lane: 0,
      text: 'Internet',
      more: outer.flatMap(({ cidrs }) => cidrs).join(', '),
      ...(outer[0] && { to: `${base}/networks/$network`, params: { ...place, network: outer[0].id } }),
    },
    ...routers.map(({ id, name, outside }) => ({
      key: id,
      lane: 1,
      text: name,
      more: outside ?? 'not to the internet',
      to: `${base}/routers`,
      params: { ...place },
      search: { name },
    })),
    ...inner.map(({ id, name, cidrs }) => ({
      key: id,
      lane: 2,
      text: name,
      more: cidrs.join(', ') || 'no subnet',
      to: `${base}/networks/$network`,
      params: { ...place, network: id },
    })),
    ...beside(
      inner.map(({ machines }) => machines.map(({ id }) => id)),
      machines,
    ).map(({ id, name }) => {
      const ports = networks.flatMap(({ machines }) => machines.find((one) => one.id === id)?.ports ?? []);
      const floating = ports.flatMap((port) => port.floating);
      return {
        key: id,
        lane: 3,
        text: name,
        more: [...ports.map(({ address }) => address), ...floating.map((one) => `${one} floating`)].join(', '),
        to: `${base}/instances/$instance`,
        params: { ...place, instance: id },
      };
    }),
  ];
  const edges: Edge[] = [
    ...routers.flatMap(({ id, outside, networks }) => [
      ...(outside === undefined ? [] : [{ from: 'internet', to: id }]),
      ...networks.map((network) => ({ from: id, to: network })),
    ]),
    ...inner.flatMap(({ id, machines }) => machines.map((machine) => ({ from: id, to: machine.id }))),
    ...outer.flatMap(({ machines }) => machines.map((machine) => ({ from: 'internet', to: machine.id }))),
    ...inner.flatMap(({ machines }) =>
      machines
        .filter(({ ports }) => ports.some(({ floating }) => floating.length > 0))
        .map((machine) => ({ from: 'internet', to: machine.id, text: 'floating' })),
    ),
  ];
  return { nodes, edges };
}

/** Puts parts beside the first thing of the lane before that they are connected with, so that few lines cross. */
function beside<Part extends { id: string }>(before: readonly string[][], parts: readonly Part[]): Part[] {
  const place = ({ id }: Part) => {
    const at = before.findIndex((ids) => ids.includes(id));
    return at < 0 ? before.length : at;
  };
  return parts.toSorted((one, other) => place(one) - place(other));
}

/** From one point to another, level at both ends. */
function curve(x: number, y: number, toX: number, toY: number): string {
  const middle = (x + toX) / 2;
  return `C${middle},${y} ${middle},${toY} ${toX},${toY}`;
}

function Drawing({ map }: { map: Parts }) {
  const place = usePlace() as Place;
  const { nodes, edges } = partsOf(map, place);
  const most = Math.max(...LANES.map((_, lane) => nodes.filter((node) => node.lane === lane).length));
  const height = TOP + most * (HEIGHT + GAP);
  const at = new Map(
    LANES.flatMap((_, lane) => {
      const column = nodes.filter((node) => node.lane === lane);
      const step = (height - TOP) / Math.max(1, column.length);
      return column.map(({ key }, row): [string, { x: number; y: number }] => [
        key,
        { x: lane * (WIDTH + BETWEEN), y: TOP + step * (row + 0.5) - HEIGHT / 2 },
      ]);
    }),
  );
  const width = LANES.length * (WIDTH + BETWEEN) - BETWEEN;
  return (
    <section className="card scroll" aria-label="Picture of the topology">
      <svg className="topology" width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
        <title>How the internet, routers, networks and instances are connected</title>
        {LANES.map((text, lane) => (
          <text key={text} className="lane" x={lane * (WIDTH + BETWEEN)} y={16}>
            {text}
          </text>
        ))}
        {edges.map(({ from, to, text }) => {
          const [start, end] = [at.get(from), at.get(to)];
          if (!start || !end) return null;
          const [x, y] = [start.x + WIDTH, start.y + HEIGHT / 2];
          const [toX, toY] = [end.x, end.y + HEIGHT / 2];
          const over = PASSAGE + (text === undefined ? 0 : 8);
          const line =
            toX - x <= BETWEEN
              ? curve(x, y, toX, toY)
              : // Straight to a lane further on, it would run behind nodes of those between.
                `${curve(x, y, x + BETWEEN, over)} H${toX - BETWEEN} ${curve(toX - BETWEEN, over, toX, toY)}`;
          return (
            <path
              key={`${from} ${to} ${text ?? ''}`}
              className={text === undefined ? 'edge' : 'edge floating'}
              d={`M${x},${y} ${line}`}
            />
          );
        })}
        {nodes.map((node) => (
          <Box key={node.key} node={node} {...(at.get(node.key) as { x: number; y: number })} />
        ))}
      </svg>
    </section>
  );
}

const cut = (text: string, length: number): string => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

/** A link of the picture. Links of SVG need their address: the router's own component makes HTML. */
function Box({ node: { text, more = '', to, params, search }, x, y }: { node: Node; x: number; y: number }) {
  const navigate = useNavigate();
  const drawn = (
    <>
      <rect className="node" x={x} y={y} width={WIDTH} height={HEIGHT} rx={6}>
        <title>{[text, more].filter(Boolean).join(': ')}</title>
      </rect>
      <text x={x + 10} y={y + 18}>
        {cut(text, 24)}
      </text>
      <text className="more" x={x + 10} y={y + 35}>
        {cut(more, 27)}
      </text>
    </>
  );
  if (to === undefined) return <g>{drawn}</g>;
  const target = { to, params, search } as never;
  return (
    <a
      href={hrefOf(to, params, search)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey) return;
        event.preventDefault();
        void navigate(target);
      }}
    >
      {drawn}
    </a>
  );
}

function hrefOf(to: string, params: Record<string, unknown> = {}, search: Record<string, string> = {}): string {
  const path = to.replaceAll(/\$(\w+)/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const query = new URLSearchParams(search).toString();
  return `/console${path}${query && `?${query}`}`;
}

/** The same as a list, for those who don't see the picture and for what doesn't fit it. */
function AsList({ map: { networks, routers, machines } }: { map: Parts }) {
  const place = usePlace() as Place;
  const outer = networks.filter(({ external }) => external);
  const inner = networks.filter(({ external }) => !external);
  const routed = new Set(routers.flatMap(({ networks }) => networks));
  const connected = new Set(networks.flatMap(({ machines }) => machines.map(({ id }) => id)));
  const lonely = machines.filter(({ id }) => !connected.has(id));
  const router = (one: Router) => (
    <li key={one.id}>
      Router{' '}
      <Link to="/p/$project/r/$region/routers" params={place} search={{ name: one.name } as never}>
        {one.name}
      </Link>
      {one.outside && <span className="muted"> {one.outside} outside</span>}
      <ul>
        {inner
          .filter(({ id }) => one.networks.includes(id))
          .map((network) => (
            <NetworkItem key={network.id} of={network} />
          ))}
      </ul>
    </li>
  );
  return (
    <Section title="As a list">
      <ul className="inside tree">
        <li>
          Internet
          <ul>
            {outer.map((network) => (
              <NetworkItem key={network.id} of={network} />
            ))}
            {routers.filter(({ outside }) => outside !== undefined).map(router)}
          </ul>
        </li>
        {routers.filter(({ outside }) => outside === undefined).map(router)}
        {inner
          .filter(({ id }) => !routed.has(id))
          .map((network) => (
            <NetworkItem key={network.id} of={network} />
          ))}
        {lonely.map((one) => (
          <li key={one.id}>
            Instance <InstanceLink {...one} /> <span className="muted">in no network</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function NetworkItem({ of: { id, name, cidrs, machines } }: { of: Network }) {
  return (
    <li>
      Network <NetworkLink id={id} name={name} /> <span className="muted">{cidrs.join(', ')}</span>
      {machines.length > 0 && (
        <ul>
          {machines.map((machine) => (
            <li key={machine.id}>
              Instance <InstanceLink id={machine.id} name={machine.name} />
              <ul>
                {machine.ports.map(({ address, floating }) => (
                  <li key={address}>
                    Port <code>{address}</code>
                    {floating.length > 0 && (
                      <span className="muted"> from the internet by floating IP {floating.join(', ')}</span>
                    )}
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
