import { useRef, useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { useFilters } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Drawer } from '../../ui/drawer.tsx';
import { Fault } from '../../ui/fault.tsx';
import { CheckField, type Form, TextField } from '../../ui/field.tsx';
import { ChoiceFilter, Filters } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Pages, usePaging } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';

const LIST = '/iam/reselling/resellers/{resellerId}/notification_settings';
const ONE = '/iam/reselling/resellers/{resellerId}/notification_settings/{notificationSettingsId}';
const MAIL = '/tradewind/v1/resellers/{resellerId}/notification_mails/{notification_type}';
type Event = 'failed_login' | 'deletion_request';
const EVENTS: Record<Event, { title: string; text: string }> = {
  failed_login: {
    title: 'A login fails',
    text: 'Somebody gave a wrong password for a user of the reseller’s clients. At most one mail an hour for each user.',
  },
  deletion_request: {
    title: 'A client asks to be deleted',
    text: 'A client of the reseller asks for its deletion, or takes that back.',
  },
};
const ORDERS = [
  { value: 'notification_type', text: 'by event' },
  { value: 'email', text: 'by address' },
  { value: '-id', text: 'newest first' },
] as const;

/** Whom mails about a reseller’s clients go to. */
export function Notifications() {
  const { reseller } = useFilters();
  const { userId } = useWho();
  const platform = useRefusal()('listResellers') === undefined;
  const me = $api.useQuery('get', '/iam/clients/me', {});
  const resellers = $api.useQuery(
    'get',
    '/tradewind/v1/resellers',
    { params: { query: { limit: 1000 } } },
    { enabled: platform && me.data !== undefined },
  );
  const own = me.data?.users?.find(({ id }) => id === userId)?.reseller;
  const resellerId = reseller !== undefined && /^\d{1,9}$/.test(reseller) ? Number(reseller) : own;
  if (resellerId === undefined) return <p className="muted">Reading …</p>;
  return (
    <Page
      title="Notifications"
      actions={<AsCode calls={[callOf('get', LIST, { params: { path: { resellerId } } })]} />}
    >
      <Filters>
        {platform && (
          <ChoiceFilter
            name="reseller"
            label="Reseller"
            none="your own"
            options={(resellers.data?.results ?? []).map(({ id, name }) => ({ value: String(id), text: name }))}
          />
        )}
        <ChoiceFilter name="ordering" label="Order" none="oldest first" options={ORDERS} />
      </Filters>
      <div className="cards">
        {(Object.keys(EVENTS) as Event[]).map((event) => (
          <Section key={event} title={EVENTS[event].title}>
            <div className="inside page">
              <p>{EVENTS[event].text}</p>
              <div className="row">
                <FormDrawer
                  operation="createNotificationSetting"
                  label="Add an address"
                  title={`${EVENTS[event].title}: add an address`}
                  initial={{ email: '', enabled: true }}
                  apply="Add"
                  call={({ email, enabled }) =>
                    callOf('post', LIST, {
                      params: { path: { resellerId } },
                      body: { notification_type: event, email, enabled },
                    })
                  }
                >
                  {(form) => <SettingFields {...form} />}
                </FormDrawer>
                <Preview resellerId={resellerId} event={event} />
              </div>
            </div>
          </Section>
        ))}
      </div>
      <Settings resellerId={resellerId} />
    </Page>
  );
}

/** What the receivers read. A strict page can't show the mail's own HTML. */
function Preview({ resellerId, event }: { resellerId: number; event: Event }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  return (
    <>
      <button ref={button} type="button" className="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        See the mail<span className="hidden"> ({EVENTS[event].title})</span>
      </button>
      <Drawer open={open} onOpenChange={setOpen} opener={button} title={`${EVENTS[event].title}: the mail`}>
        <Mail resellerId={resellerId} event={event} />
      </Drawer>
    </>
  );
}

function Mail({ resellerId, event }: { resellerId: number; event: Event }) {
  const params = { path: { resellerId, notification_type: event } };
  const { data, error, refetch } = $api.useQuery('get', MAIL, { params });
  if (error && !data) return <Fault error={error} again={() => void refetch()} />;
  if (!data) return <p className="muted">Reading …</p>;
  return (
    <div className="page">
      <p className="muted">About an invented event, as plain text. Programs that show pages get the same as a page.</p>
      <dl className="facts">
        <dt>From</dt>
        <dd>{data.from}</dd>
        <dt>Subject</dt>
        <dd>{data.subject}</dd>
      </dl>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls has to be reached by keyboard */}
      <pre className="code" tabIndex={0}>
        {data.text}
      </pre>
      <AsCode calls={[callOf('get', MAIL, { params })]} />
    </div>
  );
}

interface Fields {
  email: string;
  enabled: boolean;
}

function SettingFields({ field }: Form<Fields>) {
  return (
    <>
      <TextField label="E-mail address" type="email" required {...field('email')} />
      <CheckField
        label="Send mails"
        {...field('enabled')}
        help="Without it, the setting is kept and nothing is sent."
      />
    </>
  );
}

function Settings({ resellerId }: { resellerId: number }) {
  const { ordering } = useFilters();
  const order = ORDERS.find(({ value }) => value === ordering)?.value;
  const params = {
    path: { resellerId },
    query: { ...usePaging(), ...(order && { ordering: order }) },
  };
  const read = $api.useQuery('get', LIST, { params });
  return (
    <>
      <Table
        caption="Notification settings"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Event', show: ({ notification_type }) => EVENTS[notification_type].title },
          { name: 'E-mail address', show: ({ email }) => email },
          {
            name: 'State',
            show: ({ enabled }) => <State of={enabled ? 'on' : 'off'} />,
          },
          {
            name: 'Actions',
            show: ({ id, notification_type, email, enabled }) => {
              const one = { path: { resellerId, notificationSettingsId: id } };
              return (
                <span className="row">
                  <FormDrawer
                    operation="updateNotificationSetting"
                    label="Change"
                    title={`${EVENTS[notification_type].title}: change`}
                    initial={{ email, enabled }}
                    apply="Change"
                    call={(values) => callOf('patch', ONE, { params: one, body: { notification_type, ...values } })}
                  >
                    {(form) => <SettingFields {...form} />}
                  </FormDrawer>
                  <Review
                    operation="deleteNotificationSetting"
                    label="Delete"
                    tone="danger"
                    title={`Send ${email} no more mails about this?`}
                    call={() => callOf('delete', ONE, { params: one })}
                  />
                </span>
              );
            },
          },
        ]}
        empty={<p>Nobody gets mails about this reseller’s clients.</p>}
      />
      <Pages count={read.data?.count ?? 0} />
    </>
  );
}
