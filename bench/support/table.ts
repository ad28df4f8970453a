import { median } from './statistics.ts';

/** Returns a markdown table. Columns after the first are numbers or short notes, and right-aligned. */
export function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => padded(cell, widths[column] ?? 0, column)).join(' | ')} |`;
  const rule = `|${widths.map((width, column) => (column === 0 ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`;
  return [line(header), rule, ...rows.map(line)].join('\n');
}

function padded(cell: string, width: number, column: number): string {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}

/** `1 234`, `1.23`: as many digits as a noisy machine justifies. */
export function shown(value: number): string {
  if (Number.isNaN(value)) return '-';
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** `374 (351 to 402)`: the median with the lowest and the highest value, so that nobody takes noise for a result. */
export function shownWithRange(values: readonly number[]): string {
  const middle = shown(median(values));
  return values.length < 2 ? middle : `${middle} (${shown(Math.min(...values))} to ${shown(Math.max(...values))})`;
}
