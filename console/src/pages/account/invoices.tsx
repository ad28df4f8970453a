import { Link, useParams } from '@tanstack/react-router';
import type { components } from '../../../types/api.d.ts';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { wordsIn } from '../../lib/changes.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { useRegionName } from '../../lib/place.ts';
import { given, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { optionsOf } from '../../ui/choice.tsx';
import { Export } from '../../ui/export.tsx';
import { NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { ChoiceFilter, Filters, TextFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Money, moneyOf } from '../../ui/money.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { NextPages, PAGE_SIZE } from '../../ui/pages.tsx';
import { State } from '../../ui/state.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { ClientLink, utc, whole } from '../admin/dated-lists.tsx';
import { Address } from './billing.tsx';
import { amountOf } from './costs.tsx';

const LIST = '/tradewind/v1/invoices';
const ONE = '/tradewind/v1/invoices/{invoice_id}';
const STATES = { draft: 'draft', open: 'open', partly_paid: 'partly paid', paid: 'paid', credited: 'credited' };
const KINDS = { retail: 'to clients', wholesale: 'wholesale' };
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;
type Summary = components['schemas']['InvoiceSummary'];
type Invoice = components['schemas']['Invoice'];

const dayOf = ({ finalized_at }: Summary) => finalized_at?.slice(0, 10) ?? '–';
const nameOf = ({ number, id }: Summary) => number ?? `draft ${id}`;

const ofIssuers: Column<Summary>[] = [
  { name: 'Kind', show: ({ kind }) => KINDS[kind] },
  {
    name: 'To',
    show: ({ client_id, reseller_id }) =>
      client_id === null ? `reseller ${reseller_id}` : <ClientLink id={client_id} tab="billing" />,
  },
];

export function Invoices() {
  const { month = '', kind, state, client_id, reseller_id, page_token } = useFilters();
  const refusal = useRefusal();
  const isIssuer = refusal('createPayment') === undefined;
  const params = {
    query: {
      limit: PAGE_SIZE,
      ...given({
        month: MONTH.test(month) ? month : undefined,
        kind: kind as Summary['kind'],
        state: state as Summary['state'],
        client_id: whole(client_id),
        reseller_id: whole(reseller_id),
        page_token,
      }),
    },
  };
  const read = $api.useQuery('get', LIST, { params });
  return (
    <Page title="Invoices" actions={<AsCode calls={[callOf('get', LIST, { params })]} />}>
      <Filters>
        <TextFilter
          name="month"
          label="Month"
          placeholder="2026-03"
          fault={(text) =>
            text === '' || MONTH.test(text) ? undefined : 'Not looked for yet. Months are like 2026-03.'
          }
        />
        {isIssuer && <TextFilter name="client_id" label="Client ID" />}
        {refusal('createReseller') === undefined && <TextFilter name="reseller_id" label="Reseller ID" />}
        {isIssuer && <ChoiceFilter name="kind" label="Kind" options={optionsOf(KINDS)} />}
        <ChoiceFilter name="state" label="State" options={optionsOf(STATES)} />
      </Filters>
      <Table
        caption="Invoices, the latest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          {
            name: 'Number',
            show: (one) => (
              <Link to="/account/invoices/$invoice" params={{ invoice: String(one.id) }}>
                {nameOf(one)}
              </Link>
            ),
          },
          { name: 'Month', show: ({ month }) => month },
          ...(isIssuer ? ofIssuers : []),
          { name: 'Total', number: true, show: ({ gross, currency }) => <Money amount={gross} currency={currency} /> },
          { name: 'Due', number: true, show: ({ due, currency }) => <Money amount={due} currency={currency} /> },
          { name: 'State', show: ({ state }) => <State of={STATES[state]} /> },
          { name: 'Date', show: dayOf },
        ]}
        empty={<p>There are no invoices here. One comes some days after each month in which something was used.</p>}
      />
      <NextPages next={read.data?.next_page_token} />
    </Page>
  );
}

