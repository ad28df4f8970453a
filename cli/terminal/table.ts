import stringWidth from 'string-width';
import { getBorderCharacters, table } from 'table';

const GAP = 2;
/** No column is made narrower. */
const NARROWEST = 6;

/**
 * Returns lines in columns, without borders. If they are wider than the terminal, the widest columns are cut, but the
 * first: it says which thing the line is about.
 */
export function tableOf(rows: readonly (readonly string[])[], width: number | undefined): string {
  const cells = rows.map((row) => row.map(shownText));
  const widths = fitted(naturalWidths(cells), width);
  const shown = cells.map((row) => row.map((cell, at) => cut(cell, widths[at] ?? 0)));
  const text = table(shown, {
    border: getBorderCharacters('void'),
    columnDefault: { paddingLeft: 0, paddingRight: GAP },
    columns: widths.map((each) => ({ width: each })),
    drawHorizontalLine: () => false,
  });
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

function naturalWidths(cells: readonly (readonly string[])[]): number[] {
  const first = cells[0] ?? [];
  return first.map((_cell, at) => Math.max(1, ...cells.map((row) => stringWidth(row[at] ?? ''))));
}

function fitted(natural: readonly number[], width: number | undefined): number[] {
  const widths = [...natural];
  if (width === undefined) return widths;
  const total = () => widths.reduce((sum, each) => sum + each + GAP, -GAP);
  while (total() > width) {
    const widest = Math.max(...widths.slice(1));
    if (widest <= NARROWEST) break;
    const at = widths.lastIndexOf(widest);
    widths[at] = Math.max(NARROWEST, widest - Math.max(1, Math.min(total() - width, 8)));
  }
  return widths;
}

const graphemes = new Intl.Segmenter();

/** Counts columns of the terminal: some characters have two. */
function cut(text: string, width: number): string {
  if (stringWidth(text) <= width) return text;
  let kept = '';
  for (const { segment } of graphemes.segment(text)) {
    if (stringWidth(kept + segment) >= width) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** What others have named must not move the cursor or colour the screen. */
export function shownText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ');
}
