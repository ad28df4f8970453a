import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Section } from '../../ui/page.tsx';
import { INTERNET, type Question, QuestionLink } from './links.tsx';
import { Cells, type End, INSTANCES, partOf, readPairs, useEnds } from './matrix.tsx';
import { trafficAsked } from './reachability.tsx';
import { exposureOf, fateOf, hasPorts, isIcmp, type Line, type Rule, sentenceOf } from './rules.ts';

const INSTANCES_OF = '/cloud/v1/securitygroups/{project_id}/{region_id}/{group_id}/instances';

/** The instances that have a group on at least one port. */
export const useUsers = (group: string, enabled = true) =>
  $api.useQuery(
    'get',
    INSTANCES_OF,
    { params: { path: { ...pathOf(usePlace() as Place), group_id: group } } },
    { enabled },
  );

/** So many kinds of traffic are worked out, each by one request. */
const MOST = 8;

/** What a changed rule is about. Of a range of ports, its ends. Types of ICMP can't be asked about. */
function trafficsOf({ protocol, port_range_min: first, port_range_max: last }: Rule): Question[] {
  if (protocol === null) return [{ protocol: 'any' }];
  if (isIcmp(protocol) && first !== null) return [];
  if (!hasPorts(protocol) || first === null) return [{ protocol }];
  return [...new Set([first, last ?? first])].map((port) => ({ protocol, port: String(port) }));
}

/** So many ranges that changed rules name are asked about, by an address in each. */
const MOST_RANGES = 3;

/** An address that few other ranges hold: the last one, for those of IPv4. */
function addressIn(prefix: string): string {
  const [address = '', length = '32'] = prefix.split('/');
  if (address.includes(':')) return address;
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(length));
  const last = number - (number % size) + size - 1;
  return [24, 16, 8, 0].map((bits) => Math.floor(last / 2 ** bits) % 256).join('.');
}

/** The ranges that rules name, as ends. All addresses together are the internet. */
function rangesOf(rules: readonly Rule[]): End[] {
  const prefixes = rules.flatMap(({ remote_ip_prefix: prefix }) => (prefix && !prefix.endsWith('/0') ? [prefix] : []));
  const ends = [...new Set(prefixes)].map((prefix) => ({
    instance: undefined,
    name: prefix,
    port: addressIn(prefix),
    address: '',
  }));
  return ends.filter(({ port }, at) => ends.findIndex((one) => one.port === port) === at);
}

/** Works out what a draft opens and closes. Nothing is asked for as long as nothing is changed. */
export function useOutcome(group: string, lines: readonly Line[]) {
  const place = usePlace() as Place;
  const changed = lines
    .filter((line) => fateOf(line) !== 'stays')
    .flatMap(({ before, now }) => [now ?? [], before ?? []].flat());
  const enabled = changed.length > 0;
  const users = useUsers(group, enabled);
  const others = $api.useQuery(
    'get',
    '/cloud/v1/instances/{project_id}/{region_id}',
    { params: { path: pathOf(place), query: { limit: INSTANCES, order_by: 'name.asc' } } },
    { enabled },
  );
  const own = [...(users.data?.results ?? [])].sort((one, other) => one.name.localeCompare(other.name));
  const used = own.length > 0;
  const instances = used && others.data ? [...own, ...others.data.results] : [];
  const different = [...new Map(instances.map((one) => [one.id, one])).values()];
  const looked = different.slice(0, INSTANCES);
  const known = useEnds(looked);
  const ranges = rangesOf(changed);
  const ends =
    known && !known.error && different.length > 0 ? [...known.ends, ...ranges.slice(0, MOST_RANGES)] : undefined;
  const traffics = [...new Map(changed.flatMap(trafficsOf).map((one) => [trafficAsked(one), one]))];
  const rules = lines.flatMap(({ now }) => now ?? []);
  const asked = ends ? traffics.slice(0, MOST) : [];
  const answers = useQueries({
    queries: asked.map(([, question]) => readPairs(ends ?? [], question, { group, rules })),
  });
  if (!enabled) return undefined;
  const ports = known?.ends.filter(({ instance }) => instance !== undefined) ?? [];
  return {
    ends,
    /** Undefined until it is known. */
    used: users.data && used,
    error: users.error ?? others.error ?? known?.error ?? answers.find(({ error }) => error)?.error,
    leftOut: Math.max(0, traffics.length - MOST),
    leftRanges: Math.max(0, ranges.length - MOST_RANGES),
    part: partOf(
      { shown: looked.length, all: Math.max(different.length, others.data?.count ?? 0) },
      { shown: ports.length, all: known?.all ?? 0 },
    ),
    wide: lines.flatMap(({ before, now }) =>
      now && exposureOf(now) === WIDE && !(before && exposureOf(before) === WIDE) ? [sentenceOf(now, (id) => id)] : [],
    ),
    hasTypes: changed.some((rule) => trafficsOf(rule).length === 0),
    traffics: asked.map(([text, question], at) => ({
      text,
      question,
      changes: changesIn(answers[at]?.data, ends ?? []),
    })),
  };
}

