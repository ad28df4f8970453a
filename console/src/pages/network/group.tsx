import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { $api, type ApiError } from '../../lib/api.ts';
import { type Call, callOf } from '../../lib/call.ts';
import { changedFields } from '../../lib/changes.ts';
import { type Place, pathOf, usePlace } from '../../lib/place.ts';
import { useFilters, useSetFilters } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { TextField, takes, useFaults } from '../../ui/field.tsx';
import { Json } from '../../ui/json.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { State } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Tabs, useTab } from '../../ui/tabs.tsx';
import { Time } from '../../ui/time.tsx';
import { Addresses } from '../compute/instances.tsx';
import { PutGroup } from '../compute/ports.tsx';
import { OutcomeInBrief, OutcomeOf, useOutcome, useUsers } from './draft-matrix.tsx';
import { useGroups } from './groups.tsx';
import { INTERNET, InstanceLink, QuestionLink, Sentence } from './links.tsx';
import { Presets } from './presets.tsx';
import { RuleForm } from './rule-form.tsx';
import {
  exposureOf,
  type Fate,
  fateOf,
  hasPorts,
  isSame,
  type Line,
  NEW_RULE,
  type Rule,
  ruleOf,
  sentenceOf,
} from './rules.ts';

const ONE = '/cloud/v1/securitygroups/{project_id}/{region_id}/{group_id}';
const CHANGE = '/cloud/v2/security_groups/{project_id}/{region_id}/{group_id}';
const USERS = '/cloud/v1/securitygroups/{project_id}/{region_id}/{group_id}/instances';
const TABS = { rules: 'Rules', instances: 'Instances', settings: 'Settings', json: 'JSON' };

/** One security group: its rules, which are edited as a draft, and who uses it. */
export function SecurityGroup() {
  const { group: id } = useParams({ from: '/p/$project/r/$region/security-groups/$group' });
  const place = usePlace() as Place;
  const path = { ...pathOf(place), group_id: id };
  const { data, error, refetch } = $api.useQuery('get', ONE, { params: { path } });
  if (!data) return <UnreadPage title="Security group" error={error} again={refetch} />;
  return <Known key={id} group={data} />;
}

function Known({ group }: { group: Group }) {
  const place = usePlace() as Place;
  const path = { ...pathOf(place), group_id: group.id };
  const tab = useTab(TABS);
  const { add } = useFilters();
  const changeAddress = useSetFilters();
  // What was entered stays while one looks at other tabs.
  const [draft, setDraft] = useState<Draft | undefined>(() => {
    const rule = suggestedIn(add);
    return rule && { revision: group.revision_number, lines: [...linesOf(group), added(rule)] };
  });
  const [entered, setEntered] = useState<Partial<Named>>({});
  function edit(next: Draft | undefined) {
    setDraft(next);
    // Read again, the address suggests nothing that is done with.
    if (!next && add !== undefined) changeAddress({ add: '' });
  }
  return (
    <Page
      title={group.name}
      crumbs={[
        <Link key="groups" to="/p/$project/r/$region/security-groups" params={place}>
          Security groups
        </Link>,
      ]}
      actions={
        <>
          <Link to="/p/$project/r/$region/reachability/matrix" params={place} className="button">
            What reaches what
          </Link>
          <AsCode calls={[callOf('get', ONE, { params: { path } }), callOf('get', USERS, { params: { path } })]} />
        </>
      }
    >
      {group.description && <p className="muted">{group.description}</p>}
      <Tabs tabs={draft ? { ...TABS, rules: `${TABS.rules} (edited)` } : TABS} label="Parts of the group" />
      {tab === 'rules' && <Rules group={group} draft={draft} onDraft={edit} />}
      {tab === 'instances' && <Users group={group} />}
      {tab === 'settings' && <Settings group={group} entered={entered} onEntered={setEntered} />}
      {tab === 'json' && <Json of={group} />}
    </Page>
  );
}

interface Named {
  name: string;
  description: string;
}

interface Group extends Named {
  id: string;
  revision_number: number;
  updated_at: string;
  security_group_rules: readonly (Parameters<typeof ruleOf>[0] & { id: string })[];
}

