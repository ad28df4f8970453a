import { useId } from 'react';
import { changedNames, isSame, type Values } from '../../lib/changes.ts';
import { useFilters } from '../../lib/search.ts';
import { ChoiceFilter, TextFilter } from '../../ui/filters.tsx';
import { EXPANDERS, PARAMETERS, type Parameter } from './autoscaler-parameters.ts';
import type { FieldsProps, Group } from './settings.tsx';

const defaultOf = (name: string): string | undefined => PARAMETERS.find((one) => one.name === name)?.default;

/** The overrides of the autoscaler. The API can remove all of them, but a single one only by its default. */
export const AUTOSCALER: Group = {
  name: 'autoscaler_config',
  title: 'Autoscaler',
  read: (cluster) => cluster?.autoscaler_config ?? {},
  patch: (before, wanted) =>
    Object.keys(wanted).length === 0
      ? {}
      : Object.fromEntries(changedNames(before, wanted).map((name) => [name, wanted[name] ?? defaultOf(name)])),
  Fields,
  defaultOf,
};

function Fields({ values, before, onChange, faults, cluster }: FieldsProps) {
  const { filter = '', show } = useFilters();
  const words = filter.toLowerCase().split(/\s+/);
  const isChanged = ({ name, default: usual }: Parameter) =>
    (values[name] ?? usual) !== usual || !isSame(values[name], before[name]);
  const changed = PARAMETERS.filter(isChanged);
  const found = PARAMETERS.filter((one) => {
    const text = `${one.name} ${one.help}`.toLowerCase();
    return (show !== 'changed' || isChanged(one)) && words.every((word) => text.includes(word));
  });

  function set(name: string, value: string | undefined) {
    const { [name]: _, ...rest } = values;
    const usual = value === undefined || (value === defaultOf(name) && before[name] === undefined);
    onChange(usual ? rest : { ...rest, [name]: value });
  }

  return (
    <>
      {cluster && (
        <search className="row">
          <TextFilter name="filter" label="Filter" placeholder="scale-down" />
          <ChoiceFilter
            name="show"
            label="Show"
            options={[{ value: 'changed', text: `only changed (${changed.length})` }]}
          />
          <span role="status" className="muted">
            {found.length} of {PARAMETERS.length} parameters
          </span>
          <button
            type="button"
            className="button"
            disabled={Object.keys(values).length === 0}
            onClick={() => onChange({})}
          >
            Reset all to their defaults
          </button>
        </search>
      )}
      {found.length === 0 && (
        <div className="card empty">
          <p>{show === 'changed' && filter === '' ? 'Every parameter has its default.' : 'No parameter fits.'}</p>
        </div>
      )}
      {found.length > 0 && (
        <ul className="card lines">
          {found.map((parameter) => (
            <ParameterField
              key={parameter.name}
              parameter={parameter}
              values={values}
              edited={!isSame(values[parameter.name], before[parameter.name])}
              faults={faults[parameter.name]}
              onChange={(value) => set(parameter.name, value)}
            />
          ))}
        </ul>
      )}
    </>
  );
}

function ParameterField({
  parameter: { name, default: usual, kind, range, help },
  values,
  edited,
  faults,
  onChange,
}: {
  parameter: Parameter;
  values: Values;
  edited: boolean;
  faults: string[] | undefined;
  onChange: (value: string | undefined) => void;
}) {
  const id = useId();
  const set = values[name];
  const value = typeof set === 'string' ? set : usual;
  const ids = { id, 'aria-describedby': `${id}-help ${id}-fault`, 'aria-invalid': faults !== undefined };
  return (
    <li className="parameter field">
      <label htmlFor={id} className="mono">
        {name}
      </label>
      {kind === 'bool' ? (
        <select {...ids} className="input" value={value} onChange={({ target }) => onChange(target.value)}>
          <option>true</option>
          <option>false</option>
        </select>
      ) : (
        <input
          {...ids}
          className="input"
          value={value}
          inputMode={kind === 'int' ? 'numeric' : undefined}
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      <span className="row">
        <span className="muted">default {usual}</span>
        {value !== usual && !edited && <span className="badge">not the default</span>}
        {edited && <span className="badge warn">changed</span>}
        {(value !== usual || edited) && (
          <button
            type="button"
            className="button quiet"
            aria-label={`Reset ${name} to its default`}
            onClick={() => onChange(undefined)}
          >
            Reset
          </button>
        )}
      </span>
      {kind === 'expander' && <Expanders chosen={value} onChange={onChange} />}
      <p id={`${id}-help`} className="help">
        {help} <span>Takes {range}.</span>
      </p>
      <p id={`${id}-fault`} className="fault" role={faults && 'alert'}>
        {faults?.join(' ')}
      </p>
    </li>
  );
}

/** The strategies in their order. The field above takes the same as a list. */
function Expanders({ chosen, onChange }: { chosen: string; onChange: (value: string) => void }) {
  const names = chosen.split(',').filter((name) => name !== '');
  const others = Object.keys(EXPANDERS).filter((name) => !names.includes(name));
  const say = (next: readonly string[]) => onChange(next.join(','));
  const swapped = (at: number) =>
    names.map((name, place) => names[place === at ? at - 1 : at - 1 === place ? at : place] ?? name);
  return (
    <div className="wide">
      <ol>
        {names.map((name, at) => (
          <li key={name} className="row">
            <code>{name}</code> <span className="muted">{EXPANDERS[name]}</span>
            {at > 0 && (
              <button
                type="button"
                className="button quiet"
                aria-label={`Move ${name} up`}
                onClick={() => say(swapped(at))}
              >
                ↑
              </button>
            )}
            {names.length > 1 && (
              <button
                type="button"
                className="button quiet"
                aria-label={`Remove ${name}`}
                onClick={() => say(names.filter((one) => one !== name))}
              >
                ✕
              </button>
            )}
          </li>
        ))}
      </ol>
      <div className="row">
        <span className="muted">Add in front:</span>
        {others.map((name) => (
          <button
            key={name}
            type="button"
            className="button"
            title={EXPANDERS[name]}
            onClick={() => say([name, ...names])}
          >
            {name}
          </button>
        ))}
      </div>
    </div>
  );
}