export function InvoicePage() {
  const { invoice } = useParams({ from: '/account/invoices/$invoice' });
  const refusal = useRefusal();
  const params = { path: { invoice_id: Number(invoice) } };
  const { error, refetch, ...read } = $api.useQuery('get', ONE, { params });
  // The other forms are for files.
  const data = read.data as Invoice | undefined;
  if (!data) return <UnreadPage title="Invoice" error={error} again={refetch} />;
  const { kind, month, state, issuer, customer, currency } = data;
  const isIssuer = refusal('createPayment') === undefined;
  const written = callOf('get', ONE, { params });
  const why =
    state === 'draft'
      ? 'It is a draft, which becomes final by itself'
      : kind === 'wholesale' && refusal('createReseller') !== undefined
        ? 'The platform has issued it'
        : undefined;
  const file = (accept: string, ending: string) => (
    <Export operation="getInvoice" path={written.path} accept={accept} file={`${nameOf(data)}.${ending}`}>
      {`Download ${ending.toUpperCase()}`}
    </Export>
  );
  const settled = [
    ...data.payments.map(({ paid_at, ...one }) => ({ ...one, what: 'payment', at: paid_at })),
    ...data.credit_notes.map(({ id, number, reason, gross, created_at }) => ({
      id,
      what: 'credit note',
      reference: `${number}: ${reason}`,
      at: created_at,
      amount: gross,
    })),
  ].sort((one, other) => (one.at < other.at ? -1 : 1));
  return (
    <Page
      title={state === 'draft' ? `Draft of an invoice of ${month}` : `Invoice ${nameOf(data)}`}
      crumbs={[
        <Link key="invoices" to="/account/invoices">
          Invoices
        </Link>,
        nameOf(data),
      ]}
      actions={
        <>
          {isIssuer && <RecordPayment of={data} disabled={why} />}
          {isIssuer && <Credit of={data} disabled={why} />}
          {file('application/pdf', 'pdf')}
          {file('text/csv', 'csv')}
          <AsCode calls={[written, { ...written, headers: { Accept: 'application/pdf' } }]} />
        </>
      }
    >
      <div className="card">
        <dl className="facts inside">
          <dt>State</dt>
          <dd>
            <State of={STATES[state]} />
          </dd>
          <dt>Of</dt>
          <dd>
            {month}
            {kind === 'wholesale' && ', wholesale'}
          </dd>
          <dt>Date</dt>
          <dd>{dayOf(data)}</dd>
          <dt>From</dt>
          <dd>
            <Address of={issuer} />
          </dd>
          <dt>To</dt>
          <dd>
            <Address of={customer} />
          </dd>
        </dl>
      </div>
      <Lines of={data} />
      <Sums of={data} />
      {settled.length > 0 && (
        <Section title="Payments and credit notes">
          <Table
            caption="Payments and credit notes"
            read={{ data: settled }}
            keyOf={({ what, id }) => `${what} ${id}`}
            columns={[
              { name: 'What', show: ({ what }) => what },
              { name: 'Reference', show: ({ reference }) => reference },
              { name: 'Date', show: ({ at }) => at.slice(0, 10) },
              { name: 'With VAT', number: true, show: ({ amount }) => <Money amount={amount} currency={currency} /> },
            ]}
            empty
          />
        </Section>
      )}
    </Page>
  );
}

function Lines({ of: { lines, currency } }: { of: Invoice }) {
  const regionName = useRegionName();
  return (
    <Section title="Lines">
      <Table
        caption="Lines"
        read={{ data: lines }}
        keyOf={({ line }) => line}
        columns={[
          { name: 'Line', show: ({ line }) => line },
          { name: 'Project', show: ({ project_name, project_id }) => project_name ?? project_id ?? '–' },
          { name: 'Region', show: ({ region_id }) => regionName(region_id) },
          { name: 'Type', show: ({ type }) => type.replaceAll('_', ' ') },
          { name: 'Kind', show: ({ kind }) => kind },
          { name: 'Used', number: true, show: ({ quantity, unit }) => amountOf(quantity, unit) },
          { name: 'VAT', number: true, show: ({ tax_percent }) => `${tax_percent} %` },
          { name: 'With VAT', number: true, show: ({ amount }) => <Money amount={amount} currency={currency} /> },
        ]}
        empty
      />
    </Section>
  );
}

interface Sum {
  name: string;
  net?: number;
  vat?: number;
  gross: number;
}

