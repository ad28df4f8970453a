import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { useRefusal } from '../../lib/permissions.ts';
import { useWho } from '../../lib/session.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { FormDrawer } from '../../ui/form-drawer.tsx';
import { Page, Section } from '../../ui/page.tsx';
import { PAGE_SIZE, Pages, usePaging } from '../../ui/pages.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { useListParams } from '../admin/dated-lists.tsx';
import { CreateQuotaList, QUOTA_LISTS, QuotaLists } from './quota-lists.tsx';
import { GLOBAL, nameOf, type Quota, quotasIn, REGIONAL, useLimitFields } from './quota-names.ts';

const TABS = { quotas: 'Quotas', requests: 'Requests for more' };

export function Quotas() {
  const mayList = useRefusal()('listQuotaLists') === undefined;
  const tabs = { ...TABS, ...(mayList && { lists: 'Lists' }) };
  const tab = useTab(tabs);
  const { clientId } = useWho();
  const params = useListParams();
  const calls = {
    quotas: readsOf(clientId, []),
    requests: [callOf('get', '/cloud/v2/limits_request', { params: { query: { limit: PAGE_SIZE } } })],
    lists: [callOf('get', QUOTA_LISTS, { params })],
  };
  return (
    <Page
      title="Quotas"
      actions={
        <>
          {tab === 'lists' ? <CreateQuotaList clientId={clientId} /> : <RequestMore clientId={clientId} />}
          <AsCode calls={calls[tab]} />
        </>
      }
    >
      <Tabs tabs={tabs} label="Parts of the page" />
      {tab === 'quotas' && (
        <>
          <QuotaTables clientId={clientId} />
          <Threshold clientId={clientId} />
        </>
      )}
      {tab === 'requests' && <Requests />}
      {tab === 'lists' && <QuotaLists />}
    </Page>
  );
}

const THRESHOLD = '/cloud/v2/client_quotas/{client_id}/notification_threshold';

const readsOf = (client_id: number, regions: readonly number[]) => [
  callOf('get', GLOBAL, { params: { path: { client_id } } }),
  ...regions.map((region_id) => callOf('get', REGIONAL, { params: { path: { client_id, region_id } } })),
];

/** The quotas of an account with their use: those of all regions, and those of each. */
export function QuotaTables({ clientId, of }: { clientId: number; of?: string }) {
  const regions = $api.useQuery('get', '/cloud/v1/regions', {});
  const global = $api.useQuery('get', GLOBAL, { params: { path: { client_id: clientId } } });
  return (
    <>
      <QuotaTable title="In all regions" read={global} clientId={clientId} of={of} />
      {(regions.data?.results ?? []).map(({ id, display_name }) => (
        <Regional key={id} clientId={clientId} region={id} title={display_name} of={of} />
      ))}
    </>
  );
}

function Regional({
  clientId,
  region,
  title,
  of,
}: {
  clientId: number;
  region: number;
  title: string;
  of: string | undefined;
}) {
  const read = $api.useQuery('get', REGIONAL, { params: { path: { client_id: clientId, region_id: region } } });
  return <QuotaTable title={title} read={read} clientId={clientId} region={region} of={of} />;
}

function QuotaTable({
  title,
  read,
  clientId,
  region,
  of,
}: {
  title: string;
  read: { data?: object | undefined; error: object | null; refetch: () => unknown };
  clientId: number;
  region?: number;
  /** The name of the account, if it is another one. */
  of: string | undefined;
}) {
  const quotas = quotasIn((read.data ?? {}) as Record<string, number>).sort(
    (one, other) => other.used / (other.limit || 1) - one.used / (one.limit || 1),
  );
  return (
    <Section title={title}>
      <Table
        caption={`Quotas: ${title}`}
        read={{ ...read, data: read.data && quotas }}
        keyOf={({ field }) => field}
        columns={[
          { name: 'What', show: ({ field }) => nameOf(field) },
          { name: 'Used', number: true, show: ({ used }) => used },
          { name: 'Limit', number: true, show: ({ limit }) => limit },
          { name: 'Share', show: (quota) => <Share of={quota} /> },
          {
            name: 'Actions',
            show: ({ field, limit }) => (
              <ChangeLimit
                clientId={clientId}
                region={region}
                // The same limit is in several tables and of several accounts.
                where={`${region === undefined ? 'in all regions' : `in ${title}`}${of === undefined ? '' : ` for ${of}`}`}
                field={field}
                limit={limit}
              />
            ),
          },
        ]}
        empty={<p>There are no quotas.</p>}
      />
    </Section>
  );
}

function Share({ of: { limit, used } }: { of: Quota }) {
  const percent = limit === 0 ? 0 : Math.min(100, (used / limit) * 100);
  return (
    <span className={`meter wide ${percent >= 90 ? 'full' : ''}`} aria-hidden>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" width="100%" height="100%" role="presentation">
        <rect width={percent} height="4" />
      </svg>
    </span>
  );
}

function ChangeLimit({
  clientId,
  region,
  where,
  field,
  limit,
}: {
  clientId: number;
  region: number | undefined;
  where: string;
  field: string;
  limit: number;
}) {
  return (
    <FormDrawer<Record<string, number | undefined>>
      operation={region === undefined ? 'changeGlobalQuotas' : 'changeRegionalQuotas'}
      label="Change"
      title={`Change the limit of ${nameOf(field)} ${where}`}
      initial={{ [field]: limit }}
      apply="Change"
      call={(values) => {
        // An empty field gives the limit of the catalogue back.
        const body = { [field]: values[field] ?? null };
        return region === undefined
          ? callOf('patch', GLOBAL, { params: { path: { client_id: clientId } }, body })
          : callOf('patch', REGIONAL, { params: { path: { client_id: clientId, region_id: region } }, body });
      }}
    >
      {(form) => (
        <NumberField
          label="Limit"
          min={0}
          {...form.field(field)}
          help="Empty: the limit of the lists or the catalogue. What is there already stays."
        />
      )}
    </FormDrawer>
  );
}

