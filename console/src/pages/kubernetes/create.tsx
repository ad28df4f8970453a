import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { $api, type ApiError, api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { changedNames, type Values } from '../../lib/changes.ts';
import { useDraft } from '../../lib/draft.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { Fault } from '../../ui/fault.tsx';
import { CheckField, SelectField, TextField } from '../../ui/field.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { wordsOf } from '../../ui/words.ts';
import { ADD_ONS } from './add-ons.tsx';
import { AUTHENTICATION } from './authentication.tsx';
import { AUTOSCALER } from './autoscaler.tsx';
import { CNI } from './cni.tsx';
import type { CreateCluster, Price } from './data.ts';
import { DDOS } from './ddos.tsx';
import { LOGGING } from './logging.tsx';
import { PriceFacts } from './overview.tsx';
import { isBareMetal, newPool, type PoolDraft, PoolFields, poolBody } from './pool-fields.tsx';
import { type Faults, faultsWithin, type GroupName } from './settings.tsx';

const GROUPS = [CNI, AUTOSCALER, AUTHENTICATION, LOGGING, DDOS, ADD_ONS];
const CREATE = '/cloud/v2/k8s/clusters/{project_id}/{region_id}';

interface Entered {
  name: string;
  version: string;
  keypair: string;
  fixed_network: string;
  fixed_subnet: string;
  is_ipv6: boolean;
  vast: boolean;
  pods_ip_pool: string;
  services_ip_pool: string;
  pods_ipv6_pool: string;
  services_ipv6_pool: string;
}

const VAST = 'csi.nfs.vast_enabled';
const RANGES = ['pods_ip_pool', 'services_ip_pool', 'pods_ipv6_pool', 'services_ipv6_pool'] as const;

const BASICS: readonly string[] = [
  'name',
  'version',
  'keypair',
  'fixed_network',
  'fixed_subnet',
  'is_ipv6',
  VAST,
  ...RANGES,
];
const NOT_OF_BARE_METAL = ['boot_volume_size', 'boot_volume_type', 'servergroup_policy'];

/** The cluster as the API takes it. What was left alone is left out. */
function bodyOf(entered: Entered, pools: readonly PoolDraft[], groups: Readonly<Record<GroupName, Values>>) {
  const { name, version, keypair, fixed_network, fixed_subnet, is_ipv6, vast } = entered;
  return {
    name,
    version,
    keypair,
    pools: pools.map(poolBody),
    ...(fixed_network !== '' && { fixed_network }),
    ...(fixed_subnet !== '' && { fixed_subnet }),
    ...(is_ipv6 && { is_ipv6 }),
    ...(vast && { csi: { nfs: { vast_enabled: true } } }),
    ...Object.fromEntries(RANGES.flatMap((range) => (entered[range] === '' ? [] : [[range, entered[range]]]))),
    ...Object.fromEntries(
      GROUPS.flatMap(({ name: group, read, patch }) => {
        const before = read(undefined);
        return changedNames(before, groups[group]).length > 0 ? [[group, patch(before, groups[group])]] : [];
      }),
    ),
  } as CreateCluster;
}

const FIRST_GROUPS = Object.fromEntries(GROUPS.map(({ name, read }) => [name, read(undefined)])) as Record<
  GroupName,
  Values
>;

export function CreateClusterPage() {
  const place = usePlace() as Place;
  const navigate = useNavigate();
  const [entered, setEntered, forgetEntered] = useDraft<Entered>('new cluster', {
    name: '',
    version: '',
    keypair: '',
    fixed_network: '',
    fixed_subnet: '',
    is_ipv6: false,
    vast: false,
    pods_ip_pool: '',
    services_ip_pool: '',
    pods_ipv6_pool: '',
    services_ipv6_pool: '',
  });
  const [pools, setPools, forgetPools] = useDraft<readonly PoolDraft[]>('pools of the new cluster', [
    newPool('pool-1'),
  ]);
  const [groups, setGroups, forgetGroups] = useDraft('groups of the new cluster', FIRST_GROUPS);
  const [faults, setFaults] = useState<Faults>({});
  const versions = $api.useQuery('get', '/cloud/v2/k8s/{project_id}/{region_id}/create_versions', {
    params: { path: pathOf(place), query: { limit: 100 } },
  });
  // The newest, until another one is chosen.
  const version = entered.version || (versions.data?.results.at(-1)?.version ?? '');
  const body = bodyOf({ ...entered, version }, pools, groups);
  const call = callOf('post', CREATE, { params: { path: pathOf(place) }, body });

  function refused({ fields }: ApiError): boolean {
    setFaults(fields);
    return Object.keys(fields).length > 0;
  }

  return (
    <Page
      title="Create a cluster"
      crumbs={[
        <Link key="clusters" to="/p/$project/r/$region/clusters" params={place}>
          Clusters
        </Link>,
        'Create',
      ]}
      actions={<AsCode calls={[call]} />}
    >
      <form className="create-cluster" onSubmit={(event) => event.preventDefault()}>
        <div className="page">
          {versions.error && <Fault error={versions.error} again={() => void versions.refetch()} />}
          <Wrong faults={faults} pools={pools} groups={groups} />
          <Basics
            place={place}
            entered={{ ...entered, version }}
            versions={versions.data?.results.map((one) => one.version) ?? []}
            onChange={(change) => setEntered({ ...entered, ...change })}
            faults={faults}
          />
          {pools.map((pool, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a pool is its place in the list
            <section key={at} className="card" aria-label={`Pool ${at + 1}`}>
              <header>
                <h2>Pool {at + 1}</h2>
                {pools.length > 1 && (
                  <button
                    type="button"
                    className="button quiet"
                    onClick={() => setPools(pools.filter((_, other) => other !== at))}
                  >
                    Remove pool {at + 1}
                  </button>
                )}
              </header>
              <div className="inside form">
                <PoolFields
                  place={place}
                  value={pool}
                  onChange={(next) => setPools(pools.map((one, other) => (other === at ? next : one)))}
                  faults={faultsWithin(`pools.${at}`, faults)}
                />
              </div>
            </section>
          ))}
          <div className="row">
            <button
              type="button"
              className="button"
              onClick={() => setPools([...pools, newPool(`pool-${pools.length + 1}`)])}
            >
              Add another pool
            </button>
          </div>
          {GROUPS.map((group) => {
            const within = faultsWithin(group.name, faults);
            const changes = changedNames(group.read(undefined), groups[group.name]).length;
            return (
              <details key={group.name} className="settings-group" open={Object.keys(within).length > 0 || undefined}>
                <summary>
                  {group.title}
                  <span className="muted">
                    {changes > 0 && (changes === 1 ? ' · 1 setting' : ` · ${changes} settings`)}
                  </span>
                </summary>
                <group.Fields
                  values={groups[group.name]}
                  before={group.read(undefined)}
                  onChange={(values) => setGroups({ ...groups, [group.name]: values })}
                  faults={within}
                  place={place}
                />
              </details>
            );
          })}
        </div>
        <aside className="page aside" aria-label="Price and creation">
          <PricePreview place={place} pools={pools} />
          <div className="row">
            <Review
              operation="createKubernetesClusterV2"
              label="Create"
              title={`Create cluster ${entered.name}?`}
              tone="primary"
              call={() => {
                setFaults({});
                return call;
              }}
              onRefused={refused}
              onApplied={() => {
                for (const forget of [forgetEntered, forgetPools, forgetGroups]) forget();
                void navigate({
                  to: '/p/$project/r/$region/clusters/$cluster',
                  params: { ...place, cluster: entered.name },
                });
              }}
            />
          </div>
        </aside>
      </form>
    </Page>
  );
}

/** How many fields are wrong, for those whose eyes are elsewhere, and what is wrong with none of them. */
function Wrong({
  faults,
  pools,
  groups,
}: {
  faults: Faults;
  pools: readonly PoolDraft[];
  groups: Readonly<Record<GroupName, Values>>;
}) {
  const names = Object.keys(faults);
  if (names.length === 0) return null;
  const rest = names.filter((name) => !hasField(name, pools, groups));
  const placed = names.length - rest.length;
  return (
    <div className="note bad" role="alert">
      <p>
        {placed === 1 && 'One field is wrong. '}
        {placed > 1 && `${placed} fields are wrong. `}Nothing was created.
      </p>
      {rest.length > 0 && (
        <ul>
          {rest.map((name) => (
            <li key={name}>
              {labelOf(name)}: {faults[name]?.join(' ')}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Whether the form shows at a field what the server says of this name. */
function hasField(name: string, pools: readonly PoolDraft[], groups: Readonly<Record<GroupName, Values>>): boolean {
  const [first = '', second = '', third = ''] = name.split('.');
  if (first === 'pools') {
    const pool = pools[Number(second)];
    return pool !== undefined && third in pool && !(isBareMetal(pool.flavor_id) && NOT_OF_BARE_METAL.includes(third));
  }
  const group = GROUPS.find((one) => one.name === first);
  if (!group) return BASICS.includes(name);
  // Its fields are those of a template.
  if (group === DDOS) return !name.endsWith('.enabled');
  return name.split('.').some((part) => part in { ...group.read(undefined), ...groups[group.name] });
}

/** What the form calls what the API calls so. */
function labelOf(name: string): string {
  const [first, ...rest] = name.split('.');
  const group = GROUPS.find((one) => one.name === first);
  const inner = rest.map((part) => group?.labelOf?.(part) ?? part);
  return group ? [group.title, wordsOf(inner)].filter(Boolean).join(': ') : wordsOf(name.split('.'));
}

function Basics({
  place,
  entered,
  versions,
  onChange,
  faults,
}: {
  place: Place;
  entered: Entered;
  versions: readonly string[];
  onChange: (change: Partial<Entered>) => void;
  faults: Faults;
}) {
  const keys = $api.useQuery('get', '/cloud/v1/ssh_keys/{project_id}', {
    params: { path: { project_id: place.project }, query: { limit: 1000 } },
  });
  const networks = $api.useQuery('get', '/cloud/v1/networks/{project_id}/{region_id}', {
    params: { path: pathOf(place), query: { limit: 1000, external: false } },
  });
  const subnets = $api.useQuery(
    'get',
    '/cloud/v1/subnets/{project_id}/{region_id}',
    { params: { path: pathOf(place), query: { limit: 1000, network_id: entered.fixed_network } } },
    { enabled: entered.fixed_network !== '' },
  );
  const range = (name: (typeof RANGES)[number], label: string, help: string) => (
    <TextField
      label={label}
      value={entered[name]}
      onChange={(value) => onChange({ [name]: value })}
      help={help}
      faults={faults[name]}
    />
  );
  return (
    <Section title="Cluster">
      <div className="inside form">
        <TextField
          label="Name"
          value={entered.name}
          onChange={(name) => onChange({ name })}
          help="Can’t be changed later. Small letters, digits and hyphens."
          faults={faults.name}
          required
        />
        <SelectField
          label="Kubernetes version"
          value={entered.version}
          onChange={(version) => onChange({ version })}
          options={optionsOf([...versions].reverse())}
          faults={faults.version}
          required
        />
        <SelectField
          label="SSH key"
          value={entered.keypair}
          onChange={(keypair) => onChange({ keypair })}
          options={[
            { value: '', text: keys.data?.results.length === 0 ? 'This project has none' : 'Choose one' },
            ...(keys.data?.results ?? []).map(({ name }) => ({ value: name, text: name })),
          ]}
          help={
            keys.data?.results.length === 0 ? (
              <Link to="/p/$project/r/$region/ssh-keys" params={place}>
                Make an SSH key
              </Link>
            ) : (
              'For logging in to the nodes.'
            )
          }
          faults={faults.keypair}
          required
        />
        <SelectField
          label="Network"
          value={entered.fixed_network}
          onChange={(fixed_network) => onChange({ fixed_network, fixed_subnet: '' })}
          options={[
            { value: '', text: 'chosen by the platform' },
            ...(networks.data?.results ?? []).map(({ id, name }) => ({ value: id, text: name })),
          ]}
          faults={faults.fixed_network}
        />
        {entered.fixed_network !== '' && (
          <SelectField
            label="Subnet"
            value={entered.fixed_subnet}
            onChange={(fixed_subnet) => onChange({ fixed_subnet })}
            options={[
              { value: '', text: 'chosen by the platform' },
              ...(subnets.data?.results ?? []).map(({ id, name, cidr }) => ({ value: id, text: `${name} ${cidr}` })),
            ]}
            help="It must have a router."
            faults={faults.fixed_subnet}
          />
        )}
        <details open={[...RANGES, 'is_ipv6', VAST].some((name) => faults[name]) || undefined}>
          <summary>Addresses and storage</summary>
          <div className="part">
            {range('pods_ip_pool', 'IPv4 range of pods', '172.16.0.0/18 if empty.')}
            {range('services_ip_pool', 'IPv4 range of services', '172.24.0.0/18 if empty.')}
            <CheckField
              label="IPv6 as well"
              value={entered.is_ipv6}
              onChange={(is_ipv6) => onChange({ is_ipv6 })}
              help="Each node gets a public IPv6 address."
              faults={faults.is_ipv6}
            />
            {range('pods_ipv6_pool', 'IPv6 range of pods', 'Only with IPv6.')}
            {range('services_ipv6_pool', 'IPv6 range of services', 'Only with IPv6.')}
            <CheckField
              label="VAST NFS"
              value={entered.vast}
              onChange={(vast) => onChange({ vast })}
              help="Slurm needs it. Can’t be changed after creation."
              faults={faults[VAST]}
            />
          </div>
        </details>
      </div>
    </Section>
  );
}

const TYPING_MS = 200;

const PREVIEW = '/cloud/v2/pricing/{project_id}/{region_id}/k8s/clusters';

/** What the pools would cost, once nothing has been typed for a moment. An answer belongs to its question: a late one shows nowhere. */
function PricePreview({ place, pools }: { place: Place; pools: readonly PoolDraft[] }) {
  const wanted = pools.filter(({ flavor_id }) => flavor_id !== '');
  const question = JSON.stringify(wanted.map((pool) => pricedOf(pool, pool.min_node_count ?? 1)));
  const most = JSON.stringify(
    wanted.map((pool) => pricedOf(pool, Math.max(pool.min_node_count ?? 1, pool.max_node_count ?? 1))),
  );
  const [[asked, askedMost], setAsked] = useState([question, most]);
  useEffect(() => {
    const timer = setTimeout(() => setAsked([question, most]), TYPING_MS);
    return () => clearTimeout(timer);
  }, [question, most]);
  const body = { pools: JSON.parse(asked) };
  const { data, error, isPlaceholderData } = usePreview(place, asked, asked !== '[]');
  const isMore = askedMost !== asked;
  const priceOfMost = usePreview(place, askedMost, isMore);
  const stale = isPlaceholderData || (isMore && priceOfMost.isPlaceholderData) || asked !== question;
  return (
    <section className="card" aria-labelledby="preview" aria-busy={stale}>
      <header>
        <h2 id="preview">Price</h2>
        <span className="muted" role="status">
          {asked !== '[]' && stale && 'Asking …'}
        </span>
        {asked !== '[]' && <AsCode calls={[callOf('post', PREVIEW, { params: { path: pathOf(place) }, body })]} />}
      </header>
      <div className="inside">
        {asked === '[]' && <p className="muted">Choose a flavor to see what it costs.</p>}
        {error && asked !== '[]' && <Fault error={error} />}
        {data && !error && asked !== '[]' && (
          <>
            <p className="muted">For the minimum of nodes in each pool.</p>
            <PriceFacts
              of={data}
              pools={wanted.map((pool, at) => ({ ...body.pools[at], name: pool.name }))}
              most={isMore ? priceOfMost.data : undefined}
            />
          </>
        )}
      </div>
    </section>
  );
}

/** What matters of a pool for its price. */
const pricedOf = (
  { flavor_id, boot_volume_size, boot_volume_type, is_public_ipv4 }: PoolDraft,
  node_count: number,
) => ({
  flavor_id,
  node_count,
  ...(!isBareMetal(flavor_id) &&
    boot_volume_size !== undefined &&
    boot_volume_type !== '' && { boot_volume_size, boot_volume_type }),
  ...(is_public_ipv4 && { is_public_ipv4 }),
});

/** The price of pools, which are given as text so that one question is asked once. */
function usePreview(place: Place, pools: string, enabled: boolean) {
  return useQuery({
    queryKey: ['cluster price', place, pools],
    queryFn: async ({ signal }) => {
      const body = { pools: JSON.parse(pools) };
      return (await api.POST(PREVIEW, { params: { path: pathOf(place) }, body, signal })).data as Price;
    },
    enabled,
    placeholderData: keepPreviousData,
  });
}