type Outcome = NonNullable<ReturnType<typeof useOutcome>>;
interface Verdict {
  allowed: boolean;
  drafted: boolean | null;
}
interface Answer {
  pairs: readonly (Verdict & { from: string; to: string; ip_versions: readonly (Verdict & { ethertype: string })[] })[];
}
type Version = Answer['pairs'][number]['ip_versions'][number];

/** What happens to each connection between two instances, or one and something outside, by any IP version. */
function changesIn(answer: Answer | undefined, ends: readonly End[]) {
  const byPort = new Map(ends.map((end) => [end.port, end]));
  return answer?.pairs.flatMap(({ from, to, drafted, ip_versions }) => {
    const [source, target] = [byPort.get(from), byPort.get(to)];
    if (!source || !target || source.instance === target.instance) return [];
    const opens = ip_versions.filter((one) => !one.allowed && one.drafted);
    const closes = ip_versions.filter((one) => one.allowed && !one.drafted);
    const onlyIpv6 = opens.every(isIpv6);
    const words = [
      ...(opens.length > 0 ? [`opens${onlyIpv6 ? ' (IPv6)' : ''}`] : []),
      // What is open still by the other version hasn't closed.
      ...(closes.length > 0 ? [`closes${drafted || closes.every(isIpv6) ? ` (${closes[0]?.ethertype})` : ''}`] : []),
    ];
    const stays = drafted ? 'stays open' : 'stays blocked';
    const text = words.join(', ') || stays;
    return [{ source, target, opens: opens.length > 0, onlyIpv6, closes: closes.length > 0, text }];
  });
}

const isIpv6 = ({ ethertype }: Version): boolean => ethertype === 'IPv6';

type Changes = ReturnType<typeof changesIn>;

/** The sum, such as `2 connections open, 1 closes`. */
function sumOf(changes: NonNullable<Changes>, ends: readonly End[] = []): string {
  const opens = changes.filter((one) => one.opens).length;
  const closes = changes.filter((one) => one.closes).length;
  const said = [
    ...(opens > 0 ? [`${opens} ${opens === 1 ? 'connection opens' : 'connections open'}`] : []),
    ...(closes > 0
      ? [
          `${closes} ${opens > 0 ? '' : closes === 1 ? 'connection ' : 'connections '}${closes === 1 ? 'closes' : 'close'}`,
        ]
      : []),
  ];
  const outside = ends.filter(({ instance }) => instance === undefined).map(({ name }) => name);
  const looked = ['these instances', ...outside.slice(0, -1)].join(', ');
  return said.length === 0
    ? `Nothing opens or closes between ${looked} and ${outside.at(-1) ?? 'the internet'}.`
    : `${said.join(', ')}.`;
}

const WIDE = 'open to much of the internet';

/** What becomes open to the internet, or to much of it, in a clear warning. */
function Exposure({ of }: { of: Outcome }) {
  const gained = of.traffics.flatMap(({ text, changes = [] }) => {
    const names = changes
      .filter(({ source, opens }) => source.port === INTERNET && opens)
      .map(({ target, onlyIpv6 }) => `${target.name}${onlyIpv6 ? ' (IPv6)' : ''}`);
    return names.length > 0 ? [`${text} to ${[...new Set(names)].join(', ')}`] : [];
  });
  return (
    <>
      {gained.length > 0 && <p className="note warn">{`The internet gains access: ${gained.join('; ')}.`}</p>}
      {of.wide.length > 0 && <p className="note warn">{`New rules are ${WIDE}: ${of.wide.join('; ')}.`}</p>}
    </>
  );
}

