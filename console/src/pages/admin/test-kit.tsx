import { useQuery } from '@tanstack/react-query';
import { type ReactNode, type SubmitEvent, useState } from 'react';
import { ApiError, queries, send } from '../../lib/api.ts';
import type { Call } from '../../lib/call.ts';
import { given } from '../../lib/search.ts';
import { AsCode } from '../../ui/as-code.tsx';
import { NumberField, SelectField, TextField } from '../../ui/field.tsx';
import { Page, Section, UnreadPage } from '../../ui/page.tsx';
import { Table } from '../../ui/table.tsx';
import { useToasts } from '../../ui/toasts.tsx';

const BASE = '/tradewind/v1/test';

interface Clock {
  at: string;
  running: boolean;
}
interface Rule {
  id: number;
  hits: number;
  do: Record<string, unknown>;
  [where: string]: unknown;
}

/** The test API is in no document, so nothing knows its types. */
const useTestApi = <Answer,>(path: string) =>
  useQuery({
    queryKey: [BASE, path],
    queryFn: () => send({ method: 'GET', path: `${BASE}/${path}` }) as Promise<Answer>,
    retry: false,
  });

/** Lets things go wrong, and sets the time. There is nothing to review: the test API knows no dry run. */
export function TestKit() {
  const clock = useTestApi<Clock>('clock');
  const faults = useTestApi<{ results: Rule[] }>('faults');
  const simulation = useTestApi<{ speed: number }>('simulation');
  const title = 'Faults and clock';
  if (clock.error instanceof ApiError && clock.error.status === 404)
    return (
      <Page title={title}>
        <div className="card empty">
          <p>
            The test API is off. The server offers it when it is started with <code>TRADEWIND_TEST_API=true</code>.
          </p>
        </div>
      </Page>
    );
  if (!clock.data) return <UnreadPage title={title} error={clock.error} again={clock.refetch} />;
  return (
    <Page
      title={title}
      actions={
        <AsCode calls={['clock', 'faults', 'simulation'].map((path) => ({ method: 'GET', path: `${BASE}/${path}` }))} />
      }
    >
      <ClockCard clock={clock.data} speed={simulation.data?.speed} />
      <AddRule />
      <Section
        title="Faults"
        aside={<Do call={{ method: 'DELETE', path: `${BASE}/faults` }} label="Delete all" tone="danger" />}
      >
        <Table
          caption="Faults that are set"
          read={faults}
          keyOf={({ id }) => id}
          columns={[
            { name: 'ID', show: ({ id }) => <code>{id}</code> },
            { name: 'Where', show: ({ id: _, hits: __, do: ___, ...where }) => textOf(where) || 'everywhere' },
            { name: 'What', show: (rule) => textOf(rule.do) },
            { name: 'Hits', number: true, show: ({ hits }) => hits },
            {
              name: 'Actions',
              show: ({ id }) => (
                <Do call={{ method: 'DELETE', path: `${BASE}/faults/${id}` }} label="Delete" tone="danger" />
              ),
            },
          ]}
          empty={<p>Nothing goes wrong on purpose.</p>}
        />
      </Section>
    </Page>
  );
}

const textOf = (values: object): string =>
  Object.entries(values)
    .map(([name, value]) => `${name.replaceAll('_', ' ')} ${String(value)}`)
    .join(', ');

/** Sends a request of the test API. Returns the refusal. */
function useSend(): (call: Call) => Promise<Error | undefined> {
  const said = useToasts();
  return async (call) => {
    try {
      await send(call);
      void queries.invalidateQueries();
      return undefined;
    } catch (error) {
      said.add({ title: 'Refused', description: (error as Error).message, type: 'bad' });
      return error as Error;
    }
  };
}

function Do({ call, label, tone = '' }: { call: Call; label: string; tone?: string }) {
  const sendIt = useSend();
  return (
    <button type="button" className={`button ${tone}`} onClick={() => void sendIt(call)}>
      {label}
    </button>
  );
}

function Form({ call, label, children }: { call: () => Call; label: string; children: ReactNode }) {
  const sendIt = useSend();
  return (
    <form
      className="form"
      onSubmit={(event: SubmitEvent) => {
        event.preventDefault();
        void sendIt(call());
      }}
    >
      {children}
      <div className="row">
        <button type="submit" className="button primary">
          {label}
        </button>
        <AsCode calls={[call()]} />
      </div>
    </form>
  );
}

