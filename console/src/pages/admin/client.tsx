import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, send } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { emptyAsNull } from '../../lib/changes.ts';
import { given } from '../../lib/search.ts';
import { Action } from '../../ui/action.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { Fault } from '../../ui/fault.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { BillingProfile } from '../account/billing.tsx';
import { FeatureSwitches } from '../account/features.tsx';
import { PriceTable } from '../account/prices.tsx';
import { QuotaTables } from '../account/quotas.tsx';
import { Invite } from '../account/users.tsx';
import { ActAs } from './clients.tsx';
import { Products } from './products.tsx';
import { RunningCosts, WhenSuspended } from './running-costs.tsx';

const TABS = {
  overview: 'Overview',
  running: 'What it has',
  quotas: 'Quotas',
  services: 'Services and products',
  features: 'Features',
  prices: 'Prices',
  billing: 'Billing',
};

export function ClientPage() {
  const { client } = useParams({ from: '/admin/clients/$client' });
  const clientId = Number(client);
  const tab = useTab(TABS);
  const params = { path: { clientId } };
  const { data, error, refetch } = $api.useQuery('get', '/iam/clients/{clientId}', { params });
  if (!data) return <UnreadPage title="Client" error={error} again={refetch} />;
  const { companyName, status, deleted } = data;
  const tenant = { params: { path: { client_id: clientId } } };
  return (
    <Page
      title={companyName}
      crumbs={[
        <Link key="clients" to="/admin/clients">
          Clients
        </Link>,
        <code key="id">{clientId}</code>,
      ]}
      actions={
        <>
          <ActAs id={clientId} name={companyName} />
          <Invite clientId={clientId} label="Invite an administrator" usualRole="Administrators" />
          <FormDrawer
            operation="updateClient"
            label="Change"
            title={`Change ${companyName}`}
            initial={{ companyName, name: data.name ?? '', phone: data.phone ?? '', custom_id: data.custom_id ?? '' }}
            apply="Change"
            edits
            call={(_, { companyName, ...others }) =>
              callOf('patch', '/iam/clients/{clientId}', {
                params,
                body: { ...given({ companyName }), ...emptyAsNull(others) },
              })
            }
          >
            {({ field }) => (
              <>
                <TextField label="Company" required {...field('companyName')} />
                <TextField label="Contact person" {...field('name')} />
                <TextField label="Phone" {...field('phone')} />
                <TextField label="Your own number for it" {...field('custom_id')} />
              </>
            )}
          </FormDrawer>
          {status === 'paused' ? (
            <Review
              operation="resumeClient"
              label="Resume"
              tone="primary"
              title={`Resume ${companyName}?`}
              call={() => callOf('post', '/tradewind/v1/clients/{client_id}/resume', tenant)}
            >
              <p>Its API tokens work again. Its users log in anew. Machines that the suspension stopped start again.</p>
            </Review>
          ) : (
            <Review
              operation="suspendClient"
              label="Suspend"
              tone="danger"
              title={`Suspend ${companyName}?`}
              call={() => callOf('post', '/tradewind/v1/clients/{client_id}/suspend', tenant)}
            >
              <p>
                This stops its API tokens and logins, at once. Its resources stay and cost what they did, and work in
                progress goes on.
              </p>
              <WhenSuspended clientId={clientId} />
            </Review>
          )}
          <AsCode calls={[callOf('get', '/iam/clients/{clientId}', { params })]} />
        </>
      }
    >
      <Tabs tabs={TABS} label="Parts of the page" />
      {tab === 'overview' && (
        <>
          <div className="card">
            <dl className="facts inside">
              <dt>Status</dt>
              <dd>
                <State of={deleted ? 'deleted' : status} />
              </dd>
              <dt>E-mail address</dt>
              <dd>{data.email}</dd>
              <dt>Contact person</dt>
              <dd>{data.name ?? '–'}</dd>
              <dt>Phone</dt>
              <dd>{data.phone ?? '–'}</dd>
              <dt>Your own number for it</dt>
              <dd>{data.custom_id ?? '–'}</dd>
              <dt>Users</dt>
              <dd>
                <ul>
                  {(data.users ?? []).map(({ id, email }) => (
                    <li key={id}>
                      <Link to="/account/users/$user" params={{ user: String(id) }}>
                        {email}
                      </Link>
                    </li>
                  ))}
                </ul>
              </dd>
              <dt>What it used</dt>
              <dd>
                <Link to="/account/costs" search={{ by: 'client,day' } as never}>
                  Usage and costs by account
                </Link>
              </dd>
            </dl>
          </div>
          {!deleted && <Deletion clientId={clientId} name={companyName} />}
        </>
      )}
      {tab === 'running' && <RunningCosts clientId={clientId} />}
      {tab === 'quotas' && <QuotaTables clientId={clientId} of={companyName} />}
      {tab === 'services' && (
        <>
          <Services clientId={clientId} />
          <Products clientId={clientId} />
        </>
      )}
      {tab === 'features' && <FeatureSwitches clientId={clientId} />}
      {tab === 'prices' && <PriceTable clientId={clientId} />}
      {tab === 'billing' && (
        <>
          <p className="row">
            {(['invoices', 'budgets'] as const).map((page) => (
              <Link key={page} to={`/account/${page}`} search={{ client_id: client } as never}>
                Its {page}
              </Link>
            ))}
          </p>
          <BillingProfile clientId={clientId} />
        </>
      )}
    </Page>
  );
}

