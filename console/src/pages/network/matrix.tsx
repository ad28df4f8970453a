import { useQueries, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { useFilters, useSetFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { Fault } from '../../ui/fault.tsx';
import { TextFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { INTERNET, InstanceLink, type Question, QuestionLink } from './links.tsx';
import { trafficAsked, trafficOf } from './reachability.tsx';
import { hasPorts, isPort, PROTOCOLS, type Rule } from './rules.ts';

/** More would be no table that one can read. */
export const INSTANCES = 12;
const PORTS = 16;

const LIST = '/cloud/v1/instances/{project_id}/{region_id}';
const INTERFACES = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/interfaces';
const ASK = '/tradewind/v1/reachability';

export interface End {
  /** Undefined for the internet and for addresses. */
  instance: string | undefined;
  name: string;
  port: string;
  address: string;
}

interface Ends {
  ends: End[];
  /** How many ports there are, also those that are left out. */
  all: number;
  /** Of a read, without which ends would be missing. */
  error: object | undefined;
  again: () => void;
}

/** The ports of instances, and the internet behind them. */
export function useEnds(instances: readonly { id: string; name: string }[]): Ends | undefined {
  const place = usePlace() as Place;
  const interfaces = useQueries({
    queries: instances.map(({ id }) =>
      $api.queryOptions('get', INTERFACES, {
        params: { path: { ...pathOf(place), instance_id: id }, query: { limit: PORTS } },
      }),
    ),
  });
  if (interfaces.some(({ isPending }) => isPending)) return undefined;
  const ports = instances.flatMap(({ id, name }, at): End[] =>
    (interfaces[at]?.data?.results ?? []).map(({ port_id, ip_assignments }) => ({
      instance: id,
      name,
      port: port_id,
      address: ip_assignments.map(({ ip_address }) => ip_address).join(', '),
    })),
  );
  const internet = { instance: undefined, name: 'the internet', port: INTERNET, address: '' };
  const failed = interfaces.filter(({ data, error }) => !data && error);
  return {
    ends: [...ports.slice(0, PORTS), internet],
    all: ports.length,
    error: failed[0]?.error ?? undefined,
    again: () => void Promise.all(failed.map(({ refetch }) => refetch())),
  };
}

/** Which instances and ports are looked at, if those are not all. */
export const partOf = (instances: { shown: number; all: number }, ports: { shown: number; all: number }) => ({
  instances: instances.all > instances.shown ? `the first ${instances.shown} of ${instances.all} instances` : undefined,
  ports: ports.all > ports.shown ? `${ports.shown} of their ${ports.all} ports` : undefined,
});

/** The request that answers for every pair of these ends at once, perhaps with other rules for a group. */
export function pairsOf(ends: readonly End[], asked: Question, draft?: { group: string; rules: readonly Rule[] }) {
  const all = ends.map(({ port }) => port);
  const drafts = draft && [{ security_group_id: draft.group, rules: draft.rules as never }];
  return { body: { from: all, to: all, ...trafficOf(asked), ...(drafts && { drafts }) } };
}

export const readPairs = (...asked: Parameters<typeof pairsOf>) => $api.queryOptions('post', ASK, pairsOf(...asked));

/** Which instances reach which, for one protocol and port. */
export function Matrix() {
  const place = usePlace() as Place;
  const { name, ip, protocol = 'tcp', port: typed = '443' } = useFilters();
  const port = isPort(typed) ? typed : '443';
  const change = useSetFilters();
  const asked: Question = { protocol, ...(hasPorts(protocol) && { port }) };
  const init = {
    params: {
      path: pathOf(place),
      query: { limit: INSTANCES, order_by: 'name.asc' as const, ...(name && { name }), ...(ip && { ip }) },
    },
  };
  const list = $api.useQuery('get', LIST, init);
  const instances = list.data?.results ?? [];
  const known = useEnds(instances);
  const shown = known?.ends.slice(0, -1) ?? [];
  const part = partOf(
    { shown: instances.length, all: list.data?.count ?? 0 },
    { shown: shown.length, all: known?.all ?? 0 },
  );
  return (
    <Page
      title="Reachability matrix"
      crumbs={[
        <Link key="one" to="/p/$project/r/$region/reachability" params={place}>
          Reachability
        </Link>,
      ]}
      actions={
        <AsCode
          calls={[
            callOf('get', LIST, init),
            ...(known && !known.error && shown.length > 0 ? [callOf('post', ASK, pairsOf(known.ends, asked))] : []),
          ]}
        />
      }
    >
      <div className="row filters">
        <TextFilter name="name" label="Instances" placeholder="part of the name" />
        <TextFilter name="ip" label="Address" placeholder="10.0.0" />
        <Choice
          label="Protocol"
          value={protocol}
          options={[{ value: 'any', text: 'all protocols' }, ...optionsOf(PROTOCOLS)]}
          onChange={(chosen) => change({ protocol: chosen })}
        />
        {hasPorts(protocol) && <TextFilter name="port" label="Port" placeholder="443" />}
        {hasPorts(protocol) && !isPort(typed) && <p className="fault">A port is a number from 1 to 65535.</p>}
      </div>
      {list.error && <Fault error={list.error} again={() => void list.refetch()} />}
      {list.data && (
        <p className="muted">
          {trafficAsked(asked)} between{' '}
          {part.instances ? `${part.instances} by name: the filters choose others` : 'these instances'}
          {part.ports && `, ${part.ports}`}, and the internet. Each cell leads to its rule.
        </p>
      )}
      {known?.error && <Fault error={known.error} again={known.again} />}
      {known && !known.error && list.data && shown.length === 0 && (
        <p className="card empty">It takes an instance with a port.</p>
      )}
      {known && !known.error && shown.length > 0 && <Reached ends={known.ends} asked={asked} />}
    </Page>
  );
}

function Reached({ ends, asked }: { ends: readonly End[]; asked: Question }) {
  const { data, error, refetch } = useQuery(readPairs(ends, asked));
  const allowed = new Map(data?.pairs.map((pair) => [`${pair.from} ${pair.to}`, pair.allowed]));
  if (error && !data) return <Fault error={error} again={() => void refetch()} />;
  return (
    <Cells
      ends={ends}
      caption={`Who reaches whom with ${trafficAsked(asked)}: rows send first, columns receive`}
      show={(from, to) => {
        const passes = allowed.get(`${from.port} ${to.port}`);
        if (passes === undefined) return <span className="muted">…</span>;
        return (
          <QuestionLink
            asked={{ ...asked, from: from.port, to: to.port }}
            className={`badge ${passes ? 'good' : 'bad'}`}
          >
            {passes ? 'allowed' : 'blocked'}
          </QuestionLink>
        );
      }}
    />
  );
}

/** A table of ends by ends. */
export function Cells({
  ends,
  caption,
  show,
}: {
  ends: readonly End[];
  caption: string;
  show: (from: End, to: End) => ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: wide tables scroll, also by keyboard
    // biome-ignore lint/a11y/useSemanticElements: it is no part of a form
    <div className="card scroll" role="group" aria-label={caption} tabIndex={0}>
      <table className="matrix">
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            <th scope="col">from ↓ to →</th>
            {ends.map((to) => (
              <th key={to.port} scope="col">
                {to.name} <span className="mono">{to.address}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {ends.map((from) => (
            <tr key={from.port}>
              <th scope="row">
                {from.instance ? <InstanceLink id={from.instance} name={from.name} /> : from.name}{' '}
                <span className="mono">{from.address}</span>
              </th>
              {ends.map((to) => (
                <td key={to.port}>
                  {to.port === from.port || (to.instance !== undefined && to.instance === from.instance) ? (
                    <span className="muted">itself</span>
                  ) : (
                    show(from, to)
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
