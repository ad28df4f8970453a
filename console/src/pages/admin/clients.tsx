import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, ApiError, parsed, send } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { emptyAsNull } from '../../lib/changes.ts';
import { actAs } from '../../lib/hub.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { given, useFilters, usePage } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { Action } from '../../ui/action.tsx';
import { AsCode } from '../../ui/as-code.tsx';
import { Fault } from '../../ui/fault.tsx';
import { SelectField, TextField } from '../../ui/field.tsx';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { FeatureSwitches } from '../account/features.tsx';
import { PriceTable } from '../account/prices.tsx';
import { QuotaTables } from '../account/quotas.tsx';

const ORDERS = [
  { value: 'companyName', text: 'by name' },
  { value: '-created_at', text: 'newest first' },
];

interface ClientRow {
  id: number;
  companyName: string;
  email: string;
  status: string;
  deleted: boolean;
}

export function Clients() {
  const page = usePage();
  const { companyName, users_email, deleted = 'false', cloud, reseller_id, ordering } = useFilters();
  const navigate = useNavigate();
  const params = {
    query: {
      limit: PAGE_SIZE,
      offset: (page - 1) * PAGE_SIZE,
      deleted,
      ...given({
        companyName,
        users_email,
        cloud: cloud as 'active',
        reseller_id: reseller_id ? Number(reseller_id) : undefined,
        ordering,
      }),
    },
  };
  const read = $api.useQuery('get', '/iam/clients', { params });
  // With a limit, the answer is a page.
  const data = read.data as { count: number; results: ClientRow[] } | undefined;
  return (
    <Page
      title="Clients"
      actions={
        <>
          <FormDrawer
            operation="createClient"
            label="Create client"
            title="Create a client"
            tone="primary"
            initial={{ company: '' }}
            apply="Create"
            call={(body) => callOf('post', '/iam/clients/create', { body })}
            onApplied={(answer) =>
              void navigate({
                to: '/admin/clients/$client',
                params: { client: String((answer as { id: number }).id) },
              })
            }
          >
            {({ values, set, faults }) => (
              <TextField
                label="Company"
                required
                value={values.company}
                onChange={(company) => set({ company })}
                faults={faults.company}
                help="It begins with an administrator and a default project."
              />
            )}
          </FormDrawer>
          <AsCode calls={[callOf('get', '/iam/clients', { params })]} />
        </>
      }
    >
      <search className="filters">
        <TextFilter name="companyName" label="Company" />
        <TextFilter name="users_email" label="Address of a user" />
        <TextFilter name="reseller_id" label="Reseller ID" />
        <ChoiceFilter
          name="cloud"
          label="Cloud"
          options={['active', 'paused', 'new', 'trial'].map((one) => ({ value: one, text: one }))}
        />
        <ChoiceFilter
          name="deleted"
          label="Deleted"
          none="without these"
          options={[
            { value: 'true', text: 'only these' },
            { value: 'any', text: 'these, too' },
          ]}
        />
        <ChoiceFilter name="ordering" label="Order" none="oldest first" options={ORDERS} />
      </search>
      <Table
        caption="Clients"
        read={{ ...read, data }}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Company',
            show: ({ id, companyName }) => (
              <Link to="/admin/clients/$client" params={{ client: String(id) }}>
                {companyName}
              </Link>
            ),
          },
          { name: 'ID', show: ({ id }) => <code>{id}</code> },
          { name: 'E-mail address', show: ({ email }) => email },
          {
            name: 'Status',
            show: (client) => <Status of={client} />,
          },
          { name: 'Actions', show: ({ id, companyName }) => <ActAs id={id} name={companyName} /> },
        ]}
        empty={<p>No client matches.</p>}
      />
      <Pages count={data?.count ?? 0} page={page} />
    </Page>
  );
}

function Status({ of: { status, deleted } }: { of: Pick<ClientRow, 'status' | 'deleted'> }) {
  if (deleted) return <span className="badge bad">deleted</span>;
  return <span className={`badge ${status === 'active' ? 'good' : status === 'paused' ? 'warn' : ''}`}>{status}</span>;
}

/** Shows the console as the administrator of the client sees it, until one goes back. */
function ActAs({ id, name }: { id: number; name: string }) {
  const { clientId, acting } = useWho();
  const navigate = useNavigate();
  const [refused, setRefused] = useState<Error>();
  async function begin() {
    setRefused(undefined);
    try {
      const { status, body } = await actAs(id);
      if (status === 200) void navigate({ to: '/' });
      else setRefused(new ApiError(status, parsed((await body?.text()) ?? ''), undefined));
    } catch (error) {
      setRefused(error as Error);
    }
  }
  const why = acting ? 'Go back to your own account first' : id === clientId ? 'This is your own account' : undefined;
  return (
    <>
      <Action operation="loginAsAdministrator" disabled={why} onClick={() => void begin()}>
        Act for {name}
      </Action>
      {refused && <Fault error={refused} />}
    </>
  );
}

const TABS = {
  overview: 'Overview',
  quotas: 'Quotas',
  services: 'Services and products',
  features: 'Features',
  prices: 'Prices',
};

