import { type ReactNode, useId, useState } from 'react';
import type { ApiError } from '../lib/api.ts';
import type { Option } from './choice.tsx';

export interface Ids {
  id: string;
  'aria-describedby': string;
  'aria-invalid': boolean;
}

/** Whether a form takes a refusal: only if it has every field that the server names, so that nothing goes unsaid. */
export function takes({ fields }: ApiError, has: (name: string) => boolean): boolean {
  const names = Object.keys(fields);
  return names.length > 0 && names.every(has);
}

/** What the server says is wrong with the fields of a form. */
export function useFaults(fields: readonly string[]) {
  const [faults, setFaults] = useState<Readonly<Record<string, readonly string[]>>>({});
  return {
    faults,
    clear: () => setFaults({}),
    take(error: ApiError): boolean {
      setFaults(error.fields);
      return takes(error, (name) => fields.includes(name));
    },
  };
}

/** What is in a form, and what the server says is wrong with it. */
export function useForm<Values extends object>(initial: Values) {
  const [values, setValues] = useState(initial);
  const [faults, setFaults] = useState<Readonly<Record<string, readonly string[]>>>({});
  const set = (change: Partial<Values>) => setValues((before) => ({ ...before, ...change }));
  return {
    values,
    set,
    faults,
    /** What the field of a value needs. */
    field: <Name extends keyof Values & string>(name: Name) => ({
      value: values[name],
      onChange: (value: Values[Name]) => set({ [name]: value } as unknown as Partial<Values>),
      faults: faults[name],
    }),
    clear: () => setFaults({}),
    reset(next = initial): void {
      setValues(next);
      setFaults({});
    },
    /** What is wrong with a part of a value is told at its field. */
    take(error: ApiError): boolean {
      setFaults({ ...error.fields, ...wholeFields(error) });
      return takes(error, (name) => fieldOf(name) in values);
    },
  };
}

const fieldOf = (name: string): string => name.replace(/\..*/s, '');
const wholeFields = ({ fields }: ApiError): Record<string, string[]> => {
  const whole: Record<string, string[]> = {};
  for (const [name, texts] of Object.entries(fields))
    whole[fieldOf(name)] = [...(whole[fieldOf(name)] ?? []), ...texts];
  return whole;
};

export type Form<Values extends object> = ReturnType<typeof useForm<Values>>;

/** What is around a field: its name, help, and what the server or the page says is wrong with it. */
export function Field({
  label,
  help,
  faults,
  required,
  children,
}: {
  label: string;
  help?: ReactNode;
  faults?: readonly string[] | undefined;
  required?: boolean;
  children: (ids: Ids) => ReactNode;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        {label} {required && <span className="muted">required</span>}
      </label>
      {children({ id, 'aria-describedby': `${id}-help ${id}-fault`, 'aria-invalid': faults !== undefined })}
      <p id={`${id}-help`} className="help">
        {help}
      </p>
      <p id={`${id}-fault`} className="fault" role={faults && 'alert'}>
        {faults?.join(' ')}
      </p>
    </div>
  );
}

interface Common {
  label: string;
  help?: ReactNode;
  faults?: readonly string[] | undefined;
  required?: boolean;
}

export function TextField({
  value,
  onChange,
  type = 'text',
  placeholder,
  maxLength,
  rows,
  autoComplete,
  ...around
}: Common & {
  value: string;
  onChange: (value: string) => void;
  autoComplete?: 'off' | 'new-password';
  /** Of a text of several lines. */
  rows?: number;
  type?: 'text' | 'password' | 'email' | 'url' | 'search' | 'date' | 'datetime-local';
  placeholder?: string;
  maxLength?: number;
}) {
  return (
    <Field {...around}>
      {(ids) => {
        const common = {
          ...ids,
          className: 'input',
          required: around.required,
          placeholder,
          maxLength,
          autoComplete,
          value,
        };
        return rows === undefined ? (
          <input {...common} type={type} onChange={({ target }) => onChange(target.value)} />
        ) : (
          <textarea {...common} rows={rows} onChange={({ target }) => onChange(target.value)} />
        );
      }}
    </Field>
  );
}

/** A number; undefined while the field is empty. */
export function NumberField({
  value,
  onChange,
  min,
  max,
  step = 1,
  ...around
}: Common & {
  value: number | undefined;
  onChange: (value: number | undefined) => void;
  min?: number;
  max?: number;
  step?: number | 'any';
}) {
  return (
    <Field {...around}>
      {(ids) => (
        <input
          {...ids}
          className="input"
          type="number"
          required={around.required}
          min={min}
          max={max}
          step={step}
          value={value ?? ''}
          onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
        />
      )}
    </Field>
  );
}

export function SelectField({
  value,
  onChange,
  options,
  ...around
}: Common & { value: string; onChange: (value: string) => void; options: readonly Option[] }) {
  const known = options.some((one) => one.value === value);
  return (
    <Field {...around}>
      {(ids) => (
        <select
          {...ids}
          className="input"
          required={around.required}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        >
          {!known && <option value={value}>{value}</option>}
          {options.map((one) => (
            <option key={one.value} value={one.value}>
              {one.text}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function CheckField({
  label,
  help,
  faults,
  value,
  onChange,
}: Omit<Common, 'required'> & { value: boolean; onChange: (value: boolean) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label className="row" htmlFor={id}>
        <input
          id={id}
          type="checkbox"
          aria-describedby={`${id}-help ${id}-fault`}
          aria-invalid={faults !== undefined}
          checked={value}
          onChange={({ target }) => onChange(target.checked)}
        />
        {label}
      </label>
      <p id={`${id}-help`} className="help">
        {help}
      </p>
      <p id={`${id}-fault`} className="fault" role={faults && 'alert'}>
        {faults?.join(' ')}
      </p>
    </div>
  );
}
