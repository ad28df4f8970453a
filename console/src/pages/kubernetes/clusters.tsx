import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { type Place, pathOf } from '../../lib/place.ts';
import type { Search } from '../../lib/search.ts';
import { ListPage, useRead } from '../../ui/list-page.tsx';
import { pagingOf } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { Changing } from '../network/links.tsx';
import { CLUSTER, clusterPath } from './data.ts';

const LIST = '/cloud/v2/k8s/clusters/{project_id}/{region_id}';

Clusters.reads = (search: Search, place: Place) =>
  $api.queryOptions('get', LIST, { params: { path: pathOf(place), query: pagingOf(search) } });

export function Clusters() {
  const { read, call, place } = useRead(Clusters.reads);
  return (
    <ListPage
      title="Clusters"
      caption="Kubernetes clusters, the newest first"
      call={call}
      read={read}
      keyOf={({ id }) => id}
      nameOf={({ name }) => name}
      bulk={[
        {
          operation: 'deleteKubernetesClusterV2',
          label: 'Delete',
          done: 'Deleted',
          call: ({ name }) => callOf('delete', CLUSTER, { params: { path: clusterPath(place, name) } }),
        },
      ]}
      create={<CreateLink place={place} />}
      empty="There is no cluster in this project and region."
      columns={[
        {
          name: 'Name',
          show: ({ name }) => (
            <Link to="/p/$project/r/$region/clusters/$cluster" params={{ ...place, cluster: name }}>
              {name}
            </Link>
          ),
        },
        { name: 'Version', show: ({ version }) => version },
        { name: 'Status', show: ({ status }) => <State of={status} /> },
        { name: 'Pools', number: true, show: ({ pools }) => pools.length },
        {
          name: 'Nodes',
          number: true,
          show: ({ pools }) => pools.reduce((sum, pool) => sum + (pool.node_count ?? 0), 0),
        },
        {
          name: 'Task',
          show: ({ task_id }) => (task_id ? <Changing task={task_id} /> : <span className="muted">–</span>),
        },
        { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
      ]}
    />
  );
}

function CreateLink({ place }: { place: Place }) {
  const why = useRefusal()('createKubernetesClusterV2');
  return (
    <Link
      to="/p/$project/r/$region/create-cluster"
      params={place}
      className="button primary"
      disabled={why !== undefined}
      title={why}
    >
      Create a cluster
    </Link>
  );
}
