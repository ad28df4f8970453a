type Cell = string | number | null | undefined | object;

/** A spreadsheet takes a text that begins so for a formula, and runs it. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * Returns the records as CSV (RFC 4180) with a line of field names. What a record doesn't have is empty, and lists are
 * JSON. A text that a spreadsheet would run has an apostrophe before it.
 */
export function csvOf<Field extends string>(
  fields: readonly Field[],
  records: readonly Partial<Record<Field, Cell>>[],
): string {
  return `${lineOf(fields)}${csvLines(fields, records)}`;
}

/** Returns the same without the names. */
export function csvLines<Field extends string>(
  fields: readonly Field[],
  records: readonly Partial<Record<Field, Cell>>[],
): string {
  return records.map((record) => lineOf(fields.map((field) => record[field]))).join('');
}

const lineOf = (cells: readonly Cell[]) => `${cells.map(cellOf).join(',')}\r\n`;

function cellOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const plain = typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
  const text = typeof cell === 'string' && FORMULA.test(cell) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
