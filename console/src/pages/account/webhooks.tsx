import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { wordsIn } from '../../lib/changes.ts';
import { given, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { type Form, NumberField, TextField } from '../../ui/field.tsx';
import { ChoiceFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { NextPages, PAGE_SIZE } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Secret } from '../../ui/secret.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

const LIST = '/tradewind/v1/webhooks';
const ONE = '/tradewind/v1/webhooks/{webhook_id}';
const DELIVERIES = '/tradewind/v1/webhooks/{webhook_id}/deliveries';
/** No event tells of deliveries, which follow the events that they are about. */
const LOOK_AGAIN_MS = 2_000;
const OVERLAP_S = 24 * 3_600;

interface Fields {
  url: string;
  types: string;
  description: string;
}

function WebhookFields({ field }: Form<Fields>) {
  return (
    <>
      <TextField
        label="Address"
        type="url"
        required
        placeholder="https://example.com/hook"
        {...field('url')}
        help="Events are sent there by POST, signed by Standard Webhooks."
      />
      <TextField
        label="Types of events"
        required
        placeholder="tradewind.task.*"
        {...field('types')}
        help="Separated by spaces, with a star at the end for all that begin so. A star alone is all of them."
      />
      <TextField label="Description" {...field('description')} />
    </>
  );
}

export function Webhooks() {
  const { page_token } = useFilters();
  const [secret, setSecret] = useState<string>();
  const params = { query: { limit: PAGE_SIZE, ...given({ page_token }) } };
  const read = $api.useQuery('get', LIST, { params });
  return (
    <Page
      title="Webhooks"
      actions={
        <>
          <FormDrawer
            operation="createWebhook"
            label="Create webhook"
            title="Create a webhook"
            tone="primary"
            initial={{ url: '', types: '*', description: '' }}
            apply="Create"
            call={({ types, ...others }) => callOf('post', LIST, { body: { ...others, types: wordsIn(types) } })}
            onApplied={(answer) => setSecret((answer as { secret: string }).secret)}
          >
            {(form) => <WebhookFields {...form} />}
          </FormDrawer>
          <AsCode calls={[callOf('get', LIST, { params })]} />
        </>
      }
    >
      <Table
        caption="Webhooks, the oldest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Address',
            show: ({ id, url }) => (
              <Link to="/account/webhooks/$webhook" params={{ webhook: id }}>
                {url}
              </Link>
            ),
          },
          { name: 'Types', show: ({ types }) => <code>{types.join(' ')}</code> },
          { name: 'Description', show: ({ description }) => description },
          { name: 'State', show: (webhook) => <Enabled of={webhook} /> },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
        ]}
        empty={<p>No webhook is told of what happens in this account.</p>}
      />
      <NextPages next={read.data?.next_page_token} />
      <ShownSecret secret={secret} onClose={() => setSecret(undefined)} />
    </Page>
  );
}

const ShownSecret = ({ secret, onClose }: { secret: string | undefined; onClose: () => void }) => (
  <Secret title="The secret of the webhook" value={secret} variable="WEBHOOK_SECRET" onClose={onClose} />
);

interface Webhook {
  enabled: boolean;
  disabled_reason: string | null;
  failing_since: string | null;
}

function Enabled({ of: { enabled, disabled_reason, failing_since } }: { of: Webhook }) {
  if (!enabled) return <span className="badge bad">off{disabled_reason && `: ${disabled_reason}`}</span>;
  if (failing_since)
    return (
      <span className="badge warn">
        failing since <Time at={failing_since} />
      </span>
    );
  return <span className="badge good">on</span>;
}

