import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, type ApiError, send } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import type { Place } from '../../lib/place.ts';
import { Action } from '../../ui/action.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { keep } from '../../ui/export.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Money } from '../../ui/money.tsx';
import { Section } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { Time } from '../../ui/time.tsx';
import { NetworkById } from '../network/links.tsx';
import { CLUSTER, type Cluster, type ClusterRead, clusterPath, type Price } from './data.ts';

const PRICE = '/cloud/v2/pricing/{project_id}/{region_id}/k8s/clusters/{cluster_name}';

/** What the cluster is, what it costs, and what can be done with the whole of it. */
export function Overview({ place, read: { cluster, etag } }: { place: Place; read: ClusterRead }) {
  const path = clusterPath(place, cluster.name);
  const price = $api.useQuery('get', PRICE, { params: { path } });
  return (
    <div className="cards">
      <section className="card tall" aria-labelledby="facts">
        <header>
          <h2 id="facts">Facts</h2>
        </header>
        <div className="inside">
          <Facts place={place} cluster={cluster} />
        </div>
      </section>
      <Section title="Price" aside={<AsCode calls={[callOf('get', PRICE, { params: { path } })]} />}>
        <div className="inside">
          {price.error && <Fault error={price.error} again={() => void price.refetch()} />}
          {price.data && <PriceFacts of={price.data} pools={cluster.pools} />}
        </div>
      </Section>
      <Access place={place} cluster={cluster} />
      <Upgrade place={place} cluster={cluster} etag={etag} />
      <Deletion place={place} cluster={cluster} etag={etag} />
    </div>
  );
}

function Facts({ place, cluster }: { place: Place; cluster: Cluster }) {
  const nodes = cluster.pools.reduce((sum, { node_count }) => sum + (node_count ?? 0), 0);
  return (
    <dl className="facts">
      <dt>Version</dt>
      <dd>{cluster.version}</dd>
      <dt>Nodes</dt>
      <dd>
        {nodes} in {cluster.pools.length === 1 ? '1 pool' : `${cluster.pools.length} pools`}
      </dd>
      <dt>Network plug-in</dt>
      <dd>{cluster.cni?.provider ?? 'calico'}</dd>
      <dt>Network</dt>
      <dd>{cluster.fixed_network ? <NetworkById id={cluster.fixed_network} /> : 'chosen by the platform'}</dd>
      <dt>Subnet</dt>
      <dd>{cluster.fixed_subnet ? <code>{cluster.fixed_subnet}</code> : 'chosen by the platform'}</dd>
      <dt>Addresses of pods</dt>
      <dd className="mono">{[cluster.pods_ip_pool, cluster.pods_ipv6_pool].filter(Boolean).join(', ')}</dd>
      <dt>Addresses of services</dt>
      <dd className="mono">{[cluster.services_ip_pool, cluster.services_ipv6_pool].filter(Boolean).join(', ')}</dd>
      <dt>IPv6</dt>
      <dd>{cluster.is_ipv6 ? 'yes' : 'no'}</dd>
      <dt>VAST NFS</dt>
      <dd>{cluster.csi.nfs.vast_enabled ? 'yes' : 'no'}</dd>
      <dt>SSH key</dt>
      <dd>{cluster.keypair}</dd>
      <dt>API server</dt>
      <dd>{cluster.is_public ? 'can be reached from the internet' : 'private'}</dd>
      <dt>Created</dt>
      <dd>
        <Time at={cluster.created_at} />{' '}
        {cluster.creator_task_id && (
          <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task: cluster.creator_task_id }}>
            by this task
          </Link>
        )}
      </dd>
      <dt>ID</dt>
      <dd className="mono">{cluster.id}</dd>
    </dl>
  );
}

type Single = Price['total_price'];

/** What tells which lines a pool has in a price. */
interface PricedPool {
  name: string;
  boot_volume_size?: number | null | undefined;
  is_public_ipv4?: boolean | undefined;
}

const centsOf = ({ price_per_month }: Single): number => Math.round((price_per_month ?? 0) * 100);

const amountOf = ({ price_status, price_per_month, currency_code }: Single) =>
  price_status === 'show' ? (
    <>
      <Money amount={price_per_month} currency={currency_code} /> <span className="muted">a month</span>
    </>
  ) : price_status === 'hide' ? (
    <span className="muted">prices are hidden from this account</span>
  ) : (
    <span className="muted">the region has no price for it</span>
  );