/** The rules as they are to become, and the revision of the group that they were edited from. */
interface Draft {
  revision: number;
  lines: Line[];
}

const linesOf = ({ security_group_rules }: Group): Line[] =>
  security_group_rules.map((given) => {
    const rule = ruleOf(given);
    return { key: given.id, before: rule, now: rule };
  });

/** Keys of lines that are not stored yet. */
let made = 0;
const added = (rule: Rule): Line => ({ key: `new ${++made}`, now: rule });

/** Reads a rule that another page suggests by the address. */
function suggestedIn(text: string | undefined): Rule | undefined {
  try {
    return text === undefined ? undefined : ruleOf({ remote_group_id: null, description: '', ...JSON.parse(text) });
  } catch {
    return undefined;
  }
}

function Rules({
  group,
  draft,
  onDraft,
}: {
  group: Group;
  draft: Draft | undefined;
  onDraft: (draft: Draft | undefined) => void;
}) {
  const { nameOf } = useGroups();
  const place = usePlace() as Place;
  const stored = linesOf(group);
  const [edited, setEdited] = useState<Line>();
  const [faults, setFaults] = useState<Record<string, string[]>>({});
  const lines = draft?.lines ?? stored;
  const wanted = lines.flatMap((line) => (line.now ? [{ key: line.key, rule: line.now }] : []));
  const counts = (fate: Fate) => lines.filter((line) => fateOf(line) === fate).length;
  const changes = lines.length - counts('stays');
  const port = usePortWith(group.id);
  const outcome = useOutcome(group.id, lines);

  function change(next: Line[]) {
    onDraft({ revision: draft?.revision ?? group.revision_number, lines: next });
    setFaults({});
  }
  const set = (line: Line) =>
    change(
      lines.some(({ key }) => key === line.key)
        ? lines.map((one) => (one.key === line.key ? line : one))
        : [...lines, line],
    );
  function addAll(rules: readonly Rule[]) {
    const missing = rules.filter((rule) => !wanted.some((one) => isSame(one.rule, rule)));
    change([...lines, ...missing.map(added)]);
  }
  function forget() {
    onDraft(undefined);
    setEdited(undefined);
    setFaults({});
  }
  const take = (line: Line) => {
    if (line.before === undefined) change(lines.filter(({ key }) => key !== line.key));
    else set({ key: line.key, before: line.before });
  };
  const call = (): Call =>
    callOf('patch', CHANGE, {
      params: { path: { ...pathOf(place), group_id: group.id } },
      // What somebody else has changed meanwhile is not undone without notice.
      headers: { 'if-match': `"${draft?.revision ?? group.revision_number}"` },
      body: { rules: wanted.map(({ rule }) => rule) as never },
    });
  return (
    <>
      {draft && draft.revision !== group.revision_number && (
        <div className="note warn" role="alert">
          <p>Somebody has changed this group since the draft was begun. The draft can’t be applied any more.</p>
          <div className="row">
            <button type="button" className="button" onClick={forget}>
              Begin again from the rules as they are now
            </button>
          </div>
        </div>
      )}
      <Section
        title="Rules"
        aside={
          <span className="muted">
            What no rule lets pass is blocked. Answers to what is let pass always come back.
          </span>
        }
      >
        {lines.length === 0 && <p className="empty">There are no rules: nothing passes.</p>}
        <ul className="lines" aria-label="Rules">
          {lines.map((line) => (
            <RuleLine
              key={line.key}
              line={line}
              port={port}
              nameOf={nameOf}
              faults={faults[line.key]}
              onEdit={() => setEdited(line)}
              onTake={() => take(line)}
              onRestore={() => line.before && set({ ...line, now: line.before })}
            />
          ))}
        </ul>
        <div className="row inside">
          <button type="button" className="button" onClick={() => setEdited({ key: `new ${++made}`, now: NEW_RULE })}>
            Add a rule
          </button>
        </div>
      </Section>
      {edited?.now && (
        <RuleForm
          key={edited.key}
          rule={edited.now}
          isNew={!lines.some(({ key }) => key === edited.key)}
          onDone={(rule) => {
            set({ ...edited, now: rule });
            setEdited(undefined);
          }}
          onCancel={() => setEdited(undefined)}
        />
      )}
      <Presets group={group.id} onAdd={addAll} />
      {outcome && <OutcomeOf outcome={outcome} />}
      <Section
        title="Draft"
        aside={
          <span role="status">
            {changes === 0
              ? 'Nothing is changed.'
              : `${counts('added')} added, ${counts('changed')} changed, ${counts('removed')} removed. Not applied yet.`}
          </span>
        }
      >
        <div className="row inside">
          <Review
            operation="updateSecurityGroupByTask"
            label="Apply"
            title={`Change the rules of ${group.name}?`}
            tone="primary"
            tellsAll
            disabled={changes === 0 ? 'Nothing is changed' : undefined}
            call={call}
            onApplied={forget}
            onRefused={(refused) => {
              const keys = wanted.map(({ key }) => key);
              setFaults(faultsByLine(refused, keys));
              return takes(refused, (field) => lineOf(field, keys) !== undefined);
            }}
          >
            <ul className="diff" aria-label="Changes">
              {lines
                .filter((line) => fateOf(line) !== 'stays')
                .map((line) => (
                  <li key={line.key}>
                    {line.before && <del>{sentenceOf(line.before, nameOf)}</del>}
                    {line.now && <ins>{sentenceOf(line.now, nameOf)}</ins>}
                    {line.now && exposureOf(line.now) && <Exposed how={exposureOf(line.now)} />}
                  </li>
                ))}
            </ul>
            <OutcomeInBrief of={outcome} />
          </Review>
          <button type="button" className="button" disabled={draft === undefined} onClick={forget}>
            Discard the draft
          </button>
        </div>
      </Section>
    </>
  );
}

