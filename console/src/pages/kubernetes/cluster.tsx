import { Link, useParams } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useDraft } from '../../lib/draft.ts';
import { type Place, usePlace } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Json } from '../../ui/json.tsx';
import { Page, UnreadPage } from '../../ui/page.tsx';
import { State } from '../../ui/state.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { ADD_ONS } from './add-ons.tsx';
import { AUTHENTICATION } from './authentication.tsx';
import { AUTOSCALER } from './autoscaler.tsx';
import { CNI } from './cni.tsx';
import { CLUSTER, type ClusterRead, clusterPath, useCluster } from './data.ts';
import { DDOS } from './ddos.tsx';
import { LOGGING } from './logging.tsx';
import { Overview } from './overview.tsx';
import { Pools } from './pools.tsx';
import { type Draft, type Group, Settings } from './settings.tsx';
import { Tasks } from './tasks.tsx';

/** The groups of settings, by the tabs that show them. */
const GROUPS = {
  'add-ons': ADD_ONS,
  authentication: AUTHENTICATION,
  autoscaler: AUTOSCALER,
  cni: CNI,
  ddos: DDOS,
  logging: LOGGING,
} as const satisfies Record<string, Group>;

const TABS = {
  overview: 'Overview',
  pools: 'Pools',
  'add-ons': 'Add-ons',
  authentication: 'Authentication',
  autoscaler: 'Autoscaler',
  cni: 'CNI',
  ddos: 'DDoS',
  logging: 'Logging',
  tasks: 'Tasks',
  json: 'JSON',
} as const;
type Tab = keyof typeof TABS;
type Drafts = Readonly<Partial<Record<keyof typeof GROUPS, Draft>>>;

export function ClusterPage() {
  const { cluster: name } = useParams({ from: '/p/$project/r/$region/clusters/$cluster' });
  const place = usePlace() as Place;
  const { data, error, refetch } = useCluster(place, name);
  if (!data) return <UnreadPage title="Cluster" error={error} again={refetch} />;
  return <Known key={data.cluster.id} place={place} read={data} />;
}

function Known({ place, read }: { place: Place; read: ClusterRead }) {
  const { cluster } = read;
  const tab = useTab<Tab>(TABS);
  // What was entered stays while one looks at other tabs and pages.
  const [drafts, setDrafts] = useDraft<Drafts>(`cluster ${cluster.id}`, {});
  const marked = Object.fromEntries(
    Object.entries(TABS).map(([one, text]) => [one, one in drafts ? `${text} (edited)` : text]),
  );
  return (
    <Page
      title={cluster.name}
      crumbs={[
        <Link key="clusters" to="/p/$project/r/$region/clusters" params={place}>
          Clusters
        </Link>,
        cluster.name,
      ]}
      actions={
        <>
          <State of={cluster.status} />
          <AsCode calls={[callOf('get', CLUSTER, { params: { path: clusterPath(place, cluster.name) } })]} />
        </>
      }
    >
      {cluster.task_id && <Held place={place} task={cluster.task_id} />}
      <Tabs tabs={marked} label="Parts of the cluster" />
      <TabContents
        tab={tab}
        place={place}
        read={read}
        drafts={drafts}
        onDraft={(group, draft) =>
          setDrafts(({ [group]: _, ...others }) => (draft ? { ...others, [group]: draft } : others))
        }
      />
    </Page>
  );
}

function TabContents({
  tab,
  place,
  read,
  drafts,
  onDraft,
}: {
  tab: Tab;
  place: Place;
  read: ClusterRead;
  drafts: Drafts;
  onDraft: (group: keyof Drafts, draft: Draft | undefined) => void;
}) {
  switch (tab) {
    case 'overview':
      return <Overview place={place} read={read} />;
    case 'pools':
      return <Pools place={place} read={read} />;
    case 'tasks':
      return <Tasks place={place} cluster={read.cluster} />;
    case 'json':
      return <Json of={read.cluster} />;
    default:
      return (
        <Settings
          key={tab}
          group={GROUPS[tab]}
          place={place}
          read={read}
          draft={drafts[tab]}
          onDraft={(draft) => onDraft(tab, draft)}
        />
      );
  }
}

/** The task that holds the cluster, and how far it is. */
function Held({ place, task }: { place: Place; task: string }) {
  const { data } = $api.useQuery('get', '/tradewind/v1/tasks/{task_id}/steps', { params: { path: { task_id: task } } });
  const doing = data?.steps.find((step) => step.state === 'doing' || step.state === 'waiting');
  return (
    <div className="note" role="status">
      <p className="row">
        <State of={data?.state ?? 'RUNNING'} />
        <span>
          A task holds this cluster{data && `: ${data.done} of ${data.of} steps are done`}
          {doing?.doing && `, ${doing.doing}`}.
        </span>
        <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task }}>
          See the task
        </Link>
      </p>
    </div>
  );
}
