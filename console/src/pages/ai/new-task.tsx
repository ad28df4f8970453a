import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { $api } from '../../lib/api.ts';
import { callOf } from '../../lib/call.ts';
import { type Catalog, type Schema, useCatalog } from '../../lib/operations.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { Fault } from '../../ui/fault.tsx';
import { SelectField, useFaults } from '../../ui/field.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { Review } from '../../ui/review.tsx';
import { Properties, textOf } from '../../ui/schema-field.tsx';

/** A kind of task: what its body always says, and the schema of the rest. */
interface Kind {
  name: string;
  fixed: Record<string, unknown>;
  schema: Schema;
}

/** What AI tasks can be made, by the API's document: a body has one of several forms, which differ in what they fix. */
function kindsOf({ operations, resolve }: Catalog): Kind[] {
  const body = operations.find(({ id }) => id === 'createAiTask')?.body;
  return body ? formsOf(body, resolve).map(kindOf) : [];
}

function formsOf(given: Schema, resolve: Catalog['resolve']): Schema[] {
  const schema = resolve(given);
  return schema.oneOf ? schema.oneOf.flatMap((one) => formsOf(one, resolve)) : [schema];
}

function kindOf({ properties = {}, required = [], ...schema }: Schema): Kind {
  const all = Object.entries(properties);
  const fixed = all.flatMap(([name, { const: value, enum: values = [value] }]) =>
    required.includes(name) && values.length === 1 && values[0] !== undefined ? [[name, values[0]] as const] : [],
  );
  const names = new Set(fixed.map(([name]) => name));
  return {
    name: fixed.map(([, value]) => textOf(value)).join(': '),
    fixed: Object.fromEntries(fixed),
    schema: {
      ...schema,
      required: required.filter((name) => !names.has(name)),
      properties: Object.fromEntries(all.filter(([name, { readOnly }]) => !names.has(name) && !readOnly)),
    },
  };
}

const DETECTED = 'Empty: it is detected.';
const AS_SPOKEN = 'Empty: the spoken one. Another one makes it a translation.';
const WORDS = {
  url: ['Address of the file', 'The server fetches it by HTTP or HTTPS: MP4, for moderation JPEG and PNG too.'],
  stop_objects: [
    'Stops at',
    'The analysis ends at the first of these: OBJECT or OBJECT:probability, several separated by commas.',
  ],
  client_user_id: ['Your user', 'Whatever you call whom the task is for. It is shown again.'],
  client_entity_data: ['Your data', 'Any text. It is shown again, and can be searched for.'],
} as const;

/** Languages by their codes, in the order of their names. */
function namesOf(codes: readonly string[]): Record<string, string> {
  const names = new Intl.DisplayNames(['en'], { type: 'language' });
  const named = codes.map((code) => [code, names.of(code) ?? code] as const);
  return Object.fromEntries(named.toSorted(([, one], [, other]) => one.localeCompare(other)));
}

export function NewAiTask() {
  const { data, error, refetch } = useCatalog();
  if (!data) return <UnreadPage title="Create an AI task" error={error} again={refetch} />;
  return <Form kinds={kindsOf(data)} resolve={data.resolve} />;
}

