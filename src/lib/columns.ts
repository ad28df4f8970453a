/** Two columns for a terminal, the second one beginning behind the longest name. */
export function columns(rows: [name: string, text: string][]): string {
  const width = Math.max(0, ...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, text]) => `  ${name.padEnd(width)}${text}`).join('\n');
}
