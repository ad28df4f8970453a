/** Formats two columns for a terminal, with the second one to the right of the longest name. */
export function columns(rows: [name: string, text: string][]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, text]) => `  ${name.padEnd(width)}${text}`).join('\n');
}