function Form({ kinds, resolve }: { kinds: readonly Kind[]; resolve: Catalog['resolve'] }) {
  const navigate = useNavigate();
  const [name, setName] = useState(kinds[0]?.name ?? '');
  const [entered, setEntered] = useState<Record<string, unknown>>({});
  const kind = kinds.find((one) => one.name === name);
  const known = Object.keys(kind?.schema.properties ?? {});
  const { faults, clear, take } = useFaults(known);
  const { needs, languages = [] } = useKind(kind?.fixed ?? {}) ?? {};
  const choices = namesOf(languages);
  // What was entered for another kind stays until it is of use again.
  const body = {
    ...kind?.fixed,
    ...Object.fromEntries(Object.entries(entered).filter(([key]) => known.includes(key))),
  };
  const call = () =>
    callOf('post', '/streaming/ai/tasks', {
      body: body as never,
      // Other refusals of this area don't name fields.
      headers: { accept: 'application/problem+json' },
    });
  return (
    <Page
      title="Create an AI task"
      crumbs={[
        <Link key="tasks" to="/ai-tasks">
          AI tasks
        </Link>,
        'New',
      ]}
      actions={<AsCode calls={[call()]} />}
    >
      <div className="beside">
        <form className="form" onSubmit={(event) => event.preventDefault()}>
          <SelectField
            label="Task"
            value={name}
            options={kinds.map((one) => ({ value: one.name, text: one.name }))}
            onChange={setName}
          />
          <div role="status">
            {needs && (
              <div className="note warn">
                <p>No engine for this is running now. It takes {needs}.</p>
                <p>
                  Whoever runs the server installs it. If it is installed, <code>npx tradewind doctor</code> there says
                  why it does not run.
                </p>
              </div>
            )}
          </div>
          {kind && (
            <Properties
              key={kind.name}
              schema={kind.schema}
              value={entered}
              onChange={setEntered}
              resolve={resolve}
              faults={faults}
              words={{
                ...WORDS,
                audio_language: ['Spoken language', DETECTED, choices],
                subtitles_language: ['Language of the subtitles', AS_SPOKEN, choices],
              }}
            />
          )}
          <div className="row">
            <Review
              operation="createAiTask"
              label="Create"
              title="Create this task?"
              tone="primary"
              call={() => {
                clear();
                return call();
              }}
              onRefused={take}
              onApplied={(answer) =>
                void navigate({ to: '/ai-tasks/$task', params: { task: (answer as { task_id: string }).task_id } })
              }
            />
          </div>
        </form>
        <Section title="What the engines can do">
          <div className="inside page">
            {name === 'transcription' && needs === null && (
              <Languages spoken={entered.audio_language} shown={entered.subtitles_language} names={choices} />
            )}
            <p>The engines run on this server, and the file is fetched by it: it must be reachable from there.</p>
            <p className="muted">
              To whoever runs the server, <code>npx tradewind doctor</code> lists the engines, and how to install those
              that are missing.
            </p>
          </div>
        </Section>
      </div>
    </Page>
  );
}

/** What the server says of a kind of task: what it takes if no engine can do it now, and its languages. */
function useKind({ task_name, category }: Record<string, unknown>) {
  const { data } = $api.useQuery('get', '/tradewind/v1/ai-tasks/kinds');
  return data?.find((one) => one.task_name === task_name && one.category === category);
}

/** Whether the engines that are installed know the languages, as far as they are chosen. */
function Languages({
  spoken,
  shown,
  names,
}: {
  spoken: unknown;
  shown: unknown;
  names: Readonly<Record<string, string>>;
}) {
  const audio = typeof spoken === 'string' ? spoken : undefined;
  const subtitles = typeof shown === 'string' ? shown : undefined;
  const { data, error } = $api.useQuery(
    'get',
    '/streaming/ai/info',
    {
      params: {
        query: {
          type: 'language_support',
          audio_language: audio ?? '',
          ...(subtitles !== undefined && { subtitles_language: subtitles }),
        },
      },
    },
    { enabled: audio !== undefined },
  );
  if (audio === undefined) return <p>Choose the spoken language to see whether an engine here knows it.</p>;
  const pair =
    subtitles === undefined || subtitles === audio
      ? names[audio]
      : `${names[audio]} with subtitles in ${names[subtitles]}`;
  return (
    <div role="status">
      {error && <Fault error={error} />}
      {data && (
        <p className={`note ${data.supported ? '' : 'warn'}`}>
          {data.supported
            ? `An engine here knows ${pair}.`
            : `No engine here knows ${pair}. The task would be accepted, and fail. docs/ai.md says which models know more languages.`}
        </p>
      )}
    </div>
  );
}
