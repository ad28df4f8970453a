import { Link, useNavigate, useParams } from '@tanstack/react-router';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Copy } from '../../ui/copy.tsx';
import { Json } from '../../ui/json.tsx';
import { Page, UnreadPage } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { Moderation } from './moderation.tsx';
import type { Finding } from './pictures.tsx';
import { titleOf, UNFINISHED } from './tasks.tsx';
import { type Phrase, Transcript } from './transcript.tsx';

type Task = components['schemas']['AiTask'];

/** What is found, by kind of task. */
interface Result {
  error?: string;
  concatenated_text?: string;
  speech_detected?: boolean;
  subtitles?: Phrase[];
  vttContent?: string;
  languages?: string[];
  frames?: Finding[];
  detection_results?: string[];
}

const TABS = { result: 'Result', json: 'JSON' } as const;
/** Events tell when a task starts and ends, not how far it is. */
const PROGRESS_MS = 1_000;

export function AiTaskPage() {
  const { task: id } = useParams({ from: '/ai-tasks/$task' });
  const tab = useTab(TABS);
  const navigate = useNavigate();
  const params = { path: { task_id: id } };
  const {
    data: task,
    error,
    refetch,
  } = $api.useQuery(
    'get',
    '/streaming/ai/tasks/{task_id}',
    { params },
    { refetchInterval: ({ state }) => (state.data && UNFINISHED.includes(state.data.status) ? PROGRESS_MS : false) },
  );
  if (!task) return <UnreadPage title="AI task" error={error} again={refetch} />;
  const unfinished = UNFINISHED.includes(task.status);
  const again = callOf('post', '/streaming/ai/tasks', {
    body: task.task_data as never,
    // Other refusals of this area don't name fields.
    headers: { accept: 'application/problem+json' },
  });
  const cancel = callOf('post', '/streaming/ai/tasks/{task_id}/cancel', { params });
  return (
    <Page
      title={titleOf(task.task_data)}
      crumbs={[
        <Link key="tasks" to="/ai-tasks">
          AI tasks
        </Link>,
        <code key="id">{id}</code>,
      ]}
      actions={
        <>
          <AsCode calls={[callOf('get', '/streaming/ai/tasks/{task_id}', { params })]} />
          {task.status === 'FAILURE' && (
            <Review
              operation="createAiTask"
              label="Try again"
              title="Create a task with the same data?"
              call={() => again}
              onApplied={(answer) =>
                void navigate({ to: '/ai-tasks/$task', params: { task: (answer as { task_id: string }).task_id } })
              }
            />
          )}
          <Review
            operation="cancelAiTask"
            label="Cancel"
            title="Cancel this task?"
            tone="danger"
            disabled={unfinished ? undefined : 'It has ended'}
            call={() => cancel}
          />
        </>
      }
    >
      {task.waiting_for && (
        <div className="note warn" role="status">
          <p>{task.waiting_for}</p>
        </div>
      )}
      <Facts of={task} unfinished={unfinished} />
      <Tabs tabs={TABS} label="Parts of the task" />
      {tab === 'result' ? <Found task={task} unfinished={unfinished} /> : <Json of={task} />}
    </Page>
  );
}

function Facts({ of: task, unfinished }: { of: Task; unfinished: boolean }) {
  const { task_data: data, processing_time: times, status, progress } = task;
  return (
    <div className="card">
      <dl className="facts inside">
        <dt>Status</dt>
        <dd className="row">
          <State of={status} />
          {unfinished && (
            <>
              <progress max={100} value={progress} aria-label="Done" /> {progress} %
            </>
          )}
        </dd>
        <dt>File</dt>
        <dd className="row">
          <span className="long">{data.url}</span> <Copy text={data.url} label="Copy the address of the file" />
        </dd>
        {data.audio_language && (
          <>
            <dt>Spoken language</dt>
            <dd>{data.audio_language}</dd>
          </>
        )}
        {data.subtitles_language && (
          <>
            <dt>Subtitles</dt>
            <dd>{data.subtitles_language}</dd>
          </>
        )}
        {data.stop_objects && (
          <>
            <dt>Stops at</dt>
            <dd>{data.stop_objects}</dd>
          </>
        )}
        <dt>Started</dt>
        <dd>
          <Time at={times.started_at} />
        </dd>
        <dt>Ended</dt>
        <dd>
          <Time at={times.completed_at} />
        </dd>
        <dt>Took</dt>
        <dd>{times.total_time_sec === null ? '–' : `${times.total_time_sec.toFixed(2)} s of fetching and analysis`}</dd>
        {data.client_user_id && (
          <>
            <dt>Your user</dt>
            <dd>{data.client_user_id}</dd>
          </>
        )}
        {data.client_entity_data && (
          <>
            <dt>Your data</dt>
            <dd>
              <code>{data.client_entity_data}</code>
            </dd>
          </>
        )}
      </dl>
    </div>
  );
}

function Found({ task, unfinished }: { task: Task; unfinished: boolean }) {
  const { error, subtitles, vttContent, languages, frames, detection_results, speech_detected, ...rest } =
    (task.result as Result | null) ?? {};
  if (error)
    return (
      <div className="note bad" role="alert">
        <p>{error}</p>
      </div>
    );
  if (task.result === null || task.result === undefined)
    return <p className="muted">{unfinished ? 'Nothing is found yet.' : 'It has no result.'}</p>;
  if (subtitles)
    return (
      <Transcript
        key={task.task_id}
        taskId={task.task_id}
        url={task.task_data.url}
        phrases={subtitles}
        vtt={vttContent ?? ''}
        languages={languages ?? []}
      />
    );
  if (frames) {
    const [, detected] =
      Object.entries(rest as Record<string, unknown>).find(([name]) => name.endsWith('_detected')) ?? [];
    return (
      <Moderation
        key={task.task_id}
        taskId={task.task_id}
        url={task.task_data.url}
        rate={task.frame_rate}
        detected={detected === true}
        findings={frames}
        labels={detection_results ?? []}
      />
    );
  }
  return speech_detected === false ? <p>No speech was found.</p> : <Json of={task.result} />;
}
