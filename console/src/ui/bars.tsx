export interface Bar {
  name: string;
  value: number;
}

/** Bars side by side, as wide as there is room. Screen readers get what it shows in words; the numbers have to be on the page, too. */
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
  const sum = bars.reduce((all, { value }) => all + value, 0);
  const top = bars.find(({ value }) => value === most && most > 0);
  const words = `${label}: ${format(sum)} in all${top ? `, the most on ${top.name}: ${format(top.value)}` : ''}`;
  const named = [...new Set([0, Math.floor((bars.length - 1) / 2), bars.length - 1])];
  return (
    <figure className="bars">
      <span aria-hidden>{format(most)}</span>
      <svg viewBox={`0 0 ${bars.length} 100`} preserveAspectRatio="none" role="img" aria-label={words}>
        {bars.map(({ name, value }, at) => {
          const height = most === 0 ? 0 : (value / most) * 100;
          return (
            <rect key={name} x={at + 0.1} y={100 - height} width={0.8} height={height}>
              <title>{`${name}: ${format(value)}`}</title>
            </rect>
          );
        })}
      </svg>
      <figcaption aria-hidden>
        {named.map((at) => (
          <span key={at}>{bars[at]?.name}</span>
        ))}
      </figcaption>
    </figure>
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
