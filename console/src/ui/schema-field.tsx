import { useId } from 'react';
import type { Catalog, Schema } from '../lib/operations.ts';

interface FieldProps {
  name: string;
  schema: Schema;
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
  resolve: Catalog['resolve'];
  faults: Readonly<Record<string, readonly string[]>>;
  /** The names of what it is in. */
  path?: string;
  /** What it is called instead of its name in the API. */
  label?: string | undefined;
  /** What its choices are called. */
  texts?: Readonly<Record<string, string>> | undefined;
}

/** A value as people write it. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value, null, 1));

const typesOf = ({ type }: Schema): string[] => (type === undefined ? [] : [type].flat());
const withoutNull = (schemas: readonly Schema[]): Schema[] => schemas.filter((one) => one.type !== 'null');

/** A part of a body, by its schema. What is left empty is not sent. */
export function SchemaField(props: FieldProps) {
  const { name, required, value, onChange, resolve, faults, path = '', label = name, texts } = props;
  const schema = resolve(props.schema);
  const variants = withoutNull(schema.oneOf ?? schema.anyOf ?? []);
  const [only] = variants;
  const [type] = typesOf(schema).filter((one) => one !== 'null');
  const whole = path === '' ? name : `${path}.${name}`;
  const inner = { ...props, path: whole };
  if (variants.length === 1 && only)
    return <SchemaField {...props} schema={{ ...only, description: schema.description ?? only.description ?? '' }} />;
  if (type === 'object' && schema.properties)
    return <ObjectField {...inner} schema={schema} value={value as Record<string, unknown> | undefined} />;
  if (type === 'array' && schema.items)
    return <ListField {...inner} schema={schema} value={value as unknown[] | undefined} />;
  if (variants.length > 1 || type === 'object' || type === 'array' || (type === undefined && !schema.enum))
    return <JsonField {...inner} schema={schema} />;
  return (
    <Labelled name={label} schema={schema} required={required} faults={faults[whole] ?? faults[name]}>
      {(ids) => (
        <Simple
          {...ids}
          schema={schema}
          type={type ?? 'string'}
          texts={texts}
          required={required}
          value={value}
          onChange={onChange}
        />
      )}
    </Labelled>
  );
}

interface Ids {
  id: string;
  'aria-describedby': string;
  'aria-invalid': boolean;
}

function Labelled({
  name,
  schema: { description, title },
  required,
  faults,
  children,
}: {
  name: string;
  schema: Schema;
  required: boolean;
  faults: readonly string[] | undefined;
  children: (ids: Ids) => React.ReactNode;
}) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>
        {name} {required ? <span className="muted">required</span> : null}
      </label>
      {children({ id, 'aria-describedby': `${id}-help ${id}-fault`, 'aria-invalid': faults !== undefined })}
      <p id={`${id}-help`} className="help">
        {description ?? title}
      </p>
      <p id={`${id}-fault`} className="fault" role={faults && 'alert'}>
        {faults?.join(' ')}
      </p>
    </div>
  );
}

function Simple({
  schema,
  type,
  texts,
  required,
  value,
  onChange,
  ...ids
}: Ids & {
  schema: Schema;
  type: string;
  texts: FieldProps['texts'];
  required: boolean;
  value: unknown;
  onChange: (value: unknown) => void;
}) {
  const choices = schema.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  const text = value === undefined ? '' : textOf(value);
  const example = schema.default ?? schema.examples?.[0];
  if (choices || type === 'boolean') {
    const options = choices ?? [true, false];
    return (
      <select
        {...ids}
        className="input"
        required={required}
        value={text}
        onChange={({ target }) => onChange(options.find((one) => String(one) === target.value))}
      >
        <option value="">{schema.default === undefined ? '' : `default: ${textOf(schema.default)}`}</option>
        {options.map((one) => (
          <option key={String(one)} value={String(one)}>
            {texts?.[String(one)] ?? String(one)}
          </option>
        ))}
      </select>
    );
  }
  const isNumber = type === 'integer' || type === 'number';
  return (
    <input
      {...ids}
      className="input"
      required={required}
      type={isNumber ? 'number' : 'text'}
      {...(isNumber && { min: schema.minimum, max: schema.maximum, step: type === 'integer' ? 1 : 'any' })}
      // What is too long is refused with the reason: cut off, it would be another word.
      maxLength={schema.maxLength !== undefined && schema.maxLength < 10 ? undefined : schema.maxLength}
      placeholder={example === undefined ? undefined : textOf(example)}
      value={text}
      onChange={({ target }) => {
        if (target.value === '') onChange(undefined);
        else onChange(isNumber ? Number(target.value) : target.value);
      }}
    />
  );
}