function Sums({ of: { state, currency, taxes, net, vat, gross, paid, credited, due } }: { of: Invoice }) {
  const sums: Sum[] = [
    ...taxes.map(({ tax_percent, reverse_charge, ...one }) => ({
      ...one,
      name: `VAT of ${tax_percent} %${reverse_charge ? ': the customer owes the VAT (reverse charge)' : ''}`,
    })),
    { name: 'Total', net, vat, gross },
    ...(credited > 0 ? [{ name: 'Credited', gross: -credited }] : []),
    ...(paid > 0 ? [{ name: 'Paid', gross: -paid }] : []),
    ...(state === 'draft' ? [] : [{ name: 'Due', gross: due }]),
  ];
  const amount = (name: string, of: 'net' | 'vat' | 'gross') => ({
    name,
    number: true,
    show: ({ name: row, [of]: sum }: Sum) => {
      const shown = sum !== undefined && <Money amount={sum} currency={currency} />;
      return row === 'Total' || row === 'Due' ? <strong>{shown}</strong> : shown;
    },
  });
  return (
    <Section title="Sums">
      <Table
        caption="Sums"
        read={{ data: sums }}
        keyOf={({ name }) => name}
        columns={[
          { name: 'Sum', show: ({ name }) => name },
          amount('Without VAT', 'net'),
          amount('VAT', 'vat'),
          amount('With VAT', 'gross'),
        ]}
        empty
      />
    </Section>
  );
}

interface Offered {
  of: Invoice;
  /** Why the invoice can have no more of these. */
  disabled: string | undefined;
}

function RecordPayment({ of, disabled }: Offered) {
  return (
    <FormDrawer<{ amount: number | undefined; paid_at: string; reference: string }>
      operation="createPayment"
      label="Record a payment"
      title={`Record a payment of ${nameOf(of)}`}
      tone="primary"
      disabled={disabled ?? (of.due > 0 ? undefined : 'Nothing is due')}
      initial={{ amount: of.due, paid_at: '', reference: '' }}
      apply="Record"
      says={({ amount = 0, reference }) => (
        <p>
          {moneyOf(amount, of.currency)} of the {moneyOf(of.due, of.currency)} that are due. Reference: {reference}.
        </p>
      )}
      call={({ amount = 0, paid_at, reference }) =>
        callOf('post', '/tradewind/v1/payments', {
          body: { invoice_id: of.id, amount, reference, ...given({ paid_at: utc(paid_at) }) },
        })
      }
    >
      {({ field }) => (
        <>
          <NumberField
            label="Amount"
            required
            min={0.01}
            step={0.01}
            {...field('amount')}
            help={`${moneyOf(of.due, of.currency)} are due.`}
          />
          <TextField label="Paid (UTC)" type="datetime-local" {...field('paid_at')} help="Empty: now." />
          <TextField
            label="Reference"
            required
            {...field('reference')}
            help="Where it is found in your accounts. The same one again changes nothing."
          />
        </>
      )}
    </FormDrawer>
  );
}

const PARTS = { all: 'all that is left', amount: 'an amount', lines: 'single lines' };
interface Fields {
  reason: string;
  part: string;
  amount: number | undefined;
  lines: string;
}

function Credit({ of, disabled }: Offered) {
  const left = moneyOf(of.gross - of.credited, of.currency);
  return (
    <FormDrawer<Fields>
      operation="createCreditNote"
      label="Credit"
      title={`Credit ${nameOf(of)}`}
      disabled={disabled ?? (of.credited < of.gross ? undefined : 'It is credited as a whole')}
      initial={{ reason: '', part: 'all', amount: undefined, lines: '' }}
      apply="Credit"
      call={({ reason, part, amount, lines }) =>
        callOf('post', '/tradewind/v1/invoices/{invoice_id}/credit_notes', {
          params: { path: { invoice_id: of.id } },
          body: {
            reason,
            ...(part === 'amount' && given({ amount })),
            ...(part === 'lines' && {
              lines: wordsIn(lines).map((line) => ({ line: Number(line), ...given({ amount }) })),
            }),
          },
        })
      }
    >
      {({ values: { part }, field }) => (
        <>
          <TextField
            label="Why"
            required
            maxLength={500}
            {...field('reason')}
            help="It stands on the credit note, which can’t be taken back."
          />
          <SelectField label="What is credited" options={optionsOf(PARTS)} {...field('part')} />
          {part === 'lines' && (
            <TextField label="Lines" required {...field('lines')} help="Their numbers, separated by commas." />
          )}
          {part !== 'all' && (
            <NumberField
              label={part === 'lines' ? 'Amount of each, with VAT' : 'Amount with VAT'}
              required={part === 'amount'}
              min={0.01}
              step={0.01}
              {...field('amount')}
              help={part === 'lines' ? 'Empty: all that is left of it.' : `At most ${left}. All lines share it.`}
            />
          )}
        </>
      )}
    </FormDrawer>
  );
}
