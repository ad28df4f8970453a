import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import { $api, type ApiError } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { changedNames, isSame, type Values } from '../../lib/changes.ts';
import type { Place } from '../../lib/place.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { takes } from '../../ui/field.tsx';
import { Differences, Review } from '../../ui/review.tsx';
import { tasksIn } from '../../ui/task.tsx';
import { wordsOfValue } from '../../ui/words.ts';
import { CLUSTER, type Cluster, type ClusterRead, type ClusterUpdate, clusterPath } from './data.ts';
import { type Choices, type Line, merged, threeWay } from './merge.ts';

export type GroupName = keyof ClusterUpdate;
export type Faults = Readonly<Record<string, string[]>>;

export interface FieldsProps {
  values: Values;
  /** What the cluster has, or will have at first. */
  before: Values;
  onChange: (values: Values) => void;
  /** What the server says is wrong, by the names of the API below the group. */
  faults: Faults;
  place: Place;
  /** Undefined for a cluster that is about to be made. */
  cluster?: Cluster | undefined;
}

/** One of the six groups of settings of a cluster, as a form has it. */
export interface Group {
  name: GroupName;
  title: string;
  /** The settings of a cluster, or those of a new one. */
  read: (cluster: Cluster | undefined) => Values;
  /** What to send so that `before` becomes `wanted`: only what differs, as far as the API can say it so. */
  patch: (before: Values, wanted: Values) => unknown;
  Fields: (props: FieldsProps) => ReactNode;
  /** What a setting is called on the page, if not as in the API. */
  labelOf?: (name: string) => string;
  /** The value of a setting that is absent. */
  defaultOf?: (name: string) => string | undefined;
}

/** What somebody has entered, and what they saw when they began. */
export interface Draft {
  base: Values;
  etag: string;
  values: Values;
  /** The task that applies it. */
  task?: string | undefined;
}

/** What is wrong within a group, by names below it. */
export const faultsWithin = (group: string, fields: Faults): Faults =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, texts]) =>
      name === group ? [['', texts]] : name.startsWith(`${group}.`) ? [[name.slice(group.length + 1), texts]] : [],
    ),
  );

/** A group of settings: a form, its review, and what to do if somebody else was faster. */
export function Settings({
  group,
  place,
  read: { cluster, etag },
  draft,
  onDraft,
}: {
  group: Group;
  place: Place;
  read: ClusterRead;
  draft: Draft | undefined;
  onDraft: (draft: Draft | undefined) => void;
}) {
  const client = useQueryClient();
  const [faults, setFaults] = useState<Faults>({});
  const [late, setLate] = useState(false);
  const latest = group.read(cluster);
  const base = draft?.base ?? latest;
  const values = draft?.values ?? latest;
  const changed = changedNames(base, values);
  const overtaken = draft !== undefined && draft.task === undefined && !isSame(draft.base, latest);
  const version = draft !== undefined && overtaken ? draft.etag : etag;
  const call = callOf('patch', CLUSTER, {
    params: { path: clusterPath(place, cluster.name) },
    headers: { 'if-match': version },
    body: { [group.name]: group.patch(base, values) },
  });

  function change(next: Values) {
    setLate(false);
    // Back to what it was: nothing is left of the draft.
    if (isSame(next, base) && !overtaken) onDraft(undefined);
    else onDraft({ base, etag: version, values: next });
  }

  function refused(error: ApiError): boolean {
    if (error.status === 412) {
      setLate(true);
      void client.invalidateQueries();
      return true;
    }
    setFaults(faultsWithin(group.name, error.fields));
    const known = { ...base, ...values };
    // A group may have its settings further down, such as cilium.mask_size.
    return takes(error, (name) => name.startsWith(`${group.name}.`) && name.split('.').some((part) => part in known));
  }

  return (
    <form className="page" onSubmit={(event) => event.preventDefault()} aria-label={group.title}>
      {late && !overtaken && (
        <p className="note warn" role="status">
          Somebody has changed this cluster since the page read it, but not these settings. What you entered is still
          here: apply it again.
        </p>
      )}
      {overtaken && draft && (
        <Overtaken
          lines={threeWay(draft.base, latest, draft.values)}
          group={group}
          onDecided={(choices) => {
            const lines = threeWay(draft.base, latest, draft.values);
            const next = merged(latest, lines, choices);
            setLate(false);
            onDraft(isSame(next, latest) ? undefined : { base: latest, etag, values: next });
          }}
        />
      )}
      {draft?.task !== undefined && (
        <Applying
          place={place}
          task={draft.task}
          onFinished={() => void client.invalidateQueries().then(() => onDraft(undefined))}
          onFailed={() => onDraft({ base: latest, etag, values: draft.values })}
        />
      )}
      <fieldset className="page" disabled={draft?.task !== undefined}>
        <legend className="hidden">{group.title}</legend>
        <group.Fields values={values} before={base} onChange={change} faults={faults} place={place} cluster={cluster} />
      </fieldset>
      <div className="row form-bar">
        <Review
          operation="updateKubernetesClusterV2"
          label="Apply"
          title={`Change ${group.title.toLowerCase()} of ${cluster.name}?`}
          tone="primary"
          disabled={whyNot(draft, changed.length, overtaken)}
          call={() => {
            setFaults({});
            return call;
          }}
          onRefused={refused}
          onApplied={(answer) => {
            const [task] = tasksIn(answer);
            onDraft(task === undefined ? undefined : { base, etag: version, values, task });
          }}
        >
          <Differences
            of={changed.map((name) => ({
              path: [name],
              name: labelOf(group, name),
              before: shown(group, name, base[name]),
              after: shown(group, name, values[name]),
            }))}
          />
        </Review>
        {draft && draft.task === undefined && (
          <button type="button" className="button quiet" onClick={() => onDraft(undefined)}>
            Discard
          </button>
        )}
        <AsCode calls={changed.length > 0 ? [call] : [{ method: 'GET', path: call.path }]} />
        <span role="status" className="muted">
          {changed.length === 0 ? '' : changed.length === 1 ? '1 change' : `${changed.length} changes`}
        </span>
      </div>
    </form>
  );
}

