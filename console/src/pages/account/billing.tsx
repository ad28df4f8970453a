import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { components } from '../../../types/api.d.ts';
import { ApiError, send } from '../../lib/api.ts';
import { type Call, callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { given, useFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Unread } from '../../ui/fault.tsx';
import { CheckField, type Form, TextField } from '../../ui/field.tsx';
import { Filters, TextFilter } from '../../ui/filters.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { whole } from '../admin/dated-lists.tsx';

const PROFILE = '/tradewind/v1/billing_profile';
const ISSUER = '/tradewind/v1/issuer';
const TABS = { profile: 'Who pays', issuer: 'Who issues invoices' };

/** Who pays for the own account; of resellers and the platform, who issues invoices. */
export function Billing() {
  const refusal = useRefusal();
  const issues = refusal('getIssuer') === undefined;
  const tabs: Partial<typeof TABS> = issues ? TABS : { profile: TABS.profile };
  const tab = useTab(tabs);
  const isPlatform = refusal('createReseller') === undefined;
  const { reseller_id } = useFilters();
  const resellerId = isPlatform ? whole(reseller_id) : undefined;
  const params = { query: given({ reseller_id: resellerId }) };
  return (
    <Page
      title="Billing"
      actions={<AsCode calls={[tab === 'issuer' ? callOf('get', ISSUER, { params }) : callOf('get', PROFILE, {})]} />}
    >
      {issues && <Tabs tabs={TABS} label="Parts of the page" />}
      {tab === 'issuer' && isPlatform && (
        <Filters>
          <TextFilter name="reseller_id" label="Reseller ID" placeholder="the platform" />
        </Filters>
      )}
      {tab === 'issuer' ? (
        <IssuerSettings resellerId={resellerId} isPlatforms={isPlatform && resellerId === undefined} />
      ) : (
        <BillingProfile />
      )}
    </Page>
  );
}

type Profile = components['schemas']['BillingProfile'];
type Issuer = components['schemas']['Issuer'];
type Said = Omit<Profile, 'client_id'>;
type Party = Record<'company' | 'address' | 'country' | 'vat_id' | 'email', string>;
type More = { vat_confirmed?: true };

/** A company, as it stands on invoices. */
export const Address = ({ of }: { of: Pick<Said, 'company' | 'address' | 'country' | 'vat_id'> }) => (
  <address>
    {[of.company, of.address, of.country, of.vat_id && `VAT ID ${of.vat_id}`].filter(Boolean).join('\n')}
  </address>
);

const partyOf = (said: Said | null | undefined): Party => {
  const { company = '', address = '', country = '', vat_id = '', email = '' } = said ?? {};
  return { company, address, country, vat_id, email };
};
/** What may be left out isn't sent if it is empty. */
const bodyOf = ({ company, address, country, vat_id, email }: Party) => ({
  company,
  address,
  country: country.toUpperCase(),
  ...given({ vat_id: vat_id.toUpperCase(), email }),
});

/** What was set; null if nobody has set it, which the API doesn't find. */
const useSet = <Set,>(call: Call) =>
  useQuery({
    queryKey: [call.path],
    queryFn: () =>
      send(call).catch((error) => {
        if (error instanceof ApiError && error.status === 404) return null;
        throw error;
      }) as Promise<Set | null>,
  });

/** What is said of a company, to change it and to confirm it. */
function PartySection<Values extends Party>({
  title,
  operation,
  read: { data, error, refetch },
  canConfirm,
  unconfirmed,
  initial,
  call,
  fields,
  children,
}: {
  title: string;
  operation: string;
  read: { data?: Said | null | undefined; error: object | null; refetch: () => unknown };
  canConfirm: boolean;
  /** What that means; absent if nobody confirms it. */
  unconfirmed?: string | undefined;
  initial: Values;
  call: (values: Values, more?: More) => Call;
  /** Those besides what is said of every company. */
  fields?: (form: Form<Values>) => ReactNode;
  children?: ReactNode;
}) {
  if (data === undefined) return <Unread error={error} again={refetch} />;
  const buttons = (
    <span className="row">
      {canConfirm && data && (
        <Review
          operation={operation}
          label="Confirm for VAT"
          title="Confirm the country and VAT ID?"
          disabled={data.vat_confirmed ? 'They are confirmed' : undefined}
          call={() => call(initial, { vat_confirmed: true })}
        />
      )}
      <FormDrawer<Values>
        operation={operation}
        label={data ? 'Change' : 'Set'}
        title={title}
        initial={initial}
        apply="Save"
        edits
        call={(values) => call(values)}
      >
        {(form) => (
          <>
            <PartyFields field={form.field} />
            {fields?.(form)}
          </>
        )}
      </FormDrawer>
    </span>
  );
  return (
    <Section title={title} aside={buttons}>
      {data ? (
        <dl className="facts inside">
          <dt>Company</dt>
          <dd>
            <Address of={data} />
          </dd>
          <dt>Invoices go to</dt>
          <dd>{data.email ?? 'the administrators'}</dd>
          {unconfirmed && (
            <>
              <dt>Country and VAT ID</dt>
              <dd>
                <span className={`badge ${data.vat_confirmed ? 'good' : 'warn'}`}>
                  {data.vat_confirmed ? 'confirmed' : 'not confirmed'}
                </span>{' '}
                {!data.vat_confirmed && unconfirmed}
              </dd>
            </>
          )}
          <dt>Set</dt>
          <dd>
            <Time at={data.valid_from} />
          </dd>
          {children}
        </dl>
      ) : (
        <p className="inside">Nobody has set this yet.</p>
      )}
    </Section>
  );
}

const PartyFields = ({ field }: { field: Form<Party>['field'] }) => (
  <>
    <TextField label="Company" required {...field('company')} />
    <TextField label="Address" required rows={3} {...field('address')} help="Without the company." />
    <TextField label="Country" required maxLength={2} {...field('country')} help="In two letters, such as DE." />
    <TextField label="VAT ID" {...field('vat_id')} help="It begins with the letters of the country." />
    <TextField label="E-mail address for invoices" type="email" {...field('email')} help="Empty: the administrators." />
  </>
);

/** Who pays for the own account, or for a client, which its manager can confirm. */
export function BillingProfile({ clientId }: { clientId?: number }) {
  const params = { query: given({ client_id: clientId }) };
  const read = useSet<Profile>(callOf('get', PROFILE, { params }));
  return (
    <PartySection
      title="Who pays"
      operation="setBillingProfile"
      read={read}
      canConfirm={clientId !== undefined}
      unconfirmed="Until then, VAT is as before, or as in the issuer’s country."
      initial={partyOf(read.data)}
      call={(party, more) => callOf('put', PROFILE, { params, body: { ...bodyOf(party), ...more } })}
    />
  );
}

/** Who issues invoices: the platform, or a reseller, which the platform can confirm. */
function IssuerSettings({ resellerId, isPlatforms }: { resellerId: number | undefined; isPlatforms: boolean }) {
  const params = { query: given({ reseller_id: resellerId }) };
  const read = useSet<Issuer>(callOf('get', ISSUER, { params }));
  const { vat_rates = [], reverse_charge = false, invoice_prefix = 'INV' } = read.data ?? {};
  return (
    <PartySection
      title="Who issues invoices"
      operation="setIssuer"
      read={read}
      canConfirm={resellerId !== undefined}
      unconfirmed={isPlatforms ? undefined : 'The platform confirms them. Until then, its invoices don’t go by them.'}
      initial={{
        ...partyOf(read.data),
        invoice_prefix,
        reverse_charge,
        vat_rates: vat_rates.map(({ country, percent }) => `${country} ${percent}`).join('\n'),
      }}
      call={({ invoice_prefix, reverse_charge, vat_rates, ...party }, more) =>
        callOf('put', ISSUER, {
          params,
          body: { ...bodyOf(party), invoice_prefix, reverse_charge, vat_rates: ratesIn(vat_rates), ...more },
        })
      }
      fields={({ field }) => (
        <>
          <TextField
            label="Numbers of invoices begin with"
            required
            {...field('invoice_prefix')}
            help="INV makes INV-2026-000001."
          />
          <TextField
            label="VAT by the country of the client"
            rows={6}
            {...field('vat_rates')}
            help="A country and its percentage in each line, such as DE 19. For others, VAT is as in the catalogue."
          />
          <CheckField
            label="Reverse charge"
            {...field('reverse_charge')}
            help="Clients abroad with a VAT ID pay no VAT here, and owe it themselves."
          />
        </>
      )}
    >
      <dt>Numbers begin with</dt>
      <dd>
        <code>{invoice_prefix}</code>
      </dd>
      <dt>VAT by country</dt>
      <dd>{vat_rates.map(({ country, percent }) => `${country} ${percent} %`).join(', ') || 'as in the catalogue'}</dd>
      <dt>Reverse charge</dt>
      <dd>{reverse_charge ? 'for clients abroad with a VAT ID' : 'no'}</dd>
    </PartySection>
  );
}

/** A percentage that is no number is sent as nothing, which the server refuses. */
const ratesIn = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .flatMap(([country, percent]) =>
      country
        ? [{ country: country.toUpperCase(), percent: Number(percent?.replace(/%$/, '').replace(',', '.')) }]
        : [],
    );