/** A port that has the group. */
function usePortWith(group: string): string | undefined {
  const place = usePlace() as Place;
  const instance = useUsers(group).data?.results[0]?.id;
  const { data } = $api.useQuery(
    'get',
    '/cloud/v1/instances/{project_id}/{region_id}/{instance_id}/ports',
    { params: { path: { ...pathOf(place), instance_id: instance ?? '' } } },
    { enabled: instance !== undefined },
  );
  return data?.results.find(({ security_groups }) => security_groups.some(({ id }) => id === group))?.id;
}

/** The server names rules by their place in the request. */
const lineOf = (field: string, keys: readonly string[]): string | undefined =>
  keys[Number(/^rules\.(\d+)/.exec(field)?.[1])];

function faultsByLine({ fields }: ApiError, keys: readonly string[]): Record<string, string[]> {
  const said: Record<string, string[]> = {};
  for (const [field, texts] of Object.entries(fields)) {
    const key = lineOf(field, keys);
    if (key !== undefined) said[key] = [...(said[key] ?? []), ...texts];
  }
  return said;
}

const FATES: Record<Fate, [look: string, text: string]> = {
  stays: ['', ''],
  added: ['good', '+ added'],
  changed: ['changed', '± changed'],
  removed: ['bad', '− removed'],
};

function RuleLine({
  line,
  port,
  nameOf,
  faults,
  onEdit,
  onTake,
  onRestore,
}: {
  line: Line;
  port: string | undefined;
  nameOf: (id: string) => string;
  faults: readonly string[] | undefined;
  onEdit: () => void;
  onTake: () => void;
  onRestore: () => void;
}) {
  const { before, now } = line;
  const shown = now ?? before;
  if (!shown) return null;
  const fate = fateOf(line);
  const [look, text] = FATES[fate];
  const sentence = sentenceOf(shown, nameOf);
  return (
    <li className="row rule">
      {text && <span className={`badge ${look}`}>{text}</span>}
      <span className={now ? undefined : 'gone'}>
        <Sentence of={shown} nameOf={nameOf} />
      </span>
      {now && <Exposed how={exposureOf(now)} />}
      {shown.description && <span className="muted">{shown.description}</span>}
      {fate === 'changed' && before && <span className="muted">before: {sentenceOf(before, nameOf)}</span>}
      <span className="row end">
        {now ? (
          <>
            {now.direction === 'ingress' && (
              <QuestionLink asked={questionAbout(now, port)} className="button quiet">
                Check<span className="hidden"> {sentence}</span>
              </QuestionLink>
            )}
            <button type="button" className="button quiet" onClick={onEdit} aria-label={`Edit ${sentence}`}>
              Edit
            </button>
            <button type="button" className="button quiet" onClick={onTake} aria-label={`Remove ${sentence}`}>
              Remove
            </button>
          </>
        ) : (
          <button type="button" className="button quiet" onClick={onRestore} aria-label={`Keep ${sentence}`}>
            Keep
          </button>
        )}
        {fate === 'changed' && (
          <button type="button" className="button quiet" onClick={onRestore} aria-label={`Undo ${sentence}`}>
            Undo
          </button>
        )}
      </span>
      {faults && (
        <p className="fault" role="alert">
          {faults.join(' ')}
        </p>
      )}
    </li>
  );
}

