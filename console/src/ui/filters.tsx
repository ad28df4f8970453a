import {
  Fragment,
  isValidElement,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import { useFilters, useSetFilters } from '../lib/search.ts';
import { Choice, type Option } from './choice.tsx';
import { TextField } from './field.tsx';

const TYPING_MS = 250;
/** What an address says besides filters. */
const OTHERS = ['tab', 'page', 'page_token', 'by', 'order', 'ordering'];
const narrow = matchMedia('(max-width: 40rem)');
const onNarrow = (changed: () => void) => {
  narrow.addEventListener('change', changed);
  return () => narrow.removeEventListener('change', changed);
};

/** The filters of a list. Several would fill half of a phone: there, they are folded. */
export function Filters({ children }: { children: ReactNode }) {
  const isNarrow = useSyncExternalStore(onNarrow, () => narrow.matches);
  const [open, setOpen] = useState(false);
  const set = Object.entries(useFilters()).filter(([name, value]) => value && !OTHERS.includes(name)).length;
  if (isValidElement(children) && children.type !== Fragment) return <search className="filters">{children}</search>;
  return (
    <search>
      <details open={!isNarrow || open} onToggle={({ currentTarget }) => isNarrow && setOpen(currentTarget.open)}>
        <summary hidden={!isNarrow}>Filters{set > 0 && ` (${set})`}</summary>
        <div className="filters">{children}</div>
      </details>
    </search>
  );
}

/** A filter of a list by a text, which the address keeps. */
export function TextFilter({
  name,
  label,
  placeholder,
  type = 'search',
  fault,
}: {
  name: string;
  label: string;
  placeholder?: string;
  /** Says what is wrong with a text that nothing can be found by. */
  fault?: (text: string) => string | undefined;
  type?: 'search' | 'date' | 'datetime-local';
}) {
  const filters = useFilters();
  const change = useSetFilters();
  const there = filters[name] ?? '';
  const [text, setText] = useState(there);
  const sent = useRef(there);
  useEffect(() => {
    // By now, more may have been typed than the address has just been given from here.
    if (there === sent.current) return;
    sent.current = there;
    setText(there);
  }, [there]);
  useEffect(() => {
    if (text === there) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      change({ [name]: text });
    }, TYPING_MS);
    return () => clearTimeout(timer);
  });
  const wrong = fault?.(there);
  return (
    <TextField
      label={label}
      type={type}
      value={text}
      onChange={setText}
      {...(wrong !== undefined && { faults: [wrong] })}
      {...(placeholder !== undefined && { placeholder })}
    />
  );
}

/** A filter of a list by one of a few values. */
export function ChoiceFilter({
  name,
  label,
  options,
  none = 'all',
}: {
  name: string;
  label: string;
  options: readonly Option[];
  /** What it says while nothing is chosen. */
  none?: string;
}) {
  const filters = useFilters();
  const change = useSetFilters();
  return (
    <Choice
      label={label}
      value={filters[name] ?? ''}
      options={[{ value: '', text: none }, ...options]}
      onChange={(value) => change({ [name]: value })}
    />
  );
}

/** A filter of a list by a day, in UTC. */
export function DayFilter({ name, label }: { name: string; label: string }) {
  const filters = useFilters();
  const change = useSetFilters();
  const id = useId();
  return (
    <span className="row">
      <label htmlFor={id} className="muted">
        {label}
      </label>
      <input
        id={id}
        className="input choice"
        type="date"
        // A preset may have said a time of the day.
        value={filters[name]?.slice(0, 10) ?? ''}
        onChange={({ target }) => change({ [name]: target.value })}
      />
    </span>
  );
}
