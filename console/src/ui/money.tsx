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
  const format = new Intl.NumberFormat(undefined, {
    ...(currency && { style: 'currency', currency }),
    ...(sign && { signDisplay: 'exceptZero' }),
    maximumFractionDigits: 5,
    minimumFractionDigits: 2,
  });
  return <span className="number">{format.format(Number(amount))}</span>;
}
