import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useEffect, useEffectEvent, useRef, useState } from 'react';
import { $api, ApiError, queries, send } from '../lib/api.ts';
import { type Call, newIdempotencyKey } from '../lib/call.ts';
import { type DryRun, dryRun } from '../lib/dry-run.ts';
import { useRefusal } from '../lib/permissions.ts';
import { remembered, usePlace } from '../lib/place.ts';
import { Code } from './code.tsx';
import { Drawer } from './drawer.tsx';
import { Fault } from './fault.tsx';
import { Money } from './money.tsx';
import { TaskLink, titleOf } from './task.tsx';
import { useAccepted } from './toasts.tsx';
import { inWords, wordsOf } from './words.ts';

export interface ReviewProps {
  /** The name of the operation in the API's document: its refusal disables the button. */
  operation: string;
  /** Where it is called, if that is another project than the one of the page. */
  project?: number | undefined;
  /** What the button says, such as "Delete". */
  label: string;
  /** What is asked, such as "Delete volume data?". */
  title: string;
  /** The request that Apply sends. Asked for when the dialog opens; undefined if the form isn't complete. */
  call: () => Call | undefined;
  tone?: 'primary' | 'danger' | 'quiet';
  /** Why the button does nothing now. */
  disabled?: string | undefined;
  /** What else there is to say before it is applied. */
  children?: ReactNode;
  /** Whether the children say all that changes. */
  tellsAll?: boolean;
  /** After the server has accepted it. */
  onApplied?: (answer: unknown) => void;
  /** Takes a refusal to the fields of a form; the dialog closes then. Returns whether it has taken it. */
  onRefused?: (error: ApiError) => boolean;
}

interface Wish {
  call: Call;
  /** Sent again after a break, the request is carried out once. */
  key: string;
}

/** A button that shows what a request would do, by the server's own dry run, before it is sent. */
export function Review(props: ReviewProps) {
  const { operation, project, label, title, call, tone, disabled, children } = props;
  const [wish, setWish] = useState<Wish>();
  const [faulty, setFaulty] = useState(0);
  const button = useRef<HTMLButtonElement>(null);
  const why = useRefusal(project)(operation) ?? disabled;

  function begin() {
    setFaulty(0);
    const asked = call();
    setWish(asked && { call: asked, key: newIdempotencyKey() });
  }

  function take(error: ApiError): boolean {
    const taken = props.onRefused?.(error) ?? false;
    if (taken) setFaulty(Object.keys(error.fields).length);
    return taken;
  }

  return (
    <>
      <button
        ref={button}
        // In a form, Enter opens it. What is missing, the server says.
        type="submit"
        formNoValidate
        className={`button ${tone ?? ''}`}
        disabled={why !== undefined}
        title={why}
        data-operation={operation}
        aria-haspopup="dialog"
        onClick={begin}
      >
        {label}
      </button>
      {faulty > 0 && (
        <span className="fault" role="alert">
          {faulty === 1 ? '1 field needs attention' : `${faulty} fields need attention`}
        </span>
      )}
      <Drawer
        open={wish !== undefined}
        onOpenChange={() => setWish(undefined)}
        title={title}
        opener={button}
        finalFocus={() => (faulty > 0 ? firstFaulty(button.current) : undefined)}
      >
        {children}
        {wish && <Wished {...props} wish={wish} onRefused={take} onClose={() => setWish(undefined)} />}
      </Drawer>
    </>
  );
}

/** The first field of the form around the button that something is wrong with, in sight. */
function firstFaulty(button: HTMLElement | null): HTMLElement | undefined {
  const field = button?.closest('form')?.querySelector<HTMLElement>('[aria-invalid="true"]');
  if (!field) return undefined;
  for (let one = field.closest('details'); one; one = one.parentElement?.closest('details') ?? null) one.open = true;
  field.scrollIntoView({ block: 'center' });
  return field;
}

function Wished({
  label,
  tone = 'primary',
  tellsAll = false,
  wish: { call, key },
  onApplied,
  onRefused,
  onClose,
}: ReviewProps & { wish: Wish; onClose: () => void }) {
  const [sending, setSending] = useState(false);
  const [refused, setRefused] = useState<Error>();
  const sayAccepted = useAccepted();
  const { data, error } = useQuery({
    queryKey: ['dry run', key],
    queryFn: () => dryRun(call),
    gcTime: 0,
    staleTime: 'static',
  });

  function refuse(thrown: Error) {
    setRefused(thrown);
    if (thrown instanceof ApiError && onRefused?.(thrown)) onClose();
  }
  // What the dry run is told, the request would be told.
  const told = useEffectEvent(refuse);
  useEffect(() => {
    if (error) told(error);
  }, [error]);

  async function apply() {
    setSending(true);
    setRefused(undefined);
    try {
      const answer = await send(call, { 'idempotency-key': key });
      sayAccepted(answer, label);
      onClose();
      void queries.invalidateQueries();
      onApplied?.(answer);
    } catch (thrown) {
      refuse(thrown as Error);
    } finally {
      setSending(false);
    }
  }

  return (
    <div className="reviewed">
      {!data && !error && <p className="muted">Asking what it would do …</p>}
      {data && <Effects of={tellsAll ? { ...data, differences: [] } : data} />}
      <details>
        <summary>As code</summary>
        <Code calls={[call]} />
      </details>
      <footer>
        {refused && <Refused error={refused} onApply={() => void apply()} />}
        <div className="row">
          <button
            type="button"
            className={`button ${tone}`}
            disabled={sending || (data === undefined && !error)}
            onClick={() => void apply()}
          >
            {sending ? 'Sending …' : label}
          </button>
        </div>
      </footer>
    </div>
  );
}

