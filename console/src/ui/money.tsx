/** Below this, cents don't tell prices apart. */
const LITTLE = 0.1;

/** An amount as text: to the cent, or more exactly if it is little. */
export const moneyOf = (amount: number, currency: string | null | undefined, sign = false): string =>
  new Intl.NumberFormat(undefined, {
    ...(currency && { style: 'currency', currency }),
    ...(sign && { signDisplay: 'exceptZero' }),
    minimumFractionDigits: 2,
    maximumFractionDigits: Math.abs(amount) < LITTLE ? 5 : 2,
  }).format(amount);

/** An amount in a currency, with its sign if it is a difference. */
export function Money({
  amount,
  currency,
  sign = false,
}: {
  amount: number | string | null | undefined;
  currency: string | null | undefined;
  sign?: boolean;
}) {
  if (amount === null || amount === undefined) return <span className="muted">–</span>;
  return <span className="number">{moneyOf(Number(amount), currency, sign)}</span>;
}