export function WebhookPage() {
  const { webhook } = useParams({ from: '/account/webhooks/$webhook' });
  const navigate = useNavigate();
  const [secret, setSecret] = useState<string>();
  const params = { path: { webhook_id: webhook } };
  const { data, error, refetch } = $api.useQuery('get', ONE, { params });
  if (!data) return <UnreadPage title="Webhook" error={error} again={refetch} />;
  const { url, types, description, enabled, created_at, previous_secret_until } = data;
  return (
    <Page
      title={url}
      crumbs={[
        <Link key="webhooks" to="/account/webhooks">
          Webhooks
        </Link>,
        <code key="id">{webhook}</code>,
      ]}
      actions={
        <>
          <Review
            operation="testWebhook"
            label="Send a test"
            tone="primary"
            title="Send a test event?"
            call={() => callOf('post', '/tradewind/v1/webhooks/{webhook_id}/test', { params })}
          />
          <FormDrawer
            operation="updateWebhook"
            label="Change"
            title="Change the webhook"
            initial={{ url, types: types.join(' '), description }}
            apply="Change"
            edits
            call={(_, { types, ...others }) =>
              callOf('patch', ONE, {
                params,
                body: { ...others, ...(types !== undefined && { types: wordsIn(types) }) },
              })
            }
          >
            {(form) => <WebhookFields {...form} />}
          </FormDrawer>
          <Review
            operation="updateWebhook"
            label={enabled ? 'Switch off' : 'Switch on'}
            title={enabled ? 'Switch the webhook off?' : 'Switch the webhook on?'}
            call={() => callOf('patch', ONE, { params, body: { enabled: !enabled } })}
          />
          <FormDrawer<{ overlap_s: number | undefined }>
            operation="rotateWebhookSecret"
            label="Rotate the secret"
            title="Rotate the secret"
            initial={{ overlap_s: OVERLAP_S }}
            apply="Rotate"
            call={({ overlap_s }) =>
              callOf('post', '/tradewind/v1/webhooks/{webhook_id}/rotate_secret', {
                params,
                body: { overlap_s: overlap_s ?? OVERLAP_S },
              })
            }
            onApplied={(answer) => setSecret((answer as { secret: string }).secret)}
          >
            {({ field }) => (
              <NumberField
                label="Seconds with both secrets"
                min={0}
                {...field('overlap_s')}
                help="For so long, messages have a signature with each of the two."
              />
            )}
          </FormDrawer>
          <Review
            operation="deleteWebhook"
            label="Delete"
            tone="danger"
            title={`Delete the webhook to ${url}?`}
            call={() => callOf('delete', ONE, { params })}
            onApplied={() => void navigate({ to: '/account/webhooks' })}
          >
            <p>What has not been sent is not sent any more.</p>
          </Review>
          <AsCode calls={[callOf('get', ONE, { params }), callOf('get', DELIVERIES, { params })]} />
        </>
      }
    >
      <div className="card">
        <dl className="facts inside">
          <dt>State</dt>
          <dd>
            <Enabled of={data} />
          </dd>
          <dt>Types of events</dt>
          <dd>
            <code>{types.join(' ')}</code>
          </dd>
          <dt>Description</dt>
          <dd>{description || '–'}</dd>
          <dt>Created</dt>
          <dd>
            <Time at={created_at} />
          </dd>
          {previous_secret_until && (
            <>
              <dt>Former secret also signs until</dt>
              <dd>
                <Time at={previous_secret_until} />
              </dd>
            </>
          )}
        </dl>
      </div>
      <Deliveries webhook={webhook} />
      <ShownSecret secret={secret} onClose={() => setSecret(undefined)} />
    </Page>
  );
}

const STATES = ['pending', 'delivered', 'failed'] as const;

