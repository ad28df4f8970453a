import { Dialog } from '@base-ui/react/dialog';
import { Link } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { $api, type ApiError } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { isSame } from '../../lib/changes.ts';
import type { Place } from '../../lib/place.ts';
import { useFilters, useSetFilters } from '../../lib/search.ts';
import { Action } from '../../ui/action.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { CheckField, NumberField, takes } from '../../ui/field.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { CLUSTER, type Cluster, type ClusterRead, clusterPath, type Pool } from './data.ts';
import { newPool, PoolFields, PoolTexts, poolBody } from './pool-fields.tsx';
import type { Faults } from './settings.tsx';

const POOLS = `${CLUSTER}/pools` as const;
const POOL = `${POOLS}/{pool_name}` as const;
const RESIZE = `${POOL}/resize` as const;
const NODES = `${POOL}/instances` as const;
const NODE = `${NODES}/{instance_id}` as const;

/** The pools of a cluster, and the nodes of the one that the address names. */
export function Pools({ place, read: { cluster, etag } }: { place: Place; read: ClusterRead }) {
  const { pool: open } = useFilters();
  const setFilters = useSetFilters();
  const path = (pool: string) => ({ ...clusterPath(place, cluster.name), pool_name: pool });
  const shown = cluster.pools.find(({ name }) => name === open);
  const list = callOf('get', POOLS, { params: { path: clusterPath(place, cluster.name) } });
  return (
    <div className="page">
      <div className="row">
        <AddPool place={place} cluster={cluster} etag={etag} />
        <AsCode calls={[list]} />
      </div>
      <Table
        caption={`Pools of ${cluster.name}`}
        read={{ data: cluster.pools }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Pool',
            show: ({ name }) => (
              <Link to="." search={{ tab: 'pools', pool: name } as never} resetScroll={false}>
                {name}
              </Link>
            ),
          },
          { name: 'Status', show: ({ status }) => <State of={status} /> },
          { name: 'Flavor', show: ({ flavor_id }) => <code>{flavor_id}</code> },
          { name: 'Nodes', number: true, show: ({ node_count }) => node_count },
          {
            name: 'Limits',
            show: ({ min_node_count, max_node_count }) => `${min_node_count} to ${max_node_count}`,
          },
          {
            name: 'Boot volume',
            show: ({ boot_volume_size, boot_volume_type }) =>
              boot_volume_size ? `${boot_volume_size} GiB ${boot_volume_type}` : 'own disks',
          },
          {
            name: 'Actions',
            show: (pool) => (
              <span className="row">
                <Resize place={place} cluster={cluster} pool={pool} />
                <Change place={place} cluster={cluster} pool={pool} />
                <Review
                  operation="deleteKubernetesPoolV2"
                  label="Delete"
                  title={`Delete pool ${pool.name} of ${cluster.name}?`}
                  tone="danger"
                  call={() => callOf('delete', POOL, { params: { path: path(pool.name) } })}
                  onApplied={() => setFilters({ pool: '' })}
                >
                  <p>
                    {cluster.pools.length === 1
                      ? 'This is the last pool: the whole cluster is deleted with it.'
                      : `Its ${pool.node_count === 1 ? 'node is' : `${pool.node_count} nodes are`} deleted with their volumes, except for volumes with snapshots.`}
                  </p>
                </Review>
              </span>
            ),
          },
        ]}
        empty={<p>This cluster has no pool.</p>}
      />
      {shown && <Nodes place={place} cluster={cluster} pool={shown} />}
      {!shown && cluster.pools.length > 0 && <p className="muted">Open a pool to see its nodes.</p>}
    </div>
  );
}