function ObjectField({
  name,
  schema,
  required,
  value,
  onChange,
  resolve,
  faults,
  path = '',
}: FieldProps & { value: Record<string, unknown> | undefined }) {
  const there = value !== undefined || required;
  return (
    <fieldset className="part">
      <legend>
        {required ? (
          name
        ) : (
          <label className="row">
            <input
              type="checkbox"
              checked={there}
              onChange={({ target }) => onChange(target.checked ? {} : undefined)}
            />{' '}
            {name}
          </label>
        )}
      </legend>
      {schema.description && <p className="help">{schema.description}</p>}
      {there && (
        <Properties
          schema={schema}
          value={value ?? {}}
          onChange={onChange}
          resolve={resolve}
          faults={faults}
          path={path}
        />
      )}
    </fieldset>
  );
}

/** The properties of a body, those that are required first. */
export function Properties({
  schema,
  value,
  onChange,
  resolve,
  faults,
  path = '',
  words = {},
}: {
  schema: Schema;
  value: Readonly<Record<string, unknown>>;
  onChange: (value: Record<string, unknown>) => void;
  resolve: Catalog['resolve'];
  faults: FieldProps['faults'];
  path?: string;
  /** Labels, helps and choices instead of what the API's document says. */
  words?: Readonly<Record<string, readonly [label: string, help: string, choices?: Readonly<Record<string, string>>]>>;
}) {
  const required = new Set(schema.required ?? []);
  const names = Object.keys(schema.properties ?? {}).sort(
    (one, other) => Number(required.has(other)) - Number(required.has(one)),
  );
  const schemaOf = (name: string): Schema => {
    const [, description, choices] = words[name] ?? [];
    return {
      ...(choices ? { type: 'string', enum: Object.keys(choices) } : schema.properties?.[name]),
      ...(description !== undefined && { description }),
    };
  };
  return names.map((name) => (
    <SchemaField
      key={name}
      name={name}
      label={words[name]?.[0]}
      texts={words[name]?.[2]}
      schema={schemaOf(name)}
      required={required.has(name)}
      value={value[name]}
      onChange={(next) => {
        const { [name]: _, ...rest } = value;
        onChange(next === undefined ? rest : { ...rest, [name]: next });
      }}
      resolve={resolve}
      faults={faults}
      path={path}
    />
  ));
}

function ListField({
  name,
  schema,
  required,
  value = [],
  onChange,
  resolve,
  faults,
  path = '',
}: FieldProps & { value: unknown[] | undefined }) {
  const set = (at: number, next: unknown) => onChange(value.map((one, place) => (place === at ? next : one)));
  return (
    <fieldset className="part">
      <legend>
        {name} {required && <span className="muted">required</span>}
      </legend>
      {schema.description && <p className="help">{schema.description}</p>}
      {value.map((one, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an entry is its place in the list
        <div key={at} className="entry">
          <SchemaField
            name={String(at + 1)}
            schema={schema.items ?? {}}
            required
            value={one}
            onChange={(next) => set(at, next)}
            resolve={resolve}
            faults={faults}
            path={path}
          />
          <button
            type="button"
            className="button quiet"
            onClick={() => onChange(value.filter((_, place) => place !== at))}
          >
            Remove
          </button>
        </div>
      ))}
      <button
        type="button"
        className="button"
        onClick={() => onChange([...value, resolve(schema.items ?? {}).type === 'object' ? {} : undefined])}
      >
        Add {name.replace(/ies$/, 'y').replace(/s$/, '')}
      </button>
    </fieldset>
  );
}

function JsonField({ name, schema, required, value, onChange, faults, path = '' }: FieldProps) {
  return (
    <Labelled name={`${name} (JSON)`} schema={schema} required={required} faults={faults[path] ?? faults[name]}>
      {(ids) => (
        <textarea
          {...ids}
          className="input"
          required={required}
          defaultValue={value === undefined ? '' : JSON.stringify(value, null, 2)}
          onBlur={({ target }) => {
            try {
              target.setCustomValidity('');
              onChange(target.value.trim() === '' ? undefined : JSON.parse(target.value));
            } catch (error) {
              target.setCustomValidity((error as Error).message);
              target.reportValidity();
            }
          }}
        />
      )}
    </Labelled>
  );
}