const clockCall = (body: object): Call => ({ method: 'POST', path: `${BASE}/clock`, body });

function ClockCard({ clock: { at, running }, speed }: { clock: Clock; speed: number | undefined }) {
  const [hours, setHours] = useState<number | undefined>(1);
  const [factor, setFactor] = useState<number>();
  return (
    <Section
      title="Clock"
      aside={
        <>
          <span className={`badge ${running ? 'good' : 'warn'}`}>{running ? 'running' : 'stopped'}</span>
          <time className="mono" dateTime={at}>
            {at}
          </time>
          <Do call={clockCall({ running: !running })} label={running ? 'Stop' : 'Start'} />
        </>
      }
    >
      <div className="inside cards">
        <Form call={() => clockCall({ advance_s: (hours ?? 0) * 3_600 })} label="Move on">
          <NumberField label="Hours" required step="any" value={hours} onChange={setHours} />
        </Form>
        <Form
          call={() => ({ method: 'POST', path: `${BASE}/simulation`, body: { speed: factor ?? speed ?? 1 } })}
          label="Set the speed"
        >
          <NumberField
            label="Speed of the simulation"
            step="any"
            value={factor ?? speed}
            onChange={setFactor}
            help="A factor. At 1, things take as long as elsewhere."
          />
        </Form>
      </div>
    </Section>
  );
}

const EFFECTS: Record<string, { text: string; field: 'number' | 'text' | 'drop' | 'none'; help: string }> = {
  status: { text: 'Answer with a status', field: 'number', help: 'Such as 503. Nothing is done.' },
  delay_ms: { text: 'Delay', field: 'number', help: 'Milliseconds.' },
  drop: { text: 'Cut the connection', field: 'drop', help: 'Without an answer.' },
  quota: { text: 'Quota used up', field: 'text', help: 'The name of the quota, such as volume_count_limit.' },
  fail: { text: 'Let the task fail', field: 'text', help: 'The reason that the task ends with.' },
  hold: { text: 'Hold the task', field: 'none', help: '' },
};

function AddRule() {
  const [where, setWhere] = useState({ operation: '', task: '', kind: '', name: '' });
  const [times, setTimes] = useState<number>();
  const [effect, setEffect] = useState('status');
  const [value, setValue] = useState('');
  const { field, help } = EFFECTS[effect] as (typeof EFFECTS)[string];
  const text = (name: keyof typeof where, label: string, help: string) => (
    <TextField
      label={label}
      value={where[name]}
      onChange={(value) => setWhere({ ...where, [name]: value })}
      help={help}
    />
  );
  const call = (): Call => ({
    method: 'POST',
    path: `${BASE}/faults`,
    body: {
      ...given({ ...where, times }),
      do: { [effect]: field === 'none' ? true : field === 'number' ? Number(value) : value },
    },
  });
  return (
    <Section title="Add a fault">
      <div className="inside">
        <Form call={call} label="Add the fault">
          <SelectField
            label="What happens"
            value={effect}
            options={Object.entries(EFFECTS).map(([name, { text }]) => ({ value: name, text }))}
            onChange={(next) => {
              setEffect(next);
              setValue(next === 'drop' ? 'before' : '');
            }}
          />
          {field === 'drop' ? (
            <SelectField
              label="When"
              value={value}
              options={[
                { value: 'before', text: 'before anything is done' },
                { value: 'after_commit', text: 'when everything is done' },
              ]}
              onChange={setValue}
            />
          ) : (
            field !== 'none' && <TextField label="Value" required value={value} onChange={setValue} help={help} />
          )}
          {text('operation', 'Operation', 'The name of an operation, such as createVolume. Empty: all.')}
          {text('task', 'Task', 'The type of a task, such as create_volume. Empty: all.')}
          {text('kind', 'Kind of thing', 'What tasks make, such as machine. Empty: all.')}
          {text('name', 'Name of the thing', '? stands for one character, * for any.')}
          <NumberField label="How many times" min={1} value={times} onChange={setTimes} help="Empty: always." />
        </Form>
      </div>
    </Section>
  );
}
