import { shownText, tableOf } from './table.ts';
import type { Terminal } from './terminal.ts';

/** Headings of columns, and where their values are: `client_user.role.name`. */
export type Columns = Readonly<Record<string, string>>;

/** Prints what commands answer: as JSON, or for people. */
export interface Output {
  json: boolean;
  rows(rows: readonly unknown[], columns: Columns): void;
  /** One thing, a line for each of its fields, and a table for those that are lists of simple things. */
  thing(thing: unknown): void;
  /** That something was done; as JSON it is `{}`. */
  done(text: string): void;
  /** One of many lines, as soon as it is known. */
  line(thing: unknown, text: string): void;
  /** Something besides the answer. */
  note(text: string): void;
}

export function createOutput(terminal: Terminal, json: boolean): Output {
  const { out, err, width } = terminal;
  const asJson = (value: unknown) => out(`${JSON.stringify(value ?? {}, null, 2)}\n`);
  return {
    json,
    rows(rows, columns) {
      if (json) return asJson(rows);
      if (rows.length === 0) return err('None.\n');
      const lines = rows.map((row) => Object.values(columns).map((place) => textOf(valueAt(row, place))));
      out(tableOf([Object.keys(columns), ...lines], width));
    },
    thing(thing) {
      if (json) return asJson(thing);
      if (typeof thing !== 'object' || thing === null) return out(`${textOf(thing)}\n`);
      const fields = Object.entries(thing);
      const lines = fields.filter(([, value]) => !isTable(value)).map(([name, value]) => [name, textOf(value)]);
      if (lines.length > 0) out(tableOf(lines, width));
      let gap = lines.length > 0 ? '\n' : '';
      for (const [name, value] of fields) {
        if (!isTable(value)) continue;
        const columns = [...new Set(value.flatMap(Object.keys))];
        const cells = value.map((row) => columns.map((column) => textOf(row[column])));
        const table = tableOf([columns.map((column) => column.toUpperCase()), ...cells], width);
        out(`${gap}${shownText(name)}:\n${table}`);
        gap = '\n';
      }
      if (fields.length === 0) out('Done.\n');
    },
    done: (text) => (json ? asJson({}) : out(`${text}\n`)),
    line: (thing, text) => out(`${json ? JSON.stringify(thing) : shownText(text)}\n`),
    note: (text) => err(`${text}\n`),
  };
}

const isTable = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every(
    (row) =>
      typeof row === 'object' &&
      row !== null &&
      !Array.isArray(row) &&
      Object.keys(row).length > 0 &&
      Object.values(row).every(isSimple),
  );
const isSimple = (value: unknown): boolean => typeof value !== 'object' || value === null;

/** Returns what is at a place such as `client_user.role.name`; at none, the thing itself. */
export function valueAt(thing: unknown, place: string): unknown {
  if (place === '') return thing;
  return place
    .split('.')
    .reduce<unknown>(
      (at, name) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[name] : undefined),
      thing,
    );
}

export function textOf(value: unknown): string {
  if (value === undefined || value === null || value === '') return '-';
  if (Array.isArray(value) && value.length === 0) return '-';
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}
