import { useEffect, useState } from 'react';
import type { components } from '../../types/api.d.ts';
import { serverNow } from '../lib/hub.ts';
import { State } from '../ui/state.tsx';

export type TaskSteps = components['schemas']['TaskSteps'];
type Step = TaskSteps['steps'][number];

const WIDTH = 1_000;
const ENDED: readonly string[] = ['done', 'removed', 'given up'];
const SECOND = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 });

/** A part of a step’s time in which the same was done. */
interface Span {
  from: number;
  to: number;
  look: string;
  text: string;
}

/** The steps of a task as bars over the time from its acceptance to its end, or to now. */
export function StepsChart({
  of: { steps },
  from,
  to,
  error,
}: {
  of: TaskSteps;
  from: number;
  to: number | undefined;
  /** Why the task has failed. */
  error: string | null;
}) {
  const now = useNow(to === undefined);
  const times = steps.flatMap(({ history }) => history.map(({ at }) => Date.parse(at)));
  // The times of a task have whole seconds only.
  const start = Math.min(from + 999, ...times);
  const end = Math.max(to ?? now, start + 1, ...times);
  return (
    <ol className="steps-chart">
      {steps.map((step) => (
        <StepLine key={`${step.kind} ${step.id}`} of={step} start={start} end={end} error={error} />
      ))}
    </ol>
  );
}

function useNow(moving: boolean): number {
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    if (!moving) return undefined;
    const timer = setInterval(() => setNow(serverNow()), 500);
    return () => clearInterval(timer);
  }, [moving]);
  return now;
}

function StepLine({ of: step, start, end, error }: { of: Step; start: number; end: number; error: string | null }) {
  const { kind, id, state, doing, failures, history } = step;
  const reason = state === 'given up' ? (error?.includes(id) ? error : doing) : null;
  const spans = spansOf(step, end);
  const x = (at: number) => ((at - start) / (end - start)) * WIDTH;
  const failed = history.filter((note, index) => note.failures > (history[index - 1]?.failures ?? 0));
  return (
    <li>
      <div className="row">
        <strong>{kind.replaceAll('_', ' ')}</strong>
        <code className="muted">{id}</code>
        <State of={state} />
        {failures > 0 && <span className="badge warn">{failures === 1 ? '1 failure' : `${failures} failures`}</span>}
        {doing && state !== 'given up' && <span className="muted">{doing}</span>}
      </div>
      {spans.length > 0 && (
        <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" role="img">
          <title>{spans.map(({ text }) => text).join(', then ')}</title>
          {spans.map((span) => (
            <rect
              key={span.from}
              className={span.look}
              x={x(span.from)}
              // What took no time is seen all the same.
              width={Math.max(4, x(span.to) - x(span.from))}
              height={10}
            />
          ))}
          {failed.map(({ at }) => (
            <line key={at} x1={x(Date.parse(at))} x2={x(Date.parse(at))} y1={0} y2={10} />
          ))}
        </svg>
      )}
      {reason && <p className="note bad">{reason}</p>}
      {history.length > 0 && (
        <details open={state === 'given up' || failures > 0}>
          <summary>What was done when</summary>
          <ol className="lines">
            {history.map((note) => (
              <li key={`${note.at} ${note.state} ${note.doing}`} className="row">
                <span className="mono">{note.at.slice(11, 23)}</span>
                <span>{note.state}</span>
                {note.doing && <span className="muted">{note.doing}</span>}
                {note.failures > 0 && <span className="badge warn">{note.failures} failed in a row</span>}
              </li>
            ))}
          </ol>
        </details>
      )}
    </li>
  );
}

function spansOf({ history, state }: Step, end: number): Span[] {
  return history.flatMap(({ at, state: then, doing, failures }, index): Span[] => {
    if (ENDED.includes(then)) return [];
    const from = Date.parse(at);
    const next = history[index + 1];
    const to = next ? Date.parse(next.at) : end;
    const lost = !next && state === 'given up';
    const look = lost ? 'lost' : failures > 0 ? 'failing' : then;
    return [{ from, to, look, text: `${doing ?? then} for ${SECOND.format((to - from) / 1_000)} s` }];
  });
}