interface Announced {
  contents: { kind: string; count: number }[];
  confirmation: string | null;
  confirm_until: string | null;
}

/** The first request says what would go, and gives what confirms the second. */
function Deletion({ clientId, name }: { clientId: number; name: string }) {
  const [announced, setAnnounced] = useState<Announced>();
  const [refused, setRefused] = useState<Error>();
  const call = (body: { confirmation?: string }) =>
    callOf('post', '/tradewind/v1/clients/{client_id}/deletion', { params: { path: { client_id: clientId } }, body });
  async function ask() {
    setRefused(undefined);
    try {
      setAnnounced((await send(call({}))) as Announced);
    } catch (error) {
      setRefused(error as Error);
    }
  }
  const confirmation = announced?.confirmation ?? undefined;
  return (
    <Section title="Delete the client">
      <div className="inside page">
        <p>
          A deletion suspends the account at once, and a task deletes everything in it. What was used stays on record
          for its invoices, and so does the audit log.
        </p>
        {refused && <Fault error={refused} />}
        {announced && (
          <dl className="facts">
            {announced.contents.map(({ kind, count }) => (
              <div key={kind} className="fact">
                <dt>{kind}</dt>
                <dd>{count}</dd>
              </div>
            ))}
          </dl>
        )}
        <div className="row">
          <Action operation="deleteClient" onClick={() => void ask()}>
            See what would be deleted
          </Action>
          {confirmation !== undefined && (
            <>
              <Review
                operation="deleteClient"
                label="Delete"
                tone="danger"
                title={`Delete ${name} with everything in it?`}
                call={() => call({ confirmation })}
                onApplied={() => setAnnounced(undefined)}
              />
              <span className="muted">
                The confirmation ends <Time at={announced?.confirm_until} />.
              </span>
            </>
          )}
        </div>
      </div>
    </Section>
  );
}

const STATUSES = ['active', 'paused', 'trial', 'trialend'] as const;

function Services({ clientId }: { clientId: number }) {
  const read = $api.useQuery('get', '/iam/clients/{clientId}/services', { params: { path: { clientId } } });
  return (
    <Section
      title="Services"
      aside={<span className="muted">While one is off, the client’s logins and API tokens are refused there.</span>}
    >
      <Table
        caption="Services of the client"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Service', show: ({ name }) => name },
          { name: 'Status', show: ({ status }) => status },
          {
            name: 'State',
            show: ({ enabled }) => <State of={enabled ? 'on' : 'off'} />,
          },
          { name: 'Since', show: ({ status_changed_at }) => <Time at={status_changed_at} /> },
          {
            name: 'Actions',
            show: ({ id, name, status }) => (
              <FormDrawer<{ status: string }>
                operation="updateClientService"
                label="Change"
                title={`Change ${name}`}
                initial={{ status }}
                apply="Change"
                call={({ status }) =>
                  callOf('put', '/iam/clients/{clientId}/services/{serviceId}', {
                    params: { path: { clientId, serviceId: id } },
                    body: { status: status as 'active' },
                  })
                }
              >
                {({ field }) => <SelectField label="Status" options={optionsOf(STATUSES)} {...field('status')} />}
              </FormDrawer>
            ),
          },
        ]}
        empty={<p>There are no services.</p>}
      />
    </Section>
  );
}