function Nodes({ place, cluster, pool }: { place: Place; cluster: Cluster; pool: Pool }) {
  const path = { ...clusterPath(place, cluster.name), pool_name: pool.name };
  const params = { path, query: { limit: 200 } };
  const read = $api.useQuery('get', NODES, { params });
  const texts = (title: string, of: Record<string, string>) => (
    <>
      <dt>{title}</dt>
      <dd>
        {Object.keys(of).length === 0 ? (
          <span className="muted">none</span>
        ) : (
          Object.entries(of).map(([name, text]) => (
            <div key={name}>
              <code>
                {name}={text}
              </code>
            </div>
          ))
        )}
      </dd>
    </>
  );
  return (
    <section className="page" aria-labelledby="nodes">
      <div className="row">
        <h2 id="nodes">Pool {pool.name}</h2>
        <AsCode calls={[callOf('get', NODES, { params })]} />
      </div>
      <div className="card inside">
        <dl className="facts">
          <dt>Placement</dt>
          <dd>{pool.servergroup_policy || 'bare metal'}</dd>
          <dt>Public addresses</dt>
          <dd>{pool.is_public_ipv4 ? 'yes' : 'no'}</dd>
          <dt>Replaces broken nodes</dt>
          <dd>{pool.auto_healing_enabled ? 'yes' : 'no'}</dd>
          {texts('Labels', pool.labels)}
          {texts('Taints', pool.taints)}
          {texts('Container runtime', pool.crio_config)}
          {texts('Kubelet', pool.kubelet_config)}
          <dt>Security groups</dt>
          <dd>{pool.security_group_ids.length === 0 ? 'only that of the platform' : pool.security_group_ids.length}</dd>
        </dl>
      </div>
      <Table
        caption={`Nodes of pool ${pool.name}`}
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Node', show: ({ name }) => name },
          { name: 'Status', show: ({ status }) => <State of={String(status)} /> },
          {
            name: 'Addresses',
            show: ({ addresses }) => (
              <span className="mono">
                {Object.values((addresses ?? {}) as Record<string, { addr: string }[]>)
                  .flat()
                  .map(({ addr }) => addr)
                  .join(', ')}
              </span>
            ),
          },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Actions',
            show: ({ id, name }) => (
              <Review
                operation="deleteKubernetesPoolInstanceV2"
                label="Delete"
                title={`Delete node ${name}?`}
                tone="danger"
                call={() => callOf('delete', NODE, { params: { path: { ...path, instance_id: id } } })}
              >
                <p>The pool replaces it with a new node. To have fewer nodes, resize the pool.</p>
              </Review>
            ),
          },
        ]}
        empty={<p>This pool has no nodes yet.</p>}
      />
    </section>
  );
}

function AddPool({ place, cluster, etag }: { place: Place; cluster: Cluster; etag: string }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const [pool, setPool] = useState(() => newPool(''));
  const [faults, setFaults] = useState<Faults>({});
  const call = callOf('post', POOLS, {
    params: { path: clusterPath(place, cluster.name) },
    headers: { 'if-match': etag },
    body: poolBody(pool),
  });
  return (
    <>
      <Action operation="createKubernetesPoolV2" tone="primary" opener={button} onClick={() => setOpen(true)}>
        Add a pool
      </Action>
      <Drawer open={open} onOpenChange={setOpen} opener={button} title={`Add a pool to ${cluster.name}`}>
        <form className="form" onSubmit={(event) => event.preventDefault()}>
          <PoolFields place={place} value={pool} onChange={setPool} faults={faults} />
          <div className="row">
            <Review
              operation="createKubernetesPoolV2"
              label="Add"
              title={`Add pool ${pool.name} to ${cluster.name}?`}
              tone="primary"
              call={() => {
                setFaults({});
                return call;
              }}
              onRefused={taking(setFaults, pool)}
              onApplied={() => {
                setOpen(false);
                setPool(newPool(''));
              }}
            />
          </div>
        </form>
      </Drawer>
    </>
  );
}

/** Takes what is wrong with fields of a form to these: with the whole of one, or with something in it. */
const taking = (setFaults: (faults: Faults) => void, form: object) => (error: ApiError) => {
  setFaults(error.fields);
  return takes(error, (name) => (name.split('.')[0] ?? '') in form);
};

