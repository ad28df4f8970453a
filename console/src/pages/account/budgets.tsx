import type { components } from '../../../types/api.d.ts';
import { $api, OFTEN } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { wordsIn } from '../../lib/changes.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { given, useFilters } from '../../lib/search.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Meter } from '../../ui/bars.tsx';
import { CheckField, type Form, NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { Filters, TextFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Money } from '../../ui/money.tsx';
import { Page } from '../../ui/page.tsx';
import { NextPages, PAGE_SIZE } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ClientLink, whole } from '../admin/dated-lists.tsx';

const LIST = '/tradewind/v1/budgets';
const ONE = '/tradewind/v1/budgets/{budget_id}';
type Budget = components['schemas']['Budget'];

export function Budgets() {
  const { client_id, page_token } = useFilters();
  const { clientId } = useWho();
  const own = $api.useQuery('get', '/cloud/v1/projects', { params: { query: { limit: 1000 } } });
  const projects = new Map(own.data?.results.map(({ id, name }) => [id, name]));
  const refusal = useRefusal();
  const isManager = refusal('createPayment') === undefined;
  const isPlatform = refusal('createReseller') === undefined;
  const params = { query: { limit: PAGE_SIZE, ...given({ client_id: whole(client_id), page_token }) } };
  const read = $api.useQuery('get', LIST, { params }, OFTEN);
  const ofWhat = ({ project_id }: Budget) =>
    project_id === null ? 'whole account' : (projects.get(project_id) ?? `project ${project_id}`);
  const account: Column<Budget> = {
    name: 'Account',
    show: ({ client_id: of }) => (of === clientId ? 'your own' : <ClientLink id={of} tab="billing" />),
  };
  return (
    <Page
      title="Budgets"
      actions={
        <>
          <CreateBudget projects={projects} isManager={isManager} />
          <AsCode calls={[callOf('get', LIST, { params })]} />
        </>
      }
    >
      {isManager && (
        <Filters>
          <TextFilter name="client_id" label="Client ID" />
        </Filters>
      )}
      <p className="muted">For each month in UTC, with VAT. What is spent is counted about once a minute.</p>
      <Table
        caption="Budgets, the latest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'For', show: ofWhat },
          ...(isManager ? [account] : []),
          {
            name: 'Budget',
            number: true,
            show: ({ amount, currency }) => <Money amount={amount} currency={currency} />,
          },
          {
            name: 'Spent',
            number: true,
            show: ({ spent, currency }) => <Money amount={spent} currency={currency} />,
          },
          { name: 'Share', show: (budget) => <Share of={budget} /> },
          {
            name: 'Warns at',
            show: ({ warn_at }) =>
              warn_at.length === 0 ? 'never' : warn_at.map((share) => `${share}\u00a0%`).join(', '),
          },
          {
            name: 'When it is spent',
            show: ({ stops_creation, is_spent }) =>
              stops_creation ? (
                <span className={is_spent ? 'badge bad' : ''}>nothing new is made</span>
              ) : (
                'nothing stops'
              ),
          },
          { name: 'Set by', show: ({ set_by }) => set_by },
          {
            name: 'Actions',
            show: (budget) => (
              <Actions
                of={budget}
                name={`the budget of ${ofWhat(budget)}`}
                kept={
                  budget.set_by === 'reseller' && budget.client_id === clientId && !isPlatform
                    ? 'Your reseller has set it'
                    : undefined
                }
              />
            ),
          },
        ]}
        empty={<p>No budget says what may be spent.</p>}
      />
      <NextPages next={read.data?.next_page_token} />
    </Page>
  );
}

function Share({ of: { spent, amount, is_spent } }: { of: Budget }) {
  if (spent === null) return <span className="muted">–</span>;
  return (
    <span className="share">
      <Meter share={spent / amount} full={is_spent} />
      {Math.floor((spent * 100) / amount + 1e-9)} %
    </span>
  );
}

interface Fields {
  amount: number | undefined;
  warn_at: string;
  stops_creation: boolean;
}
const sharesIn = (text: string): number[] => wordsIn(text.replaceAll('%', '')).map(Number);

function BudgetFields({ field }: { field: Form<Fields>['field'] }) {
  return (
    <>
      <NumberField
        label="Amount a month"
        required
        min={0.01}
        step={0.01}
        {...field('amount')}
        help="With VAT, in the currency that the account pays in."
      />
      <TextField
        label="Warn at"
        {...field('warn_at')}
        help="Percentages, separated by commas. Administrators get a mail at each, once a month."
      />
      <CheckField
        label="Let nothing new be made once it is spent"
        {...field('stops_creation')}
        help="What is there runs on, and costs."
      />
    </>
  );
}

function CreateBudget({ projects, isManager }: { projects: ReadonlyMap<number, string>; isManager: boolean }) {
  return (
    <FormDrawer<Fields & { client_id: number | undefined; own_project: string; project_id: number | undefined }>
      operation="createBudget"
      label="Create budget"
      title="Create a budget"
      tone="primary"
      initial={{
        client_id: undefined,
        own_project: '',
        project_id: undefined,
        amount: undefined,
        warn_at: '50, 80, 100',
        stops_creation: false,
      }}
      apply="Create"
      call={({ client_id, own_project, project_id, amount = 0, warn_at, stops_creation }) =>
        callOf('post', LIST, {
          body: {
            ...given({ client_id, project_id: client_id === undefined ? whole(own_project) : project_id }),
            amount,
            warn_at: sharesIn(warn_at),
            stops_creation,
          },
        })
      }
    >
      {({ values, field }) => (
        <>
          {isManager && (
            <NumberField label="Client ID" min={1} {...field('client_id')} help="Empty: your own account." />
          )}
          {values.client_id === undefined ? (
            <SelectField
              label="For"
              options={[
                { value: '', text: 'whole account' },
                ...[...projects].map(([id, name]) => ({ value: String(id), text: name })),
              ]}
              {...field('own_project')}
            />
          ) : (
            <NumberField label="Project ID" min={1} {...field('project_id')} help="Empty: for the whole account." />
          )}
          <BudgetFields field={field} />
        </>
      )}
    </FormDrawer>
  );
}

function Actions({ of, name, kept }: { of: Budget; name: string; kept: string | undefined }) {
  const params = { path: { budget_id: of.id } };
  return (
    <span className="row">
      <FormDrawer<Fields>
        operation="updateBudget"
        label="Change"
        title={`Change ${name}`}
        disabled={kept}
        initial={{ amount: of.amount, warn_at: of.warn_at.join(', '), stops_creation: of.stops_creation }}
        apply="Change"
        edits
        call={(_, { warn_at, ...others }) =>
          callOf('patch', ONE, {
            params,
            body: { ...given(others), ...(warn_at !== undefined && { warn_at: sharesIn(warn_at) }) },
          })
        }
      >
        {({ field }) => <BudgetFields field={field} />}
      </FormDrawer>
      <Review
        operation="deleteBudget"
        label="Delete"
        tone="danger"
        title={`Delete ${name}?`}
        disabled={kept}
        call={() => callOf('delete', ONE, { params })}
      />
    </span>
  );
}
