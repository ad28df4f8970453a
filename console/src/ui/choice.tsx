import { useId } from 'react';

export interface Option {
  value: string;
  text: string;
}

/** Values that are shown as they are, or each with its text. */
export const optionsOf = (values: readonly string[] | Readonly<Record<string, string>>): Option[] =>
  Array.isArray(values)
    ? values.map((value) => ({ value, text: value }))
    : Object.entries(values).map(([value, text]) => ({ value, text }));

/** A choice of one of a few, which the browser shows in its own way. */
export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
}) {
  const id = useId();
  const known = options.some((one) => one.value === value);
  return (
    <span className="row">
      <label htmlFor={id} className="muted">
        {label}
      </label>
      <select id={id} className="input choice" value={value} onChange={({ target }) => onChange(target.value)}>
        {!known && <option value={value}>{value}</option>}
        {options.map((one) => (
          <option key={one.value} value={one.value}>
            {one.text}
          </option>
        ))}
      </select>
    </span>
  );
}