export function ClientPage() {
  const { client } = useParams({ from: '/admin/clients/$client' });
  const clientId = Number(client);
  const tab = useTab(TABS);
  const params = { path: { clientId } };
  const { data, error, refetch } = $api.useQuery('get', '/iam/clients/{clientId}', { params });
  if (error && !data) return <Fault error={error} again={() => void refetch()} />;
  if (!data) return <p className="muted">Reading …</p>;
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
            {({ values, set, faults }) => (
              <>
                <TextField
                  label="Company"
                  required
                  value={values.companyName}
                  onChange={(companyName) => set({ companyName })}
                  faults={faults.companyName}
                />
                <TextField
                  label="Contact person"
                  value={values.name}
                  onChange={(name) => set({ name })}
                  faults={faults.name}
                />
                <TextField
                  label="Phone"
                  value={values.phone}
                  onChange={(phone) => set({ phone })}
                  faults={faults.phone}
                />
                <TextField
                  label="Your own number for it"
                  value={values.custom_id}
                  onChange={(custom_id) => set({ custom_id })}
                  faults={faults.custom_id}
                />
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
              <p>Its API tokens work again. Its users log in anew.</p>
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
                <Status of={{ status, deleted }} />
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
      {tab === 'quotas' && <QuotaTables clientId={clientId} />}
      {tab === 'services' && (
        <>
          <Services clientId={clientId} />
          <Products clientId={clientId} />
        </>
      )}
      {tab === 'features' && <FeatureSwitches clientId={clientId} />}
      {tab === 'prices' && <PriceTable clientId={clientId} />}
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
    <section className="card" aria-labelledby="deletion">
      <header>
        <h2 id="deletion">Delete the client</h2>
      </header>
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
    </section>
  );
}

const STATUSES = ['active', 'paused', 'trial', 'trialend'] as const;

function Services({ clientId }: { clientId: number }) {
  const read = $api.useQuery('get', '/iam/clients/{clientId}/services', { params: { path: { clientId } } });
  return (
    <section className="card" aria-labelledby="services">
      <header>
        <h2 id="services">Services</h2>
        <span className="muted">While one is off, the client’s logins and API tokens are refused there.</span>
      </header>
      <Table
        caption="Services of the client"
        read={{ ...read, data: read.data && { count: read.data.length, results: read.data } }}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Service', show: ({ name }) => name },
          { name: 'Status', show: ({ status }) => status },
          {
            name: 'State',
            show: ({ enabled }) => <span className={`badge ${enabled ? 'good' : ''}`}>{enabled ? 'on' : 'off'}</span>,
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
                {({ values, set, faults }) => (
                  <SelectField
                    label="Status"
                    value={values.status}
                    options={STATUSES.map((one) => ({ value: one, text: one }))}
                    onChange={(status) => set({ status })}
                    faults={faults.status}
                  />
                )}
              </FormDrawer>
            ),
          },
        ]}
        empty={<p>There are no services.</p>}
      />
    </section>
  );
}

const CLIENT_PRODUCTS = '/iam/products/availability/clients/{clientId}';

function Products({ clientId }: { clientId: number }) {
  const params = { path: { clientId } };
  const read = $api.useQuery('get', CLIENT_PRODUCTS, { params });
  return (
    <section className="card" aria-labelledby="products">
      <header>
        <h2 id="products">Products</h2>
        <span className="muted">Which it may have. What is available is switched on above.</span>
      </header>
      <Table
        caption="Products of the client"
        read={{ ...read, data: read.data && { count: read.data.length, results: read.data } }}
        keyOf={({ product_name }) => product_name}
        columns={[
          { name: 'Product', show: ({ product_name }) => product_name },
          { name: 'State', show: ({ available }) => <Available of={available} /> },
          {
            name: 'Actions',
            show: ({ product_name, available }) => (
              <span className="row">
                <Review
                  operation="setClientProduct"
                  label={available ? 'Withhold' : 'Offer'}
                  title={`${available ? 'Withhold' : 'Offer'} ${product_name}?`}
                  call={() =>
                    callOf('patch', CLIENT_PRODUCTS, { params, body: { product_name, available: !available } })
                  }
                />
                <Review
                  operation="resetClientProducts"
                  label="As the default"
                  title={`Let the default count for ${product_name}?`}
                  call={() => callOf('delete', CLIENT_PRODUCTS, { params, body: { product_names: [product_name] } })}
                />
              </span>
            ),
          },
        ]}
        empty={<p>There are no products.</p>}
      />
    </section>
  );
}

function Available({ of }: { of: boolean }) {
  return <span className={`badge ${of ? 'good' : ''}`}>{of ? 'available' : 'not available'}</span>;
}

const DEFAULTS = '/iam/products/availability/defaults';

/** What clients may have for whom nothing else was set. */
export function DefaultProducts() {
  const read = $api.useQuery('get', DEFAULTS, {});
  const refusal = useRefusal()('resetAllProducts');
  return (
    <Page
      title="Products"
      actions={
        <>
          {refusal === undefined && (
            <Review
              operation="resetAllProducts"
              label="Let the defaults count for all"
              title="Forget what was set for single clients?"
              call={() =>
                callOf('delete', '/iam/products/availability/clients', {
                  body: { product_names: (read.data ?? []).map(({ product_name }) => product_name) },
                })
              }
            />
          )}
          <AsCode calls={[callOf('get', DEFAULTS, {})]} />
        </>
      }
    >
      <p className="muted">
        These count for clients for whom nothing else was set. A new client begins without what it may not have.
      </p>
      <Table
        caption="Products by default"
        read={{ ...read, data: read.data && { count: read.data.length, results: read.data } }}
        keyOf={({ product_name }) => product_name}
        columns={[
          { name: 'Product', show: ({ product_name }) => product_name },
          { name: 'State', show: ({ available }) => <Available of={available} /> },
          {
            name: 'Actions',
            show: ({ product_name, available }) => (
              <Review
                operation="setDefaultProduct"
                label={available ? 'Withhold' : 'Offer'}
                title={`${available ? 'Withhold' : 'Offer'} ${product_name} by default?`}
                call={() => callOf('patch', DEFAULTS, { body: { product_name, available: !available } })}
              />
            ),
          },
        ]}
        empty={<p>There are no products.</p>}
      />
    </Page>
  );
}
