import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { useFilters } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Filters, TextFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { type Read, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

/** Paid and free features: what there is, what is on, and since when. Resellers switch them on and off. */
export function Features() {
  const { clientId, clientName } = useWho();
  const { client } = useFilters();
  const switches = useRefusal()('listFeatures') === undefined;
  const of = switches && client !== undefined && /^\d{1,9}$/.test(client) ? Number(client) : clientId;
  return (
    <Page
      title="Features"
      actions={
        <AsCode
          calls={
            switches
              ? [
                  callOf('get', '/iam/admin/feature', {}),
                  callOf('get', '/iam/admin/free_features', {}),
                  callOf('get', '/iam/admin/paid_features', {}),
                ]
              : [callOf('get', '/iam/clients/me', {})]
          }
        />
      }
    >
      {switches && (
        <>
          <Filters>
            <TextFilter name="client" label="Client ID" placeholder={String(clientId)} />
          </Filters>
          <p className="muted">
            {of === clientId ? `Those of ${clientName}, your own account.` : `Those of client ${of}.`} The platform
            administrator’s account may use all of them.{' '}
            <Link to="/account/audit" search={{ type: 'tradewind.feature.*' } as never}>
              Who switched what
            </Link>
          </p>
        </>
      )}
      {switches ? <FeatureSwitches clientId={of} /> : <OwnFeatures />}
    </Page>
  );
}

interface Row {
  id: number;
  name: string;
  service: string;
  is_free: boolean;
  activation: { id: number; since: string } | undefined;
}

/** All features, with those of a client that are on. */
export function FeatureSwitches({ clientId }: { clientId: number }) {
  const all = $api.useQuery('get', '/iam/admin/feature', {});
  const free = $api.useQuery('get', '/iam/admin/free_features', {});
  const paid = $api.useQuery('get', '/iam/admin/paid_features', {});
  const own = [...(free.data ?? []), ...(paid.data ?? [])].filter((one) => one.client_id === clientId);
  const rows = all.data?.map(({ id, name, service, is_free }): Row => {
    const on = own.find((one) => one.feature_id === id);
    return { id, name, service, is_free, activation: on && { id: on.id, since: on.created_date } };
  });
  const known = free.data !== undefined && paid.data !== undefined;
  return (
    <FeatureTable
      read={{
        data: known ? rows : undefined,
        error: all.error ?? free.error ?? paid.error,
        refetch: () => Promise.all([all.refetch(), free.refetch(), paid.refetch()]),
      }}
      clientId={clientId}
      empty="This platform offers no features."
    />
  );
}

/** What those see who can't switch features: which are on in their account. */
function OwnFeatures() {
  const { clientId } = useWho();
  const read = $api.useQuery('get', '/iam/clients/me', {});
  const rows = [
    ...Object.values(read.data?.freeFeatures ?? {}).flatMap((of) =>
      of.map((one) => ({ ...one, is_free: true, activation: one.free_feature_id })),
    ),
    ...Object.values(read.data?.paidFeatures ?? {}).flatMap((of) =>
      of.map((one) => ({ ...one, is_free: false, activation: one.paid_feature_id })),
    ),
  ].map(({ feature_id, name, service, is_free, create_date, activation }) => ({
    id: feature_id,
    name,
    service,
    is_free,
    activation: { id: activation, since: create_date },
  }));
  return (
    <FeatureTable
      read={{ ...read, data: read.data && rows }}
      clientId={clientId}
      empty="No feature is on in this account. Your reseller can switch some on."
    />
  );
}

function FeatureTable({ read, clientId, empty }: { read: Read<Row>; clientId: number; empty: string }) {
  return (
    <Table
      caption="Features"
      read={read}
      keyOf={({ id }) => id}
      columns={[
        { name: 'Feature', show: ({ name }) => name },
        { name: 'Service', show: ({ service }) => service },
        { name: 'Price', show: ({ is_free }) => (is_free ? 'free' : 'paid') },
        {
          name: 'State',
          show: ({ activation }) => <State of={activation ? 'on' : 'off'} />,
        },
        { name: 'Since', show: ({ activation }) => activation && <Time at={activation.since} /> },
        { name: 'Actions', show: (feature) => <Switch of={feature} clientId={clientId} /> },
      ]}
      empty={<p>{empty}</p>}
    />
  );
}

function Switch({ of: { id, name, is_free, activation }, clientId }: { of: Row; clientId: number }) {
  const kind = is_free ? 'free' : 'paid';
  const verb = is_free ? 'FreeFeature' : 'PaidFeature';
  if (!activation)
    return (
      <Review
        operation={`activate${verb}`}
        label="Switch on"
        tone="primary"
        title={`Switch ${name} on for client ${clientId}?`}
        call={() => callOf('post', `/iam/admin/${kind}_features`, { body: { client_id: clientId, feature_id: id } })}
      >
        <p>The client may do at once what the feature opens.</p>
      </Review>
    );
  return (
    <Review
      operation={`deactivate${verb}`}
      label="Switch off"
      tone="danger"
      title={`Switch ${name} off for client ${clientId}?`}
      call={() =>
        callOf('delete', `/iam/admin/${kind}_features/{activatedFeatureId}`, {
          params: { path: { activatedFeatureId: activation.id } },
        })
      }
    >
      <p>From then on, what the feature opened is refused. AI tasks that were accepted go on.</p>
    </Review>
  );
}