/** The price of a cluster, part by part. */
export function PriceFacts({
  of,
  pools,
  most,
}: {
  of: Price;
  pools: readonly PricedPool[];
  /** With as many nodes as there can be, if those are more. */
  most?: Price | undefined;
}) {
  const { instances, volumes, publicips, total_price: total } = of;
  const names = pools.map(({ name }, at) => name || `pool ${at + 1}`);
  // The API leaves out pools that have none.
  const withVolumes = names.filter((_, at) => typeof pools[at]?.boot_volume_size === 'number');
  const withAddresses = names.filter((_, at) => pools[at]?.is_public_ipv4);
  const lines = [
    ...instances.map((one, at) => [`Machines of ${names[at] ?? `pool ${at + 1}`}`, one] as const),
    ...volumes.map((one, at) => [`Boot volumes of ${withVolumes[at] ?? `pool ${at + 1}`}`, one] as const),
    ...publicips.map((one, at) => [`Public addresses of ${withAddresses[at] ?? `pool ${at + 1}`}`, one] as const),
  ];
  const shown = lines.reduce((sum, [, one]) => sum + centsOf(one), 0);
  return (
    <dl className="facts">
      {lines.map(([name, one], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two pools may have one name while they are entered
        <Row key={at} name={name} of={one} />
      ))}
      <dt>
        <strong>Total</strong>
      </dt>
      <dd>
        <strong>{amountOf(total)}</strong>
        {total.price_status === 'show' && shown !== centsOf(total) && (
          <span className="muted"> (the lines above are rounded)</span>
        )}
      </dd>
      {most && <Row name="With the most nodes" of={most.total_price} />}
      {total.price_status === 'show' && (
        <>
          <dt>By the hour</dt>
          <dd>
            <Money amount={total.price_per_hour} currency={total.currency_code} />
          </dd>
          <dt>Discount, tax</dt>
          <dd>
            {((total.discount_percent ?? 0) * 100).toLocaleString()} %, {total.tax_percent} % included
          </dd>
        </>
      )}
    </dl>
  );
}

function Row({ name, of }: { name: string; of: Single }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{amountOf(of)}</dd>
    </>
  );
}

const CONFIG = `${CLUSTER}/config` as const;

/** The kubeconfig, which is read only when somebody asks for it: that is recorded. */
function Access({ place, cluster }: { place: Place; cluster: Cluster }) {
  const [error, setError] = useState<ApiError>();
  const call = callOf('get', CONFIG, { params: { path: clusterPath(place, cluster.name) } });
  const { kubeconfig_created_at: made, kubeconfig_expires_at: ends } = cluster.authentication ?? {};
  async function download() {
    setError(undefined);
    try {
      const { config } = (await send(call)) as { config: string };
      keep(new Blob([config], { type: 'application/yaml' }), `${cluster.name}.kubeconfig`);
    } catch (thrown) {
      setError(thrown as ApiError);
    }
  }
  return (
    <Section title="Access">
      <div className="inside page">
        <dl className="facts">
          <dt>Kubeconfig from</dt>
          <dd>
            <Time at={made} />
          </dd>
          <dt>Valid until</dt>
          <dd>
            <Time at={ends} />
          </dd>
        </dl>
        {error && <Fault error={error} />}
        <div className="row">
          <Action
            operation="getKubernetesConfigV2"
            disabled={cluster.status === 'Provisioning' ? 'The cluster is still being created' : undefined}
            onClick={() => void download()}
          >
            Download the kubeconfig
          </Action>
          <AsCode calls={[call]} />
        </div>
        <p className="muted">It gives full control of the cluster. The audit log records who reads it.</p>
      </div>
    </Section>
  );
}

const VERSIONS = `${CLUSTER}/upgrade_versions` as const;
const UPGRADE = `${CLUSTER}/upgrade` as const;

function Upgrade({ place, cluster, etag }: { place: Place; cluster: Cluster; etag: string }) {
  const path = clusterPath(place, cluster.name);
  const { data, error, refetch } = $api.useQuery('get', VERSIONS, { params: { path, query: { limit: 100 } } });
  const versions = data?.results.map(({ version }) => version) ?? [];
  const [chosen, setChosen] = useState<string>();
  const version = chosen !== undefined && versions.includes(chosen) ? chosen : versions.at(-1);
  return (
    <Section title="Upgrade">
      <div className="inside page">
        {error && <Fault error={error} again={() => void refetch()} />}
        <p className="muted">
          {data && versions.length === 0
            ? `${cluster.version} is the newest version that this cluster can have.`
            : `From ${cluster.version}, one minor version at a time. There is no way back.`}
        </p>
        {version !== undefined && (
          <div className="row">
            <Choice label="To" value={version} options={optionsOf(versions)} onChange={setChosen} />
            <Review
              operation="upgradeKubernetesClusterV2"
              label="Upgrade"
              title={`Upgrade ${cluster.name} from ${cluster.version} to ${version}?`}
              tone="primary"
              call={() =>
                callOf('post', UPGRADE, { params: { path }, headers: { 'if-match': etag }, body: { version } })
              }
            />
          </div>
        )}
      </div>
    </Section>
  );
}

function Deletion({ place, cluster, etag }: { place: Place; cluster: Cluster; etag: string }) {
  const navigate = useNavigate();
  return (
    <Section title="Delete">
      <div className="inside page">
        <p className="muted">Its nodes are deleted with their volumes, except for volumes with snapshots.</p>
        <div className="row">
          <Review
            operation="deleteKubernetesClusterV2"
            label="Delete the cluster"
            title={`Delete cluster ${cluster.name}?`}
            tone="danger"
            call={() =>
              callOf('delete', CLUSTER, {
                params: { path: clusterPath(place, cluster.name) },
                headers: { 'if-match': etag },
              })
            }
            onApplied={() => void navigate({ to: '/p/$project/r/$region/clusters', params: place })}
          />
        </div>
      </div>
    </Section>
  );
}