function Resize({ place, cluster, pool }: { place: Place; cluster: Cluster; pool: Pool }) {
  const [open, setOpen] = useState(false);
  const [count, setCount] = useState<number>();
  const [faults, setFaults] = useState<Faults>({});
  return (
    <Dialog.Root
      open={open}
      onOpenChange={(next) => {
        setOpen(next);
        setFaults({});
      }}
    >
      <Action
        operation="resizeKubernetesPoolV2"
        onClick={() => {
          setCount(pool.node_count);
          setOpen(true);
        }}
      >
        Resize
      </Action>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>Resize pool {pool.name}</Dialog.Title>
          <NumberField
            label="Nodes"
            value={count}
            onChange={setCount}
            min={pool.min_node_count}
            max={pool.max_node_count}
            help={`${pool.min_node_count} to ${pool.max_node_count}, the limits of the pool. There ${pool.node_count === 1 ? 'is 1' : `are ${pool.node_count}`} now.`}
            faults={faults.node_count}
            required
          />
          <div className="end">
            <Dialog.Close className="button">Close</Dialog.Close>
            <Review
              operation="resizeKubernetesPoolV2"
              label="Resize"
              title={`Resize pool ${pool.name} from ${pool.node_count} to ${count}?`}
              tone="primary"
              disabled={
                count === undefined
                  ? 'Enter a number'
                  : count === pool.node_count
                    ? 'It has this many already'
                    : undefined
              }
              call={() =>
                callOf('post', RESIZE, {
                  params: { path: { ...clusterPath(place, cluster.name), pool_name: pool.name } },
                  body: { node_count: count as number },
                })
              }
              onRefused={taking(setFaults, { node_count: count })}
              onApplied={() => setOpen(false)}
            />
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type Settings = Pick<
  Pool,
  | 'min_node_count'
  | 'max_node_count'
  | 'auto_healing_enabled'
  | 'labels'
  | 'taints'
  | 'crio_config'
  | 'kubelet_config'
  | 'security_group_ids'
>;

const settingsOf = (pool: Pool): Settings => ({
  min_node_count: pool.min_node_count,
  max_node_count: pool.max_node_count,
  auto_healing_enabled: pool.auto_healing_enabled,
  labels: pool.labels,
  taints: pool.taints,
  crio_config: pool.crio_config,
  kubelet_config: pool.kubelet_config,
  security_group_ids: pool.security_group_ids,
});

function Change({ place, cluster, pool }: { place: Place; cluster: Cluster; pool: Pool }) {
  const [open, setOpen] = useState(false);
  // What is changed is told apart from what the pool had when the form opened.
  const button = useRef<HTMLButtonElement>(null);
  const [before, setBefore] = useState<Settings>(settingsOf(pool));
  const [after, setAfter] = useState<Settings>(before);
  const [faults, setFaults] = useState<Faults>({});
  const changed = Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isSame(before[name as keyof Settings], value)),
  );
  return (
    <>
      <Action
        operation="updateKubernetesPoolV2"
        opener={button}
        onClick={() => {
          setBefore(settingsOf(pool));
          setAfter(settingsOf(pool));
          setFaults({});
          setOpen(true);
        }}
      >
        Change
      </Action>
      <Drawer open={open} onOpenChange={setOpen} opener={button} title={`Change pool ${pool.name}`}>
        <form className="form" onSubmit={(event) => event.preventDefault()}>
          <div className="field-pair">
            <NumberField
              label="Minimum nodes"
              value={after.min_node_count}
              onChange={(count) => setAfter({ ...after, min_node_count: count ?? 0 })}
              min={1}
              max={200}
              faults={faults.min_node_count}
            />
            <NumberField
              label="Maximum nodes"
              value={after.max_node_count}
              onChange={(count) => setAfter({ ...after, max_node_count: count ?? 0 })}
              min={1}
              max={200}
              faults={faults.max_node_count}
            />
          </div>
          <CheckField
            label="Replace broken nodes"
            value={after.auto_healing_enabled}
            onChange={(auto_healing_enabled) => setAfter({ ...after, auto_healing_enabled })}
          />
          <PoolTexts
            place={place}
            value={after}
            onChange={(change) => setAfter({ ...after, ...change } as Settings)}
            faults={faults}
          />
          <div className="row">
            <Review
              operation="updateKubernetesPoolV2"
              label="Apply"
              title={`Change pool ${pool.name}?`}
              tone="primary"
              disabled={Object.keys(changed).length === 0 ? 'Nothing is changed yet' : undefined}
              call={() => {
                setFaults({});
                return callOf('patch', POOL, {
                  params: { path: { ...clusterPath(place, cluster.name), pool_name: pool.name } },
                  body: changed,
                });
              }}
              onRefused={taking(setFaults, after)}
              onApplied={() => setOpen(false)}
            />
          </div>
        </form>
      </Drawer>
    </>
  );
}