function Deliveries({ webhook }: { webhook: string }) {
  const { state, page_token } = useFilters();
  const params = {
    path: { webhook_id: webhook },
    query: { limit: PAGE_SIZE, ...given({ page_token, state: STATES.find((one) => one === state) }) },
  };
  const read = $api.useQuery('get', DELIVERIES, { params }, { refetchInterval: LOOK_AGAIN_MS });
  return (
    <Section
      title="Deliveries"
      aside={
        <>
          <span className="muted">of the last seven days</span>
          <ChoiceFilter name="state" label="State" options={optionsOf(STATES)} />
        </>
      }
    >
      <Table
        caption="Deliveries, the newest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Event',
            show: ({ id, type, subject }) => (
              <>
                <Link to="/account/webhooks/$webhook/deliveries/$delivery" params={{ webhook, delivery: String(id) }}>
                  {type}
                </Link>
                <br />
                <code className="muted">{subject}</code>
              </>
            ),
          },
          { name: 'State', show: ({ state }) => <State of={state} /> },
          { name: 'Attempts', number: true, show: ({ attempts }) => attempts },
          { name: 'Answer', show: ({ response_status, error }) => response_status ?? error ?? '–' },
          { name: 'Since', show: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Next attempt', show: ({ next_attempt_at }) => <Time at={next_attempt_at} /> },
          { name: 'Actions', show: ({ id }) => <Redeliver webhook={webhook} delivery={id} /> },
        ]}
        empty={<p>Nothing has been sent yet. “Send a test” tries it.</p>}
      />
      <NextPages next={read.data?.next_page_token} />
    </Section>
  );
}

function Redeliver({ webhook, delivery }: { webhook: string; delivery: number }) {
  return (
    <Review
      operation="redeliverWebhook"
      label="Redeliver"
      title="Send it again?"
      call={() =>
        callOf('post', '/tradewind/v1/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver', {
          params: { path: { webhook_id: webhook, delivery_id: delivery } },
        })
      }
    >
      <p>It is sent at once, with the same ID, also if it was delivered before.</p>
    </Review>
  );
}

export function DeliveryPage() {
  const { webhook, delivery } = useParams({ from: '/account/webhooks/$webhook/deliveries/$delivery' });
  const params = { path: { webhook_id: webhook, delivery_id: Number(delivery) } };
  const path = '/tradewind/v1/webhooks/{webhook_id}/deliveries/{delivery_id}';
  const { data, error, refetch } = $api.useQuery(
    'get',
    path,
    { params },
    { refetchInterval: ({ state: { data } }) => (data?.state === 'pending' ? LOOK_AGAIN_MS : false) },
  );
  if (!data) return <UnreadPage title="Delivery" error={error} again={refetch} />;
  const { task } = data.event.data;
  const { project_id, region_id } = data.event.data;
  return (
    <Page
      title={data.type}
      crumbs={[
        <Link key="webhooks" to="/account/webhooks">
          Webhooks
        </Link>,
        <Link key="webhook" to="/account/webhooks/$webhook" params={{ webhook }}>
          {webhook}
        </Link>,
        <code key="id">{delivery}</code>,
      ]}
      actions={
        <>
          <Redeliver webhook={webhook} delivery={Number(delivery)} />
          <AsCode calls={[callOf('get', path, { params })]} />
        </>
      }
    >
      <div className="card">
        <dl className="facts inside">
          <dt>State</dt>
          <dd>
            <State of={data.state} />
          </dd>
          <dt>Attempts</dt>
          <dd>{data.attempts}</dd>
          <dt>Last attempt</dt>
          <dd>
            <Time at={data.attempted_at} />
          </dd>
          <dt>Next attempt</dt>
          <dd>
            <Time at={data.next_attempt_at} />
          </dd>
          <dt>Answer</dt>
          <dd>{data.response_status ?? '–'}</dd>
          <dt>Text of the answer</dt>
          <dd>{data.response_text ?? '–'}</dd>
          <dt>Error</dt>
          <dd>{data.error ?? '–'}</dd>
          {task?.id && project_id && region_id && (
            <>
              <dt>Task</dt>
              <dd>
                <Link
                  to="/p/$project/r/$region/tasks/$task"
                  params={{ project: project_id, region: region_id, task: task.id }}
                >
                  {task.id}
                </Link>
              </dd>
            </>
          )}
        </dl>
      </div>
      <Section title="Event">
        <div className="inside">
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll, also by keyboard */}
          <pre className="code" tabIndex={0}>
            {JSON.stringify(data.event, null, 2)}
          </pre>
        </div>
      </Section>
    </Page>
  );
}
