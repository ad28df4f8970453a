import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { Choice, optionsOf } from '../../ui/choice.tsx';
import { Fault } from '../../ui/fault.tsx';
import { Section } from '../../ui/page.tsx';
import { INTERNET, type Question, QuestionLink } from './links.tsx';
import { Cells, type End, INSTANCES, readPairs, useEnds } from './matrix.tsx';
import { trafficAsked } from './reachability.tsx';
import { fateOf, hasPorts, isIcmp, type Line, type Rule } from './rules.ts';

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
  const known = useEnds(different.slice(0, INSTANCES));
  const ends = different.length > 0 ? known?.ends : undefined;
  const traffics = [...new Map(changed.flatMap(trafficsOf).map((one) => [trafficAsked(one), one]))];
  const rules = lines.flatMap(({ now }) => now ?? []);
  const asked = ends ? traffics.slice(0, MOST) : [];
  const answers = useQueries({
    queries: asked.map(([, question]) => readPairs(ends ?? [], question, { group, rules })),
  });
  if (!enabled) return undefined;
  return {
    ends,
    /** Undefined until it is known. */
    used: users.data && used,
    error: users.error ?? others.error ?? answers.find(({ error }) => error)?.error,
    leftOut: Math.max(0, traffics.length - MOST),
    hasTypes: changed.some((rule) => trafficsOf(rule).length === 0),
    traffics: asked.map(([text, question], at) => ({
      text,
      question,
      changes: changesIn(answers[at]?.data, ends ?? []),
    })),
  };
}

type Outcome = NonNullable<ReturnType<typeof useOutcome>>;
type Change = 'opens' | 'closes' | 'stays open' | 'stays blocked';
interface Answer {
  pairs: readonly { from: string; to: string; allowed: boolean; drafted: boolean | null }[];
}

/** What happens to each connection between two instances, or one and the internet. */
function changesIn(answer: Answer | undefined, ends: readonly End[]) {
  const byPort = new Map(ends.map((end) => [end.port, end]));
  return answer?.pairs.flatMap(({ from, to, allowed, drafted }) => {
    const [source, target] = [byPort.get(from), byPort.get(to)];
    if (!source || !target || source.instance === target.instance) return [];
    const change: Change = allowed ? (drafted ? 'stays open' : 'closes') : drafted ? 'opens' : 'stays blocked';
    return [{ source, target, change }];
  });
}

type Changes = ReturnType<typeof changesIn>;

/** The sum, such as `2 connections open, 1 closes`. */
function sumOf(changes: NonNullable<Changes>): string {
  const [opens = 0, closes = 0] = (['opens', 'closes'] as const).map(
    (wanted) => changes.filter(({ change }) => change === wanted).length,
  );
  const said = [
    ...(opens > 0 ? [`${opens} ${opens === 1 ? 'connection opens' : 'connections open'}`] : []),
    ...(closes > 0
      ? [
          `${closes} ${opens > 0 ? '' : closes === 1 ? 'connection ' : 'connections '}${closes === 1 ? 'closes' : 'close'}`,
        ]
      : []),
  ];
  return said.length === 0 ? 'Nothing opens or closes.' : `${said.join(', ')}.`;
}

/** Who becomes open to the internet, in a clear warning. */
function Exposure({ of }: { of: Outcome }) {
  const gained = of.traffics.flatMap(({ text, changes = [] }) => {
    const names = changes
      .filter(({ source, change }) => source.port === INTERNET && change === 'opens')
      .map(({ target }) => target.name);
    return names.length > 0 ? [`${text} to ${[...new Set(names)].join(', ')}`] : [];
  });
  if (gained.length === 0) return null;
  return <p className="note warn">{`The internet gains access: ${gained.join('; ')}.`}</p>;
}

/** What isn't looked at. */
function Limits({ of: { leftOut, hasTypes } }: { of: Outcome }) {
  return (
    <>
      {leftOut > 0 && (
        <p className="muted">
          The draft changes {leftOut} more {leftOut === 1 ? 'kind' : 'kinds'} of traffic, which aren’t worked out here.
        </p>
      )}
      {hasTypes && <p className="muted">Rules for a single type of ICMP aren’t worked out here.</p>}
    </>
  );
}

const UNUSED = 'No instance has this group: nothing opens or closes.';

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
            {text}: {changes ? sumOf(changes) : '…'}
          </li>
        ))}
      </ul>
      <Limits of={of} />
    </section>
  );
}

const LOOKS: Record<Change, string> = {
  opens: 'badge good',
  closes: 'badge bad',
  'stays open': 'muted',
  'stays blocked': 'muted',
};

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
          {used === false ? UNUSED : shown?.changes && `${shown.text}: ${sumOf(shown.changes)}`}
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
  const byPair = new Map(changes.map(({ source, target, change }) => [`${source.port} ${target.port}`, change]));
  return (
    <Cells
      ends={ends}
      caption={`What the draft opens and closes for ${trafficAsked(asked)}: rows send first, columns receive`}
      show={({ port: from }, { port: to }) => {
        const change = byPair.get(`${from} ${to}`);
        if (change === undefined) return null;
        if (change === 'opens' || change === 'closes') return <span className={LOOKS[change]}>{change}</span>;
        return (
          <QuestionLink asked={{ ...asked, from, to }} className={LOOKS[change]}>
            {change}
          </QuestionLink>
        );
      }}
    />
  );
}
