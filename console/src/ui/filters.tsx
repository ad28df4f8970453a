import { useEffect, useId, useRef, useState } from 'react';
import { useFilters, useSetFilters } from '../lib/search.ts';
import { Choice, type Option } from './choice.tsx';
import { TextField } from './field.tsx';

const TYPING_MS = 250;

/** A filter of a list by a text, which the address keeps. */
export function TextFilter({
  name,
  label,
  placeholder,
  type = 'search',
}: {
  name: string;
  label: string;
  placeholder?: string;
  type?: 'search' | 'date';
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
  return (
    <TextField
      label={label}
      type={type}
      value={text}
      onChange={setText}
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
        value={filters[name] ?? ''}
        onChange={({ target }) => change({ [name]: target.value })}
      />
    </span>
  );
}
