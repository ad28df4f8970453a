import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { useFilters, useSetFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { Fault } from '../../ui/fault.tsx';
import { TextFilter } from '../../ui/filters.tsx';
import { Page } from '../../ui/page.tsx';
import { InstanceLink, type Question, QuestionLink } from './links.tsx';
import { requestBetween, trafficAsked } from './reachability.tsx';
import { hasPorts, isPort, PROTOCOLS } from './rules.ts';

/** Each pair is a request. */
const INSTANCES = 12;
const PORTS = 16;

const LIST = '/cloud/v1/instances/{project_id}/{region_id}';
const INTERFACES = '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/interfaces';
const ASK = '/tradewind/v1/reachability';

interface End {
  instance: string;
  name: string;
  port: string;
  address: string;
}

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
  const interfaces = useQueries({
    queries: instances.map(({ id }) =>
      $api.queryOptions('get', INTERFACES, {
        params: { path: { ...pathOf(place), instance_id: id }, query: { limit: PORTS } },
      }),
    ),
  });
  const ready = list.data !== undefined && interfaces.every(({ isPending }) => !isPending);
  const ends = instances.flatMap(({ id, name }, at): End[] =>
    (interfaces[at]?.data?.results ?? []).map(({ port_id, ip_assignments }) => ({
      instance: id,
      name,
      port: port_id,
      address: ip_assignments.map(({ ip_address }) => ip_address).join(', '),
    })),
  );
  const shown = ends.slice(0, PORTS);
  const [first, second] = shown;
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
            ...(first && second ? [callOf('get', ASK, requestBetween(first.port, second.port, asked))] : []),
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
          {list.data.count > INSTANCES
            ? `the first ${INSTANCES} of ${list.data.count} instances by name: the filters choose others`
            : 'these instances'}
          {ends.length > shown.length && `, ${shown.length} of their ${ends.length} ports`}. Each cell leads to its
          rule.
        </p>
      )}
      {ready && shown.length < 2 && <p className="card empty">It takes two instances with ports.</p>}
      {ready && shown.length >= 2 && <Cells ends={shown} asked={asked} />}
    </Page>
  );
}

function Cells({ ends, asked }: { ends: readonly End[]; asked: Question }) {
  const pairs = ends.flatMap((from) =>
    ends.filter((to) => to.instance !== from.instance).map((to) => ({ from: from.port, to: to.port })),
  );
  const answers = useQueries({
    queries: pairs.map(({ from, to }) => $api.queryOptions('get', ASK, requestBetween(from, to, asked))),
  });
  const byPair = new Map(pairs.map(({ from, to }, at) => [`${from} ${to}`, answers[at]]));
  return (
    <div className="card scroll">
      <table className="matrix">
        <caption className="hidden">
          Who reaches whom with {trafficAsked(asked)}: rows send first, columns receive
        </caption>
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
                <InstanceLink id={from.instance} name={from.name} /> <span className="mono">{from.address}</span>
              </th>
              {ends.map((to) => (
                <td key={to.port}>
                  {to.instance === from.instance ? (
                    <span className="muted">itself</span>
                  ) : (
                    <Cell
                      answer={byPair.get(`${from.port} ${to.port}`)}
                      asked={{ ...asked, from: from.port, to: to.port }}
                    />
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

function Cell({
  answer,
  asked,
}: {
  answer: { data: { allowed: boolean } | undefined; error: object | null } | undefined;
  asked: Question;
}) {
  if (answer?.error) return <span className="fault">no answer</span>;
  if (!answer?.data) return <span className="muted">…</span>;
  const { allowed } = answer.data;
  return (
    <QuestionLink asked={asked} className={`badge ${allowed ? 'good' : 'bad'}`}>
      {allowed ? 'allowed' : 'blocked'}
    </QuestionLink>
  );
}
