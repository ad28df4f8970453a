import { type ReactNode, useRef, useState } from 'react';
import { queries, send } from '../lib/api.ts';
import { type Call, newIdempotencyKey } from '../lib/call.ts';
import { useRefusal } from '../lib/permissions.ts';
import { Code } from './code.tsx';
import { Drawer } from './drawer.tsx';

/** Requests that are under way at once. */
const AT_ONCE = 4;

export interface BulkItem {
  id: string;
  name: string;
  call: Call;
  /** Why it is likely to be refused, such as "attached to db-1". */
  warning?: string | undefined;
  /** Leads to the thing, so that people can do something about a refusal. */
  link?: ReactNode;
}
type Outcome = 'waiting' | 'sending' | 'accepted' | Error;

/** Sends one request for each chosen thing, and says of each what became of it. Those that were refused can be sent again. */
export function Bulk({
  operation,
  label,
  done = 'Done',
  noun,
  items,
  tone = 'danger',
  onDone,
}: {
  operation: string;
  /** What is done to them, such as "Delete". */
  label: string;
  /** What was done once all are accepted, such as "Deleted". */
  done?: string;
  /** What they are, in the plural, such as "volumes". */
  noun: string;
  items: readonly BulkItem[];
  tone?: 'danger' | 'primary' | 'quiet';
  /** With the IDs of those that were accepted. */
  onDone: (accepted: string[]) => void;
}) {
  const button = useRef<HTMLButtonElement>(null);
  const [chosen, setChosen] = useState<readonly (BulkItem & { key: string })[]>();
  const [outcomes, setOutcomes] = useState<Record<string, Outcome>>({});
  const refusal = useRefusal()(operation);
  const why = refusal ?? (items.length === 0 ? 'Choose some first' : undefined);
  const busy = Object.values(outcomes).some((one) => one === 'sending' || one === 'waiting');
  const failed = chosen?.filter(({ id }) => outcomes[id] instanceof Error) ?? [];
  const accepted = chosen?.filter(({ id }) => outcomes[id] === 'accepted') ?? [];
  const begun = Object.keys(outcomes).length > 0;
  const what = chosen?.length === 1 ? chosen[0]?.name : `${chosen?.length ?? ''} ${noun}`;
  const all = chosen !== undefined && accepted.length === chosen.length;
  const title = all ? done : `${label} ${what}${begun ? '' : '?'}`;
  const warned = chosen?.filter(({ warning }) => warning !== undefined).length ?? 0;

  async function run(these: readonly (BulkItem & { key: string })[]) {
    const set = (id: string, outcome: Outcome) => setOutcomes((before) => ({ ...before, [id]: outcome }));
    for (const { id } of these) set(id, 'waiting');
    const queue = [...these];
    const work = async () => {
      for (let item = queue.shift(); item; item = queue.shift()) {
        set(item.id, 'sending');
        try {
          await send(item.call, { 'idempotency-key': item.key });
          set(item.id, 'accepted');
        } catch (error) {
          set(item.id, error as Error);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    void queries.invalidateQueries();
  }

  function close() {
    if (busy) return;
    onDone(accepted.map(({ id }) => id));
    setOutcomes({});
    setChosen(undefined);
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        className={`button ${tone}`}
        disabled={why !== undefined}
        title={why}
        data-operation={operation}
        aria-haspopup="dialog"
        onClick={() => setChosen(items.map((item) => ({ ...item, key: newIdempotencyKey() })))}
      >
        {label} {items.length > 0 && items.length}
      </button>
      <Drawer open={chosen !== undefined} onOpenChange={close} opener={button} title={title} busy={busy}>
        <p role="status">
          {begun &&
            `${accepted.length} of ${chosen?.length} accepted${failed.length ? `, ${failed.length} refused` : ''}.`}
        </p>
        {!begun && warned > 0 && (
          <p className="note warn">
            {warned === 1 ? 'One of them' : `${warned} of them`} will probably be refused. The list says why.
          </p>
        )}
        <ul className="lines">
          {chosen?.map(({ id, name, warning, link }) => (
            <li key={id} className="row">
              <span>{outcomes[id] instanceof Error ? (link ?? name) : name}</span>
              {!begun && warning !== undefined && <span className="badge warn">{warning}</span>}
              <OutcomeText of={outcomes[id]} />
            </li>
          ))}
        </ul>
        <div className="row">
          {!begun && chosen && (
            <button type="button" className={`button ${tone}`} onClick={() => void run(chosen)}>
              {label} {chosen.length}
            </button>
          )}
          {begun && !busy && failed.length > 0 && (
            <button
              type="button"
              className={`button ${tone}`}
              // With the same keys: what was carried out although its answer was lost is not done twice.
              onClick={() => void run(failed)}
            >
              Try {failed.length === 1 ? 'it' : `the ${failed.length}`} again
            </button>
          )}
        </div>
        {chosen && (
          <details>
            <summary>As code</summary>
            <Code calls={chosen.map(({ call }) => call)} />
          </details>
        )}
      </Drawer>
    </>
  );
}

function OutcomeText({ of }: { of: Outcome | undefined }) {
  if (of === undefined) return null;
  if (of instanceof Error) return <span className="fault">{of.message}</span>;
  return <span className="muted">{of}</span>;
}
