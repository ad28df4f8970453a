import { useId, useState } from 'react';
import type { Faults } from './settings.tsx';

const written = (value: Readonly<Record<string, string>>): string =>
  Object.entries(value)
    .map(([name, text]) => `${name}=${text}`)
    .join('\n');

const readFrom = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line) => {
        const at = line.indexOf('=');
        return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)];
      }),
  );

/** Texts by name, one `name=text` a line. */
export function TextsField({
  label,
  value,
  onChange,
  help,
  faults,
  path,
}: {
  label: string;
  value: Readonly<Record<string, string>>;
  onChange: (value: Record<string, string>) => void;
  help: string;
  faults: Faults;
  /** Where the texts are, as the server names it in its faults. */
  path: string;
}) {
  const id = useId();
  // A line that is being written isn't an entry yet, so the text is kept beside what it means.
  const [typed, setTyped] = useState<string>();
  const text = typed !== undefined && written(readFrom(typed)) === written(value) ? typed : written(value);
  const found = Object.entries(faults).flatMap(([name, texts]) =>
    name === path
      ? texts
      : name.startsWith(`${path}.`)
        ? texts.map((one) => `${name.slice(path.length + 1)}: ${one}`)
        : [],
  );
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input short"
        aria-describedby={`${id}-help ${id}-fault`}
        aria-invalid={found.length > 0}
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setTyped(target.value);
          onChange(readFrom(target.value));
        }}
      />
      <p id={`${id}-help`} className="help">
        {help} One a line, as name=value.
      </p>
      <p id={`${id}-fault`} className="fault" role={found.length > 0 ? 'alert' : undefined}>
        {found.join(' ')}
      </p>
    </div>
  );
}
