type Cell = string | number | null | undefined | object;

/**
 * Returns the records as CSV (RFC 4180) with a line of field names. What a record doesn't have is empty, and lists are
 * JSON.
 */
export function csvOf<Field extends string>(
  fields: readonly Field[],
  records: readonly Partial<Record<Field, Cell>>[],
): string {
  const lines = [fields, ...records.map((record) => fields.map((field) => record[field]))];
  return lines.map((cells) => `${cells.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(cell: Cell): string {
  if (cell === null || cell === undefined) return '';
  const text = typeof cell === 'object' ? JSON.stringify(cell) : String(cell);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