/** What is open to the internet, in words and a form of its own. */
function Exposed({ how }: { how: string | undefined }) {
  return how ? <span className="badge warn exposed">{how}</span> : null;
}

/** Asks about a port with the group, if there is one. */
const questionAbout = (
  { protocol, port_range_min, remote_ip_prefix: prefix, remote_group_id }: Rule,
  to: string | undefined,
) => ({
  to,
  ...(protocol !== null && { protocol }),
  ...(hasPorts(protocol) && port_range_min !== null && { port: String(port_range_min) }),
  ...(remote_group_id === null && { from: !prefix || prefix.endsWith('/0') ? INTERNET : prefix.split('/')[0] }),
});

function Users({ group }: { group: Group }) {
  const place = usePlace() as Place;
  return (
    <>
      <PutGroup group={group} />
      <Table
        caption="Instances with this group on at least one port"
        read={useUsers(group.id)}
        keyOf={({ id }) => id}
        columns={[
          { name: 'Instance', show: ({ id, name }) => <InstanceLink id={id} name={name} /> },
          { name: 'Status', show: ({ status }) => <State of={status} /> },
          { name: 'Addresses', show: ({ addresses }) => <Addresses of={addresses} /> },
          { name: 'Created', show: ({ created_at }) => <Time at={created_at} /> },
          {
            name: 'Ports',
            show: ({ id, name }) => (
              <Link
                to="/p/$project/r/$region/instances/$instance"
                params={{ ...place, instance: id }}
                search={{ tab: 'ports' } as never}
              >
                Change its groups<span className="hidden"> ({name})</span>
              </Link>
            ),
          },
        ]}
        empty={<p>No instance uses this group.</p>}
      />
    </>
  );
}

function Settings({
  group,
  entered,
  onEntered,
}: {
  group: Group;
  entered: Partial<Named>;
  onEntered: (entered: Partial<Named>) => void;
}) {
  const place = usePlace() as Place;
  const { faults, clear, take } = useFaults(['name', 'description']);
  const stored: Named = { name: group.name, description: group.description };
  // A field that the person hasn’t touched follows what is stored.
  const form = { ...stored, ...entered };
  const changed = changedFields(stored, form);
  return (
    <form className="form" onSubmit={(event) => event.preventDefault()}>
      <TextField
        label="Name"
        maxLength={63}
        value={form.name}
        onChange={(name) => onEntered({ ...entered, name })}
        faults={faults.name}
      />
      <TextField
        label="Description"
        maxLength={255}
        value={form.description}
        onChange={(description) => onEntered({ ...entered, description })}
        faults={faults.description}
      />
      <div className="row">
        <Review
          operation="updateSecurityGroupByTask"
          label="Save"
          title={`Change ${group.name}?`}
          tone="primary"
          disabled={Object.keys(changed).length === 0 ? 'Nothing is changed' : undefined}
          call={() => {
            clear();
            return callOf('patch', CHANGE, {
              params: { path: { ...pathOf(place), group_id: group.id } },
              headers: { 'if-match': `"${group.revision_number}"` },
              body: changed,
            });
          }}
          onRefused={take}
          onApplied={() => onEntered({})}
        />
      </div>
    </form>
  );
}
