import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { usePage } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Bulk } from '../../ui/bulk.tsx';
import { Page } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { CLUSTER, clusterPath } from './data.ts';

const LIST = '/cloud/v2/k8s/clusters/{project_id}/{region_id}';

export function Clusters() {
  const place = usePlace() as Place;
  const page = usePage();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const params = { path: pathOf(place), query: { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE } };
  const read = $api.useQuery('get', LIST, { params });
  const here = read.data?.results.filter(({ name }) => chosen.includes(name)) ?? [];
  return (
    <Page
      title="Clusters"
      actions={
        <>
          <Bulk
            operation="deleteKubernetesClusterV2"
            label="Delete"
            items={here.map(({ name }) => ({
              id: name,
              name,
              call: callOf('delete', CLUSTER, { params: { path: clusterPath(place, name) } }),
            }))}
            onDone={(gone) => setChosen(chosen.filter((name) => !gone.includes(name)))}
          />
          <AsCode calls={[callOf('get', LIST, { params })]} />
          <CreateLink place={place} />
        </>
      }
    >
      <Table
        caption="Kubernetes clusters, the newest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Choose',
            show: ({ name }) => (
              <input
                type="checkbox"
                aria-label={`Choose ${name}`}
                checked={chosen.includes(name)}
                onChange={({ target }) =>
                  setChosen(target.checked ? [...chosen, name] : chosen.filter((one) => one !== name))
                }
              />
            ),
          },
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
            show: ({ task_id }) =>
              task_id ? (
                <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task: task_id }}>
                  in progress
                </Link>
              ) : (
                <span className="muted">–</span>
              ),
          },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={
          <>
            <p>There is no cluster in this project and region.</p>
            <CreateLink place={place} />
          </>
        }
      />
      <Pages count={read.data?.count ?? 0} page={page} />
    </Page>
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