function whyNot(draft: Draft | undefined, changes: number, overtaken: boolean): string | undefined {
  if (draft?.task !== undefined) return 'It is being applied';
  if (overtaken) return 'Decide first what becomes of the other change';
  return changes === 0 ? 'Nothing is changed yet' : undefined;
}

/** Settings as they were, as somebody else has made them, and as they were entered here. */
function Overtaken({
  lines,
  group,
  onDecided,
}: {
  lines: readonly Line[];
  group: Group;
  onDecided: (choices: Choices) => void;
}) {
  const [choices, setChoices] = useState<Choices>({});
  const open = lines.filter(({ name, who }) => who === 'both' && choices[name] === undefined);
  return (
    <section className="note warn" aria-labelledby="overtaken">
      <h2 id="overtaken">Somebody else has changed these settings meanwhile</h2>
      <p role="status">
        Nothing is lost. What only they changed is taken over, and what only you changed stays.
        {open.length > 0 && ` Choose where both of you did: ${open.length} left.`}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls, also by keyboard */}
      <section className="scroll" tabIndex={0} aria-label="The three versions">
        <table>
          <caption className="hidden">Settings that were changed, in three versions</caption>
          <thead>
            <tr>
              {['Setting', 'Before', 'Theirs', 'Yours', 'It becomes'].map((text) => (
                <th key={text} scope="col">
                  {text}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {lines.map(({ name, base, theirs, yours, who }) => (
              <tr key={name}>
                <th scope="row">{labelOf(group, name)}</th>
                <td className="mono">{shown(group, name, base)}</td>
                <td className="mono">{shown(group, name, theirs)}</td>
                <td className="mono">{shown(group, name, yours)}</td>
                <td>
                  {who === 'both' ? (
                    <fieldset className="row">
                      <legend className="hidden">{labelOf(group, name)}</legend>
                      {(['theirs', 'yours'] as const).map((one) => (
                        <label key={one} className="row">
                          <input
                            type="radio"
                            name={`choice ${name}`}
                            checked={choices[name] === one}
                            onChange={() => setChoices({ ...choices, [name]: one })}
                          />
                          {one}
                        </label>
                      ))}
                    </fieldset>
                  ) : (
                    who
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div className="row">
        <button type="button" className="button primary" disabled={open.length > 0} onClick={() => onDecided(choices)}>
          Go on with these
        </button>
      </div>
    </section>
  );
}

const labelOf = (group: Group, name: string): string => group.labelOf?.(name) ?? name;

/** A value in a few words. */
function shown({ defaultOf }: Group, name: string, value: unknown): string {
  if (value !== undefined && value !== null) return wordsOfValue(value);
  const usual = defaultOf?.(name);
  return usual === undefined ? 'not set' : `${usual} (default)`;
}

/** Follows the task that applies a draft, so that the draft is kept if the task fails. */
function Applying({
  place,
  task,
  onFinished,
  onFailed,
}: {
  place: Place;
  task: string;
  onFinished: () => void;
  onFailed: () => void;
}) {
  const { data } = $api.useQuery('get', '/tradewind/v1/tasks/{task_id}/steps', {
    params: { path: { task_id: task } },
  });
  const state = data?.state;
  const finished = useEffectEvent(onFinished);
  useEffect(() => {
    if (state === 'FINISHED') finished();
  }, [state]);
  const link = (
    <Link to="/p/$project/r/$region/tasks/$task" params={{ ...place, task }}>
      See the task
    </Link>
  );
  if (state === 'ERROR') {
    return (
      <div className="note bad" role="alert">
        <p>The change failed, and the cluster keeps its settings. What you entered is still here. {link}</p>
        <div className="row">
          <button type="button" className="button" onClick={onFailed}>
            Edit it
          </button>
        </div>
      </div>
    );
  }
  return (
    <p className="note" role="status">
      It is being applied: {data ? `${data.done} of ${data.of} steps are done.` : 'reading how far it is …'} {link}
    </p>
  );
}
