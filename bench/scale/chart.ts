/** A part of the report: a table, and charts of some of its figures. */
export interface Section {
  title: string;
  /** In markdown. */
  text: string;
  charts: Chart[];
}

export interface Chart {
  title: string;
  logX: boolean;
  logY: boolean;
  curves: Curve[];
}

export interface Curve {
  name: string;
  points: readonly (readonly [x: number, y: number])[];
}

const WIDTH = 520;
const HEIGHT = 340;
const PLOT = { left: 58, top: 34, width: 240, height: 256 };
/** Readable on white and for those who see few colours (Okabe and Ito). */
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#000000'];
const PER_ROW = 2;

/** Draws the charts as one SVG picture, two in a row. */
export function drawn(charts: readonly Chart[]): string {
  const rows = Math.ceil(charts.length / PER_ROW);
  const size = { width: WIDTH * Math.min(PER_ROW, charts.length), height: HEIGHT * rows };
  const parts = charts.map(
    (chart, at) =>
      `<g transform="translate(${(at % PER_ROW) * WIDTH} ${Math.floor(at / PER_ROW) * HEIGHT})">\n${drawnChart(chart)}\n</g>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size.width}" height="${size.height}" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="11">
<title>Curves of docs/reference/performance.md</title>
<rect width="100%" height="100%" fill="#fff"/>
${parts.join('\n')}
</svg>
`;
}

function drawnChart({ title, logX, logY, curves }: Chart): string {
  const points = curves.flatMap((curve) => curve.points);
  const xs = [...new Set(points.map(([x]) => x))].sort((a, b) => a - b);
  const ys = ticks(
    points.map(([, y]) => y),
    logY,
  );
  const across = scale(xs, logX, PLOT.left, PLOT.width);
  const up = scale(ys, logY, PLOT.top + PLOT.height, -PLOT.height);
  const right = PLOT.left + PLOT.width;
  const bottom = PLOT.top + PLOT.height;
  return [
    `<text x="${PLOT.left}" y="18" font-size="13">${escaped(title)}</text>`,
    ...ys.map(
      (y) =>
        `<path d="M${PLOT.left} ${up(y)}H${right}" stroke="#ddd"/><text x="${PLOT.left - 6}" y="${up(y) + 4}" text-anchor="end">${label(y)}</text>`,
    ),
    ...xs.map((x) => `<text x="${across(x)}" y="${bottom + 16}" text-anchor="middle">${label(x)}</text>`),
    ...curves.flatMap((curve, at) => {
      const colour = COLOURS[at % COLOURS.length];
      const places = curve.points.map(([x, y]) => [across(x), up(y)] as const);
      return [
        `<path d="M${places.map((place) => place.join(' ')).join('L')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
        ...places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`),
        `<path d="M${right + 10} ${PLOT.top + 8 + at * 18}h14" stroke="${colour}" stroke-width="3"/>`,
        `<text x="${right + 28}" y="${PLOT.top + 12 + at * 18}">${escaped(curve.name)}</text>`,
      ];
    }),
  ].join('\n');
}

/** Returns round numbers around the values: powers of ten in thirds, or four equal steps from zero. */
function ticks(values: readonly number[], log: boolean): number[] {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (!log) {
    const step = roundUp(most / 4);
    return [0, 1, 2, 3, 4].map((n) => n * step);
  }
  const all = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power));
  const first = all.findLastIndex((tick) => tick <= least);
  const last = all.findIndex((tick) => tick >= most);
  return all.slice(first, last + 1);
}

function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((n) => n * power >= value) ?? 10) * power;
}

/** Maps values to places on an axis. */
function scale(values: readonly number[], log: boolean, start: number, length: number): (value: number) => number {
  const at = log ? Math.log10 : (value: number) => value;
  const [from, to] = [at(values[0] ?? 0), at(values.at(-1) ?? 1)];
  return (value) => Math.round((start + ((at(value) - from) / (to - from || 1)) * length) * 10) / 10;
}

const label = (value: number): string => Number(value.toPrecision(3)).toLocaleString('en-US');

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