/** Says which parts of the draft the page leaves out. */
function Limits({ of: { leftOut, leftRanges, hasTypes, part } }: { of: Outcome }) {
  const looked = [part.instances && `${part.instances}, those with the group before others`, part.ports].filter(
    Boolean,
  );
  return (
    <>
      {looked.length > 0 && <p className="muted">Worked out for {looked.join(', and ')}.</p>}
      {leftRanges > 0 && (
        <p className="muted">
          The draft names {leftRanges} more {leftRanges === 1 ? 'range' : 'ranges'} of addresses, which{' '}
          {leftRanges === 1 ? 'isn’t' : 'aren’t'} looked at here.
        </p>
      )}
      {leftOut > 0 && (
        <p className="muted">
          The draft changes {leftOut} more {leftOut === 1 ? 'kind' : 'kinds'} of traffic, which aren’t worked out here.
        </p>
      )}
      {hasTypes && <p className="muted">Rules for a single type of ICMP aren’t worked out here.</p>}
    </>
  );
}

const UNUSED = 'No instance has this group.';

/** The sums of all traffic, for the review. */
export function OutcomeInBrief({ of }: { of: Outcome | undefined }) {
  if (!of) return null;
  if (of.used === false) return <p className="muted">{UNUSED}</p>;
  return (
    <section className="page" aria-label="What opens and closes">
      <Exposure of={of} />
      {of.error && <p className="muted">What opens and closes can’t be worked out.</p>}
      <ul>
        {of.traffics.map(({ text, changes }) => (
          <li key={text}>
            {text}: {changes ? sumOf(changes, of.ends) : '…'}
          </li>
        ))}
      </ul>
      <Limits of={of} />
    </section>
  );
}

/** Which connections a draft opens and closes. */
export function OutcomeOf({ outcome }: { outcome: Outcome }) {
  const [chosen, setChosen] = useState<string>();
  const { ends, traffics, used, error } = outcome;
  const shown = traffics.find(({ text }) => text === chosen) ?? traffics[0];
  return (
    <Section
      title="What opens and closes"
      aside={
        <span role="status">
          {used === false ? UNUSED : shown?.changes && `${shown.text}: ${sumOf(shown.changes, ends)}`}
        </span>
      }
    >
      <div className="inside page">
        {error && <Fault error={error} />}
        <Exposure of={outcome} />
        {traffics.length > 0 && (
          <div className="row">
            <Choice
              label="Traffic"
              value={shown?.text ?? ''}
              options={optionsOf(traffics.map(({ text }) => text))}
              onChange={setChosen}
            />
          </div>
        )}
        <Limits of={outcome} />
        {shown && !shown.changes && !error && <p className="muted">Working it out …</p>}
      </div>
      {ends && shown?.changes && <Before ends={ends} asked={shown.question} changes={shown.changes} />}
    </Section>
  );
}

function Before({ ends, asked, changes }: { ends: readonly End[]; asked: Question; changes: NonNullable<Changes> }) {
  const byPair = new Map(changes.map((change) => [`${change.source.port} ${change.target.port}`, change]));
  return (
    <Cells
      ends={ends}
      caption={`What the draft opens and closes for ${trafficAsked(asked)}: rows send first, columns receive`}
      show={({ port: from }, { port: to }) => {
        const change = byPair.get(`${from} ${to}`);
        if (change === undefined) return <span className="muted">–</span>;
        const { opens, closes, text } = change;
        // What opens is no good news as such.
        if (opens || closes) return <span className={`badge ${opens ? 'warn' : 'bad'}`}>{text}</span>;
        return (
          <QuestionLink asked={{ ...asked, from, to }} className="muted">
            {text}
          </QuestionLink>
        );
      }}
    />
  );
}
