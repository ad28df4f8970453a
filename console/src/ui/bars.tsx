export interface Bar {
  name: string;
  value: number;
}

const [WIDTH, HEIGHT, FOOT, HEAD] = [960, 200, 20, 20];
/** More names than that would lie on each other. */
const NAMES = 10;
const NAME_WIDTH = 80;

/** Names stand in the middle below their bars, but at the ends, where half of them would be cut off. */
const placeOf = (x: number) =>
  x < NAME_WIDTH / 2
    ? { x: 0, textAnchor: 'start' as const }
    : x > WIDTH - NAME_WIDTH / 2
      ? { x: WIDTH, textAnchor: 'end' as const }
      : { x, textAnchor: 'middle' as const };

/** Bars side by side. Screen readers get what it shows in words; the numbers have to be on the page, too. */
export function Bars({
  bars,
  label,
  format,
}: {
  bars: readonly Bar[];
  label: string;
  format: (value: number) => string;
}) {
  const most = Math.max(...bars.map(({ value }) => value), 0);
  const step = WIDTH / Math.max(bars.length, 1);
  const every = Math.ceil(bars.length / NAMES);
  const sum = bars.reduce((all, { value }) => all + value, 0);
  const top = bars.find(({ value }) => value === most && most > 0);
  const words = `${label}: ${format(sum)} in all${top ? `, the most on ${top.name}: ${format(top.value)}` : ''}`;
  return (
    <svg className="bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={words}>
      <text x="0" y="12">
        {format(most)}
      </text>
      <line x1="0" x2={WIDTH} y1={HEIGHT - FOOT} y2={HEIGHT - FOOT} />
      {bars.map(({ name, value }, at) => {
        const height = most === 0 ? 0 : (value / most) * (HEIGHT - FOOT - HEAD);
        return (
          <g key={name}>
            <rect x={at * step + step * 0.1} y={HEIGHT - FOOT - height} width={step * 0.8} height={height}>
              <title>{`${name}: ${format(value)}`}</title>
            </rect>
            {at % every === 0 && (
              <text {...placeOf((at + 0.5) * step)} y={HEIGHT - 4}>
                {name}
              </text>
            )}
          </g>
        );
      })}
    </svg>
  );
}

/** A share of something, beside its numbers. */
export function Meter({ share, full = false }: { share: number; full?: boolean }) {
  return (
    <span className={`meter ${full ? 'full' : ''}`} aria-hidden>
      <svg viewBox="0 0 100 4" preserveAspectRatio="none" width="100%" height="100%" role="presentation">
        <rect width={Math.min(100, share * 100)} height="4" />
      </svg>
    </span>
  );
}
