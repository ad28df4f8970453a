import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const PROCESSES = '/tradewind/v1/platform/processes';
const QUEUES = '/tradewind/v1/platform/queues';
const CHECKS = '/tradewind/v1/platform/checks';
const ORPHANS = '/tradewind/v1/platform/orphans';
/** No event tells of processes and queues. */
const OFTEN = { refetchInterval: 5_000 };
const REMOVE = 'npx tradewind orphans remove --yes';

const WORK = {
  tasks: 'Tasks',
  infrastructure: 'Changes of infrastructure',
  ai_tasks: 'AI tasks',
  deletions: 'Deletions of projects and accounts',
  waiting_deletions: 'Deletions that wait for others',
  mails: 'Mails',
  webhook_deliveries: 'Webhook deliveries',
};
const ORDER = ['missing', 'limited', 'ok'];

/** For the administrator of the platform: how Tradewind itself is. */
export function PlatformPage() {
  return (
    <Page
      title="Platform"
      actions={
        <AsCode
          calls={[
            callOf('get', PROCESSES, {}),
            callOf('get', QUEUES, {}),
            callOf('get', CHECKS, {}),
            callOf('get', ORPHANS, {}),
          ]}
        />
      }
    >
      <Processes />
      <Queues />
      <Checks />
      <Orphans />
    </Page>
  );
}

function Processes() {
  const read = $api.useQuery('get', PROCESSES, {}, OFTEN);
  return (
    <Section title="Processes">
      <Table
        caption="Processes that are alive"
        read={read}
        keyOf={({ host, pid, worker_id }) => `${host} ${pid} ${worker_id}`}
        columns={[
          {
            name: 'Process',
            show: ({ host, pid, version }) => (
              <>
                {host} <code>{pid}</code> {version && <span className="muted">answers you, {version}</span>}
              </>
            ),
          },
          {
            name: 'Takes work',
            show: ({ worker_id, started_at }) =>
              worker_id === null ? (
                'no'
              ) : (
                <>
                  since <Time at={started_at} />
                </>
              ),
          },
          { name: 'AI tasks', show: ({ ai_kinds }) => ai_kinds.join(', ') || <span className="muted">none</span> },
          {
            name: 'Works on',
            show: ({ holds }) =>
              holds.map(({ queue, count }) => `${WORK[queue]}: ${count}`).join(', ') || (
                <span className="muted">nothing</span>
              ),
          },
          { name: 'Last sign of life', show: ({ seen_at }) => <Time at={seen_at} /> },
          {
            name: 'Catalogue',
            show: ({ catalog_problem }) =>
              catalog_problem === null ? 'in force' : <span className="badge bad">older: {catalog_problem}</span>,
          },
        ]}
        empty={<p>None.</p>}
      />
    </Section>
  );
}

const counted = (number: number | null) => number ?? <span className="muted">–</span>;

function Queues() {
  const read = $api.useQuery('get', QUEUES, {}, OFTEN);
  return (
    <Section title="Queues">
      <Table
        caption="Work of all accounts"
        read={read}
        keyOf={({ queue }) => queue}
        columns={[
          { name: 'Work', show: ({ queue }) => WORK[queue] },
          { name: 'Waiting', number: true, show: ({ waiting }) => waiting },
          { name: 'Oldest waits since', show: ({ oldest_waiting_since }) => <Time at={oldest_waiting_since} /> },
          { name: 'Running', number: true, show: ({ running }) => running },
          { name: 'Failing', number: true, show: ({ failing }) => counted(failing) },
          {
            name: 'Failed in the last hour',
            number: true,
            show: ({ failed_last_hour }) => counted(failed_last_hour),
          },
          {
            name: 'Kinds',
            show: ({ kinds }) =>
              kinds.length > 0 && (
                <details>
                  <summary>{kinds.length}</summary>
                  <ul>
                    {kinds.map(({ kind, waiting, running, failing, failed_last_hour }) => (
                      <li key={kind}>
                        <code>{kind}</code>{' '}
                        {Object.entries({ waiting, running, failing, failed: failed_last_hour })
                          .flatMap(([word, number]) => (number ? [`${number} ${word}`] : []))
                          .join(', ')}
                      </li>
                    ))}
                  </ul>
                </details>
              ),
          },
        ]}
        empty={<p>None.</p>}
      />
    </Section>
  );
}

/** The server looks again at most every half minute. */
const LookedAt = ({ at }: { at: string | undefined }) =>
  at && (
    <span className="muted">
      looked at <Time at={at} />
    </span>
  );

function Checks() {
  const read = $api.useQuery('get', CHECKS, {}, OFTEN);
  const results = read.data?.results.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  return (
    <Section title="Checks" aside={<LookedAt at={read.data?.checked_at} />}>
      <p className="inside">What the process that answers you finds, as in “tradewind doctor”.</p>
      <Table
        caption="Checks, what is missing first"
        read={{ ...read, data: results }}
        keyOf={({ name }) => name}
        columns={[
          { name: 'What', show: ({ name }) => name },
          { name: 'State', show: ({ state }) => <State of={state} /> },
          { name: 'Found, and what to do', show: ({ detail }) => detail },
        ]}
        empty={<p>None.</p>}
      />
    </Section>
  );
}

function Orphans() {
  const read = $api.useQuery('get', ORPHANS, {}, OFTEN);
  const { count = 0, results = [], problems = [] } = read.data ?? {};
  return (
    <Section title="Orphans" aside={<LookedAt at={read.data?.checked_at} />}>
      {problems.map(({ backend, problem }) => (
        <p key={backend} className="note bad">
          The backend {backend} could not list what it has: {problem}
        </p>
      ))}
      <Table
        caption="Infrastructure that nobody wants"
        read={read}
        keyOf={({ backend, kind, id }) => `${backend} ${kind} ${id}`}
        columns={[
          { name: 'Backend', show: ({ backend }) => backend },
          { name: 'Kind', show: ({ kind }) => kind },
          { name: 'ID', show: ({ id }) => <code>{id}</code> },
          { name: 'Name there', show: ({ handle }) => handle && <code>{handle}</code> },
        ]}
        empty={<p>None.</p>}
      />
      {count > results.length && <p className="inside muted">These are the first of {count}.</p>}
      {count > 0 && (
        <p className="inside">
          On the server, this removes them: <code>{REMOVE}</code> <Copy text={REMOVE} label="Copy the command" />
        </p>
      )}
    </Section>
  );
}