/** When the account wants to be warned. */
function Threshold({ clientId }: { clientId: number }) {
  const params = { path: { client_id: clientId } };
  const { data } = $api.useQuery('get', THRESHOLD, { params });
  if (!data) return null;
  return (
    <Section title="Warning">
      <div className="inside row">
        <p>
          The administrators get a mail once {data.threshold} % of a quota are used.
          {data.last_sending && (
            <>
              {' '}
              The last one was sent <Time at={data.last_sending} />.
            </>
          )}
        </p>
        <FormDrawer<{ threshold: number | undefined }>
          operation="setQuotaThreshold"
          label="Change the percentage"
          title="Change when to warn"
          initial={{ threshold: data.threshold }}
          apply="Change"
          call={({ threshold }) => callOf('put', THRESHOLD, { params, body: { threshold: threshold ?? 0 } })}
        >
          {({ field }) => <NumberField label="Percent of a quota" required {...field('threshold')} />}
        </FormDrawer>
        <Review
          operation="deleteQuotaThreshold"
          label="Back to the usual one"
          title="Warn at the usual percentage?"
          call={() => callOf('delete', THRESHOLD, { params })}
        />
      </div>
    </Section>
  );
}

function RequestMore({ clientId }: { clientId: number }) {
  const { regions, inRegions, inAll } = useLimitFields(clientId);
  return (
    <FormDrawer
      operation="createLimitRequest"
      label="Ask for more"
      title="Ask for other limits"
      tone="primary"
      initial={{
        field: 'vm_count_limit',
        region: String(regions[0]?.id ?? ''),
        limit: undefined as number | undefined,
        description: '',
      }}
      apply="Ask"
      call={({ field, region, limit = 0, description }) =>
        callOf('post', '/cloud/v2/limits_request', {
          body: {
            description,
            requested_limits: inRegions.includes(field)
              ? { regional_limits: [{ region_id: Number(region), [field]: limit }] }
              : { global_limits: { [field]: limit } },
          },
        })
      }
    >
      {({ values, field }) => (
        <>
          <SelectField
            label="What"
            options={[...inRegions, ...inAll].map((field) => ({ value: field, text: nameOf(field) }))}
            {...field('field')}
          />
          {inRegions.includes(values.field) && (
            <SelectField
              label="Region"
              options={regions.map(({ id, display_name }) => ({ value: String(id), text: display_name }))}
              {...field('region')}
            />
          )}
          <NumberField label="Limit" required min={0} {...field('limit')} />
          <TextField
            label="Why"
            required
            {...field('description')}
            help="The platform administrator reads it and decides."
          />
        </>
      )}
    </FormDrawer>
  );
}

function Requests() {
  const params = { query: usePaging() };
  const read = $api.useQuery('get', '/cloud/v2/limits_request', { params });
  return (
    <>
      <Table
        caption="Requests for other limits, the newest first"
        read={read}
        keyOf={({ id }) => id}
        columns={[
          { name: 'ID', show: ({ id }) => <code>{id}</code> },
          { name: 'Account', show: ({ client_id }) => client_id },
          { name: 'Limits', show: ({ requested_limits }) => limitsIn(requested_limits) },
          { name: 'Why', show: ({ description }) => description },
          { name: 'State', show: ({ status }) => <State of={status} /> },
          { name: 'Asked', show: ({ created_at }) => <Time at={created_at} /> },
          { name: 'Actions', show: ({ id, status }) => <RequestActions id={id} open={status === 'in progress'} /> },
        ]}
        empty={<p>Nobody has asked for more.</p>}
      />
      <Pages count={read.data?.count ?? 0} />
    </>
  );
}

interface Limits {
  global_limits?: object;
  regional_limits?: readonly { region_id: number }[];
}

function limitsIn({ global_limits = {}, regional_limits = [] }: Limits): string {
  const texts = (limits: object, where: string) =>
    Object.entries(limits).map(([field, limit]) => `${limit} ${nameOf(field)}${where}`);
  return [
    ...texts(global_limits, ''),
    ...regional_limits.flatMap(({ region_id, ...limits }) => texts(limits, ` in region ${region_id}`)),
  ].join(', ');
}

function RequestActions({ id, open }: { id: number; open: boolean }) {
  const params = { path: { request_id: id } };
  const disabled = open ? undefined : 'It is decided already';
  return (
    <span className="row">
      <Review
        operation="decideLimitRequest"
        label="Grant"
        tone="primary"
        disabled={disabled}
        title="Grant these limits?"
        call={() => callOf('patch', '/cloud/v2/limits_request/{request_id}', { params, body: { status: 'done' } })}
      />
      <Review
        operation="decideLimitRequest"
        label="Reject"
        disabled={disabled}
        title="Reject the request?"
        call={() => callOf('patch', '/cloud/v2/limits_request/{request_id}', { params, body: { status: 'rejected' } })}
      />
      <Review
        operation="deleteLimitRequest"
        label="Delete"
        tone="danger"
        title="Delete the request?"
        call={() => callOf('delete', '/cloud/v2/limits_request/{request_id}', { params })}
      >
        <p>Limits that were granted stay.</p>
      </Review>
    </span>
  );
}