/** What a request would do: values, tasks, price, quotas. */
export function Effects({ of }: { of: DryRun }) {
  const { creates, differences, tasks, price_per_month_difference: price, currency_code: currency, quotas } = of;
  return (
    <div className="page">
      <dl className="facts">
        <dt>Tasks</dt>
        <dd>{tasks.length === 0 ? 'none' : <TaskList of={tasks} />}</dd>
        <dt>Price</dt>
        <dd>
          {price === null ? (
            'not known'
          ) : price === 0 ? (
            'stays the same'
          ) : (
            <Money amount={price} currency={currency} sign />
          )}
          {price ? ' a month' : ''}
        </dd>
        {quotas.map(({ region_id, attribute, used_before, used }) => (
          <Quota key={`${region_id} ${attribute}`} name={attribute} before={used_before} after={used} />
        ))}
      </dl>
      {differences.length > 0 && <Differences of={differences.map(inWords)} creates={creates} />}
    </div>
  );
}

function Quota({ name, before, after }: { name: string; before: number; after: number }) {
  return (
    <>
      <dt>{wordsOf([name.replace(/_count$/, '')])} in use</dt>
      <dd>
        {before} → {after}
      </dd>
    </>
  );
}

function TaskList({ of }: { of: DryRun['tasks'] }) {
  return (
    <ul>
      {of.map(({ type, steps }) => (
        <li key={type}>
          {titleOf(type)}
          <ul className="muted">
            {steps.map(({ action, kind, id, fields }) => (
              <li key={`${kind} ${id}`}>
                {action} {kind.replaceAll('_', ' ')} {fields && `(${fields.map((one) => wordsOf([one])).join(', ')})`}
              </li>
            ))}
          </ul>
        </li>
      ))}
    </ul>
  );
}

/** So many lines of differences are seen at once, and what a person chose. */
const LINES = 8;

/** A difference in words. */
interface Named {
  path: readonly string[];
  name: string;
  before: string | undefined;
  after: string | undefined;
  chosen?: boolean;
}

/** Values before and after, one line for each that changes. */
export function Differences({ of, creates = false }: { of: readonly Named[]; creates?: boolean }) {
  const seen = Math.max(LINES, of.filter(({ chosen }) => chosen).length);
  const rest = of.slice(seen);
  return (
    <div className="page">
      <h3>{creates ? 'What is made' : of.length === 1 ? '1 change' : `${of.length} changes`}</h3>
      <Lines of={of.slice(0, seen)} creates={creates} />
      {rest.length > 0 && (
        <details>
          <summary>{creates ? 'Everything else that is made' : `The other ${rest.length}`}</summary>
          <Lines of={rest} creates={creates} />
        </details>
      )}
    </div>
  );
}

const Lines = ({ of, creates }: { of: readonly Named[]; creates: boolean }) => (
  <ul className={creates ? 'diff made' : 'diff'}>
    {of.map(({ path, name, before, after }) => (
      <li key={path.join('/')}>
        <span className="name">{name}</span>
        {before !== undefined && <del>{before}</del>}
        {after !== undefined && <ins>{after}</ins>}
      </li>
    ))}
  </ul>
);

/** A refusal, and who stands in the way: the task that holds the thing, after which the request can be sent again. */
function Refused({ error, onApply }: { error: Error; onApply: () => void }) {
  const status = error instanceof ApiError ? error.status : undefined;
  const holder = status === 409 ? /by task ([\da-f-]{36})/.exec(error.message)?.[1] : undefined;
  return (
    <>
      <Fault error={error} />
      {status === 412 && (
        <p className="note warn">Somebody has changed it since this page read it. Look at it again.</p>
      )}
      {holder !== undefined && <Holder id={holder} onEnded={onApply} />}
    </>
  );
}

function Holder({ id, onEnded }: { id: string; onEnded: () => void }) {
  const place = usePlace() ?? remembered();
  const [waits, setWaits] = useState(false);
  const { data } = $api.useQuery('get', '/tradewind/v1/tasks/{task_id}/steps', { params: { path: { task_id: id } } });
  const ended = data?.state === 'FINISHED' || data?.state === 'ERROR';
  const apply = useEffectEvent(onEnded);
  useEffect(() => {
    if (waits && ended) apply();
  }, [waits, ended]);
  return (
    <div className="note">
      <p>
        {data ? `It has done ${data.done} of ${data.of} steps.` : 'Reading how far it is …'}{' '}
        <TaskLink place={place} id={id} />
      </p>
      <label className="row">
        <input type="checkbox" checked={waits} onChange={({ target }) => setWaits(target.checked)} />
        Apply when it ends
      </label>
    </div>
  );
}
